import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ffmpegBinary } from './ffmpeg-binary.ts';
import { FfmpegError } from './ffmpeg-error.ts';
import { frameCounter } from './frame-counter.ts';
import { lowerPriority } from './lower-priority.ts';

/** One run of ffmpeg. There is no shell: `args` reach it one by one, as they are. */
export type FfmpegRun = {
  /** Everything but the global options, which the runner adds. */
  readonly args: readonly string[];
  /** Relative paths in `args` start here. */
  readonly cwd: string;
  /** Aborting kills the child at once; the run then rejects with the signal's reason, after the child is gone. */
  readonly signal: AbortSignal;
  /** The longest a run may take; a child that is still there then is killed. */
  readonly timeoutMs: number;
  /** What ffmpeg reads as `pipe:0`. Pulled only as fast as ffmpeg takes it. */
  readonly input?: AsyncIterable<Uint8Array>;
  /** Hears how many frames have been written so far, about twice a second. */
  readonly onFrame?: (frames: number) => void;
};

/** Runs ffmpeg to its end. Rejects with `FfmpegError` when it fails, and with the signal's reason when aborted. */
export type Ffmpeg = (run: FfmpegRun) => Promise<void>;

/** Only files we wrote and pipes: an address inside a file must never make ffmpeg fetch something. */
const globalOptions = ['-nostdin', '-hide_banner', '-loglevel', 'error', '-y', '-progress', 'pipe:1'];
const protocolOptions = ['-protocol_whitelist', 'file,pipe'];

/** How much of the child's complaint an error carries: enough for the reason, bounded for the log. */
const stderrTailCharacters = 4096;

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** Finds the binary once (throws when there is none, see `ffmpegBinary`) and answers the function that runs it. */
export function createFfmpeg(options: { readonly path?: string } = {}): Ffmpeg {
  const binary = ffmpegBinary(options.path);
  return async (run) => {
    run.signal.throwIfAborted();
    const child = spawn(binary, [...globalOptions, ...beforeEachInput(run.args)], { cwd: run.cwd });
    lowerPriority(child.pid);
    await watched(child, run);
  };
}

/** The whitelist is an option of each input, so it is repeated before every `-i`. */
function beforeEachInput(args: readonly string[]): string[] {
  return args.flatMap((arg) => (arg === '-i' ? [...protocolOptions, arg] : [arg]));
}

async function watched(child: Child, run: FfmpegRun): Promise<void> {
  let timedOut = false;
  const kill = () => child.kill('SIGKILL');
  const timer = setTimeout(() => (timedOut = kill()), run.timeoutMs);
  run.signal.addEventListener('abort', kill, { once: true });
  const stderr = tailOf(child.stderr);
  child.stdout.setEncoding('utf8').on('data', frameCounter(run.onFrame ?? (() => undefined)));
  try {
    const [end, feedError] = await Promise.all([ended(child), feed(child, run.input)]);
    run.signal.throwIfAborted();
    const cause = end.error ?? feedError;
    if (end.exitCode !== 0 || cause !== undefined) throw new FfmpegError({ ...end, timedOut, stderr: stderr(), cause });
  } finally {
    clearTimeout(timer);
    run.signal.removeEventListener('abort', kill);
  }
}

type End = { readonly exitCode: number | null; readonly killedBy: string | null; readonly error?: Error };

/** Waits for `close`, not `exit`, so that nothing writes to the folder or the pipes any more. Never rejects. */
function ended(child: Child): Promise<End> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ exitCode: null, killedBy: null, error }));
    child.once('close', (exitCode, killedBy) => resolve({ exitCode, killedBy }));
  });
}

/**
 * Writes the input. An input that fails kills the child, for half a film is no film; that failure is the answer.
 * A pipe that ffmpeg closed early is no failure: ffmpeg may stop reading when it has all its frames.
 */
async function feed(child: Child, input: AsyncIterable<Uint8Array> | undefined): Promise<unknown> {
  let failure: unknown;
  async function* guarded() {
    try {
      yield* input ?? [];
    } catch (error) {
      failure = error;
      child.kill('SIGKILL');
    }
  }
  await pipeline(Readable.from(guarded()), child.stdin).catch(() => undefined);
  return failure;
}

function tailOf(stream: Readable): () => string {
  let tail = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-stderrTailCharacters);
  });
  return () => tail.trim();
}
