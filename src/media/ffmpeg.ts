import { type ChildProcess, spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Ffmpeg, FfmpegRun } from '../domain/ports.ts';
import { ffmpegBinary } from './ffmpeg-binary.ts';

export type FfmpegFailure = {
  /** Null when a signal ended it or it never started. */
  readonly exitCode: number | null;
  readonly killedBy: string | null;
  /** Killed, because it made no progress. */
  readonly stalled: boolean;
  /** The end of what it wrote to standard error; may name files, so it belongs in the log only. */
  readonly stderr: string;
  readonly cause?: unknown;
};

/** ffmpeg did not finish its work. */
export class FfmpegError extends Error {
  override readonly name = 'FfmpegError';
  readonly failure: FfmpegFailure;

  constructor(failure: FfmpegFailure) {
    super(`ffmpeg ${howItEnded(failure)}${failure.stderr && `: ${failure.stderr}`}`, { cause: failure.cause });
    this.failure = failure;
  }
}

function howItEnded(failure: FfmpegFailure): string {
  if (failure.stalled) return 'made no progress and was killed';
  if (failure.killedBy !== null) return `was killed by ${failure.killedBy}`;
  return failure.exitCode === null ? 'could not be started' : `ended with exit code ${failure.exitCode}`;
}

/** A frame takes a hundredth of a second, a poster up to a few seconds; a machine that is very busy is still waited for. */
const longestStallMs = 5 * 60_000;

/** Only files we wrote: an address inside a file must never make ffmpeg fetch something. */
const globalOptions = ['-nostdin', '-hide_banner', '-loglevel', 'error', '-y', '-progress', 'pipe:1'];
const protocolOptions = ['-protocol_whitelist', 'file,pipe'];

/** The end of the child's standard error that an error carries: enough for the reason, bounded for the log. */
const stderrTailCharacters = 4096;

/** Finds the binary once (throws when there is none, see `ffmpegBinary`) and answers the function that runs it. */
export function createFfmpeg(options: { readonly path?: string } = {}): Ffmpeg {
  const binary = ffmpegBinary(options.path);
  return async (run) => {
    run.signal.throwIfAborted();
    const args = [...globalOptions, ...beforeEachInput(run.args)];
    await watched(spawn(binary, args, { cwd: run.cwd, stdio: ['ignore', 'pipe', 'pipe'] }), run);
  };
}

/** Rendering may take every core; the process that answers requests and sends heartbeats must still come first. */
function lowerPriority(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The child may be gone already, and some systems forbid it; rendering works anyway.
  }
}

/** The whitelist is an option of each input, so it is repeated before every `-i`. */
function beforeEachInput(args: readonly string[]): string[] {
  return args.flatMap((arg) => (arg === '-i' ? [...protocolOptions, arg] : [arg]));
}

async function watched(child: ChildProcess, run: FfmpegRun): Promise<void> {
  // First: a child that could not be started says so by an event, and has no pipes when there was no file descriptor for them.
  const ending = ended(child);
  const kill = () => child.kill('SIGKILL');
  let [stalled, last] = [false, 0];
  const onStall = () => {
    stalled = true;
    kill();
  };
  const stall = setTimeout(onStall, run.stallMs ?? longestStallMs);
  try {
    run.signal.addEventListener('abort', kill, { once: true });
    lowerPriority(child.pid);
    const stderr = tailOf(child.stderr);
    onFrames(child.stdout, (frames) => {
      if (frames !== last) stall.refresh();
      last = frames;
      run.onFrame?.(frames);
    });
    const { error: cause, ...end } = await ending;
    run.signal.throwIfAborted();
    if (end.exitCode !== 0) throw new FfmpegError({ ...end, stalled, stderr: stderr(), cause });
  } finally {
    clearTimeout(stall);
    run.signal.removeEventListener('abort', kill);
  }
}

type End = { readonly exitCode: number | null; readonly killedBy: string | null; readonly error?: Error };

/** Waits for `close`, not `exit`: after it nothing writes to the folder or the pipes. Never rejects. */
function ended(child: ChildProcess): Promise<End> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ exitCode: null, killedBy: null, error }));
    child.once('close', (exitCode, killedBy) => resolve({ exitCode, killedBy }));
  });
}

function tailOf(stream: Readable | null): () => string {
  let tail = '';
  stream?.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-stderrTailCharacters);
  });
  return () => tail.trim();
}

/** Reads the `frame=N` lines of ffmpeg's `-progress` output. */
function onFrames(stream: Readable | null, onFrame: (frames: number) => void): void {
  if (!stream) return;
  createInterface(stream).on('line', (line) => {
    const frames = /^frame=\s*(\d+)/.exec(line)?.[1];
    if (frames !== undefined) onFrame(Number(frames));
  });
}
