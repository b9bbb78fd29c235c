import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';
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
  /** The longest a run may go without another frame; a child that stalls is killed. How long the whole takes is the signal's matter. */
  readonly stallMs?: number;
  /** Hears how many frames have been written so far, about twice a second. */
  readonly onFrame?: (frames: number) => void;
};

/** Runs ffmpeg to its end. Rejects with `FfmpegError` when it fails, and with the signal's reason when aborted. */
export type Ffmpeg = (run: FfmpegRun) => Promise<void>;

/** A frame takes a hundredth of a second, a poster up to a few seconds; a machine that is very busy is still waited for. */
const longestStallMs = 5 * 60_000;

/** A stall is seen in so many looks, so that a time in which this process itself stood still counts as one of them only. */
const looksUntilStalled = 8;

/** Only files we wrote: an address inside a file must never make ffmpeg fetch something. */
const globalOptions = ['-nostdin', '-hide_banner', '-loglevel', 'error', '-y', '-progress', 'pipe:1'];
const protocolOptions = ['-protocol_whitelist', 'file,pipe'];

/** How much of the child's complaint an error carries: enough for the reason, bounded for the log. */
const stderrTailCharacters = 4096;

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** Finds the binary once (throws when there is none, see `ffmpegBinary`) and answers the function that runs it. */
export function createFfmpeg(options: { readonly path?: string } = {}): Ffmpeg {
  const binary = ffmpegBinary(options.path);
  return async (run) => {
    run.signal.throwIfAborted();
    const args = [...globalOptions, ...beforeEachInput(run.args)];
    const child = spawn(binary, args, { cwd: run.cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    lowerPriority(child.pid);
    await watched(child, run);
  };
}

/** The whitelist is an option of each input, so it is repeated before every `-i`. */
function beforeEachInput(args: readonly string[]): string[] {
  return args.flatMap((arg) => (arg === '-i' ? [...protocolOptions, arg] : [arg]));
}

async function watched(child: Child, run: FfmpegRun): Promise<void> {
  const kill = () => child.kill('SIGKILL');
  const stall = watchForStall(run.stallMs ?? longestStallMs, kill);
  run.signal.addEventListener('abort', kill, { once: true });
  const stderr = tailOf(child.stderr);
  const onFrame = (frames: number) => {
    stall.sawFrames(frames);
    run.onFrame?.(frames);
  };
  child.stdout.setEncoding('utf8').on('data', frameCounter(onFrame));
  try {
    const { error: cause, ...end } = await ended(child);
    run.signal.throwIfAborted();
    if (end.exitCode !== 0) throw new FfmpegError({ ...end, stalled: stall.isSeen(), stderr: stderr(), cause });
  } finally {
    stall.stop();
    run.signal.removeEventListener('abort', kill);
  }
}

/** Kills once the number of frames has been the same for so long. */
function watchForStall(stallMs: number, kill: () => void) {
  let [last, looks] = [0, 0];
  const timer = setInterval(() => {
    looks += 1;
    if (looks === looksUntilStalled) kill();
  }, stallMs / looksUntilStalled);
  return {
    sawFrames: (frames: number) => {
      if (frames === last) return;
      [last, looks] = [frames, 0];
    },
    isSeen: () => looks >= looksUntilStalled,
    stop: () => clearInterval(timer),
  };
}

type End = { readonly exitCode: number | null; readonly killedBy: string | null; readonly error?: Error };

/** Waits for `close`, not `exit`, so that nothing writes to the folder or the pipes any more. Never rejects. */
function ended(child: Child): Promise<End> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ exitCode: null, killedBy: null, error }));
    child.once('close', (exitCode, killedBy) => resolve({ exitCode, killedBy }));
  });
}

function tailOf(stream: Readable): () => string {
  let tail = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-stderrTailCharacters);
  });
  return () => tail.trim();
}
