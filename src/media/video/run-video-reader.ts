import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism, tmpdir } from 'node:os';
import { resolve as absolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createSlotsPerKey } from '../../platform/outbound/deadlines-and-slots.ts';
import { VideoFileError } from './video-file-error.ts';
import type { ReaderFunctions } from './video-reader-functions.ts';

// A kilobyte can describe a billion pictures, whose times and sizes the library lists in memory, or make the library loop forever. So the
// library reads files in processes of its own, and such a file ends one of them instead of this process.

export type VideoReaderRequest = { readonly reading: keyof ReaderFunctions; readonly path: string };
/** `failure`: the reason why the file cannot be read. `outage`: an error of this machine. */
export type VideoReaderReply = { readonly value: unknown } | { readonly failure: string } | { readonly outage: string };

const program = fileURLToPath(new URL('video-reader.js', import.meta.url));
/** Far more than the lists of an hour of video need. */
const mostHeapMegabytes = 256;
/** The largest file is read in seconds, and many times as slowly on a very busy machine. */
const limitMs = 5 * 60_000;
/** Few, because all of them count for the memory of this process's container. A read takes milliseconds, or seconds for a gigabyte. */
const mostReaders = 2;
/** V8 aborts a process that is out of memory, and `video-reader.ts` one with an unexpected error. */
const crashes: readonly unknown[] = ['SIGABRT', 'SIGTRAP', 'SIGILL', 'SIGSEGV', 'SIGBUS'];

/** The end of a reader's standard error that an error carries: enough for the reason, bounded for the log. */
const stderrTailCharacters = 4096;

/** A wait in this queue ends with its signal, unlike one in `pLimit`. */
const slots = createSlotsPerKey({
  maxHeld: Math.min(mostReaders, availableParallelism()),
  maxWaiting: 1000,
  maxWaitMs: 60 * 60_000,
});
/** A start takes 0.2 s of a core, and a short video milliseconds, so a process reads one file after the other. */
const idle = new Set<ChildProcess>();

/** A reader took too long. A busy machine may be the cause, or a file that makes the library loop. */
export class ReadTimeoutError extends Error {
  override readonly name = 'ReadTimeoutError';
}

type Value<R extends keyof ReaderFunctions> = Awaited<ReturnType<ReaderFunctions[R]>>;

/**
 * Reads a video in another process. Throws `VideoFileError` if the file cannot be read or needs too much memory, and `ReadTimeoutError`
 * if that takes too long. Other errors are those of this machine, and may be retried.
 */
export async function runVideoReader<R extends keyof ReaderFunctions>(
  reading: R,
  path: string,
  signal = new AbortController().signal,
): Promise<Value<R>> {
  const reply = await slots.hold('reader', signal, () => readerReply({ reading, path: absolute(path) }, signal));
  if ('failure' in reply) throw new VideoFileError(reply.failure);
  if ('outage' in reply) throw new Error(`the reader of videos failed: ${reply.outage}`);
  // The program is built from the same sources.
  return reply.value as Value<R>;
}

async function readerReply(order: VideoReaderRequest, signal: AbortSignal): Promise<VideoReaderReply> {
  signal.throwIfAborted();
  const [reader = start()] = idle;
  idle.delete(reader);
  let isReusable = false;
  try {
    const reply = await replyOf(reader, order, signal);
    // After a file that cannot be read, work on it may still be under way, and must not fail the next one.
    const isRead = 'value' in reply && reply.value !== undefined;
    // A decoder keeps the memory of the largest image.
    const keepsMemory = order.reading === 'picture';
    isReusable = isRead && !keepsMemory && reader.connected && !reader.killed;
    return reply;
  } finally {
    if (isReusable) idle.add(reader);
    else reader.kill('SIGKILL');
  }
}

/** An idle process does not keep this one running. */
function start(): ChildProcess {
  const reader = fork(program, [`${process.pid}`], {
    // The environment is empty, so the reader does not inherit secrets.
    env: {},
    // A core file of a crash does not land in the work folder.
    cwd: tmpdir(),
    execArgv: [`--max-old-space-size=${mostHeapMegabytes}`],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced',
  });
  reader.unref();
  reader.channel?.unref();
  // The pipe is a socket, which its declared type does not mention.
  (reader.stderr as { readonly unref?: () => void } | null)?.unref?.();
  // The reading under way rejects with the error; a second one without a listener would end this process.
  reader.on('error', () => undefined).once('exit', () => idle.delete(reader));
  return reader;
}

/** Kills the process if the signal is aborted or the time is over. */
function replyOf(reader: ChildProcess, order: VideoReaderRequest, signal: AbortSignal): Promise<VideoReaderReply> {
  return new Promise<VideoReaderReply>((resolve, reject) => {
    let [isLate, stderr] = [false, ''];
    const kill = () => void reader.kill('SIGKILL');
    // The timer also keeps this process running until the reply is there.
    const limit = setTimeout(() => {
      isLate = true;
      kill();
    }, limitMs);
    const settle = (end: () => void) => {
      clearTimeout(limit);
      signal.removeEventListener('abort', kill);
      reader.off('message', onReply).off('error', onError).off('close', onClose);
      reader.stderr?.off('data', onStderr);
      end();
    };
    const onReply = (reply: unknown) => settle(() => resolve(reply as VideoReaderReply)); // the only messages of the program
    const onError = (error: unknown) => settle(() => reject(error));
    const onStderr = (text: Buffer) => void (stderr = `${stderr}${text.toString()}`.slice(-stderrTailCharacters));
    // Standard error ends after the process, with the reason.
    const onClose = (code: number | null, killedBy: NodeJS.Signals | null) =>
      settle(() => reject(signal.aborted ? signal.reason : endError({ code, killedBy, isLate, stderr })));
    reader.once('message', onReply).once('error', onError).once('close', onClose);
    reader.stderr?.on('data', onStderr);
    signal.addEventListener('abort', kill, { once: true });
    try {
      reader.send(order, (error) => error && onError(error));
    } catch (error) {
      // A process that could not be started has no `send`. It reports the reason in the next tick, which comes first.
      setImmediate(onError, error);
    }
  });
}

type End = {
  readonly code: number | null;
  readonly killedBy: string | null;
  readonly isLate: boolean;
  readonly stderr: string;
};

function endError({ code, killedBy, isLate, stderr }: End): Error {
  if (isLate) return new ReadTimeoutError(`the video was not read within ${limitMs / 1000} s`);
  const reason = stderr && `: ${stderr.trim()}`;
  if (crashes.includes(killedBy))
    return new VideoFileError(`the file cannot be read within the limits of its reader${reason}`);
  return new Error(`the reader of videos ended with ${killedBy ?? `exit code ${code}`}${reason}`);
}
