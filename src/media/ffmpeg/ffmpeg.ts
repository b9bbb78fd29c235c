import { execFile, type ExecFileException } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import type { FfmpegRunner } from '../../catalogue/media/ffmpeg-runner-types.ts';
import { commandEndingWithParent, notStartedCodes } from '../../platform/process/command-ending-with-parent.ts';
import { errorCode } from '../../platform/setup-errors-and-error-messages.ts';
import { requireFfmpeg } from './ffmpeg-binary.ts';

export type FfmpegFailureDetails = {
  /** Null when a signal ended it or it never started. */
  readonly exitCode: number | null;
  readonly killedBy: string | null;
  /** Killed, because it made no progress. */
  readonly stalled: boolean;
  /** Killed, because it ran longer than allowed. */
  readonly timedOut: boolean;
  /** The end of what it wrote to standard error; may name files, so it belongs in the log only. */
  readonly stderr: string;
  readonly cause?: unknown;
};

export class FfmpegError extends Error {
  override readonly name = 'FfmpegError';
  readonly failure: FfmpegFailureDetails;

  constructor(failure: FfmpegFailureDetails) {
    super(`ffmpeg ${howItEnded(failure)}${failure.stderr && `: ${failure.stderr}`}`, { cause: failure.cause });
    this.failure = failure;
  }
}

/** True if ffmpeg was killed because it reported too much, which means that the file has millions of errors. */
export function hasTooMuchOutput(error: FfmpegError): boolean {
  return errorCode(error.failure.cause) === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER';
}

/** True if ffmpeg could not write because of this machine's disk; the file is not the cause then. */
export function isCausedByDisk({ failure }: FfmpegError): boolean {
  return /No space left on device|Disk quota exceeded|Read-only file system/.test(failure.stderr);
}

function howItEnded(failure: FfmpegFailureDetails): string {
  if (failure.timedOut) return 'took too long and was killed';
  if (failure.stalled) return 'made no progress and was killed';
  if (failure.killedBy !== null) return `was killed by ${failure.killedBy}`;
  return failure.exitCode === null ? 'could not be started' : `ended with exit code ${failure.exitCode}`;
}

/**
 * The default limit of the time without another frame. A poster takes a few seconds at most, and many times as long on a very busy machine.
 */
const longestStallMs = 5 * 60_000;

const globalOptions = ['-nostdin', '-hide_banner', '-loglevel', 'error', '-y', '-progress', 'pipe:1'];
/** An address inside a file must never make ffmpeg fetch something. */
const protocolOptions = ['-protocol_whitelist', 'file'];

/** The end of the child's standard error that an error carries: enough for the reason, bounded for the log. */
const stderrTailCharacters = 4096;

/** Hours of progress are less than this limit. */
const mostOutputBytes = 16 * 1024 * 1024;

const execute = promisify(execFile);

/** Returns the function that runs ffmpeg. Throws as `requireFfmpeg` does. */
export function createFfmpeg(options: { readonly path?: string } = {}): FfmpegRunner {
  const binary = requireFfmpeg(options.path);
  return async ({ args, cwd, signal, stallMs = longestStallMs, limitMs, onFrame }) => {
    signal.throwIfAborted();
    // The signal and timeout of `execFile` would reject before the child has ended and stopped writing to the folder.
    const command = commandEndingWithParent(binary, [...globalOptions, ...beforeEachInput(args)], [['SIGKILL', 0]]);
    const running = execute(command.file, command.args, { cwd, maxBuffer: mostOutputBytes });
    const { child } = running;
    const kill = () => child.kill('SIGKILL');
    const killed = { stalled: false, timedOut: false };
    const killAs = (reason: keyof typeof killed) => () => {
      killed[reason] = true;
      kill();
    };
    let stall = setTimeout(killAs('stalled'), stallMs);
    const limit = limitMs === undefined ? undefined : setTimeout(killAs('timedOut'), limitMs);
    let last = 0;
    signal.addEventListener('abort', kill, { once: true });
    lowerPriority(child.pid);
    onFrames(child.stdout, (frames) => {
      if (frames !== last) {
        // Set anew instead of `refresh`, which the mocked clock of Node 20 lacks.
        clearTimeout(stall);
        stall = setTimeout(killAs('stalled'), stallMs);
      }
      last = frames;
      onFrame?.(frames);
    });
    try {
      await running.catch((error: unknown) => {
        signal.throwIfAborted();
        throw new FfmpegError({ ...endOf(error), ...killed, cause: error });
      });
      signal.throwIfAborted();
    } finally {
      clearTimeout(stall);
      clearTimeout(limit);
      signal.removeEventListener('abort', kill);
    }
  };
}

/** `code` is an exit code, or a system's error such as EMFILE when the child was not started. */
function endOf(error: unknown): Omit<FfmpegFailureDetails, 'stalled' | 'timedOut'> {
  // `execFile` rejects with this type, by its documentation.
  const { code, signal, stderr = '' } = error as ExecFileException;
  const exitCode = typeof code === 'number' && !notStartedCodes.includes(code) ? code : null;
  return { exitCode, killedBy: signal ?? null, stderr: stderr.slice(-stderrTailCharacters).trim() };
}

/** Rendering may use every core, but the process that serves requests and sends heartbeats has priority. */
function lowerPriority(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The child may have ended, and some systems forbid it; rendering works anyway.
  }
}

/** The whitelist is an option of each input, so it is repeated before every `-i`. */
function beforeEachInput(args: readonly string[]): string[] {
  return args.flatMap((arg) => (arg === '-i' ? [...protocolOptions, arg] : [arg]));
}

function onFrames(stream: Readable | null, onFrame: (frames: number) => void): void {
  if (!stream) return;
  createInterface(stream).on('line', (line) => {
    const frames = /^frame=\s*(\d+)/.exec(line)?.[1];
    if (frames !== undefined) onFrame(Number(frames));
  });
}
