import { write as writeAsync, writeSync } from 'node:fs';
import { errorCode, messageOf } from '../setup-errors-and-error-messages.ts';

/** The destination of a log's lines. It never throws, blocks or ends the process: lines that cannot be written are dropped and counted. */
export type LogOutput = {
  readonly write: (line: string) => void;
  /** Writes the buffered lines before the process ends. */
  readonly flushSync: () => void;
  /** Returns the number of lines that were dropped since the last call. */
  readonly takeDropped: () => number;
  /** The code of the error of the last write, such as `ENOSPC`; undefined if it succeeded. */
  readonly failure: () => string | undefined;
};

/** The calls of `node:fs`, which tests replace. */
export type WriteCalls = {
  readonly write: (fd: number, bytes: Uint8Array, done: (error: Error | null, written: number) => void) => void;
  readonly writeSync: (fd: number, bytes: Uint8Array) => number;
};

const fileCalls: WriteCalls = { write: (fd, bytes, done) => writeAsync(fd, bytes, done), writeSync };

/** Each write costs a thirtieth of a request's time, so lines wait for each other up to this size and time. */
const batchBytes = 4_096;
const batchMs = 100;
/** When the reader of a pipe stalls, lines beyond this size are dropped. */
const maxBytes = 16 * 1024 * 1024;
/** A pipe whose reader is slow accepts nothing for a time. */
const busyCodes: readonly (string | undefined)[] = ['EAGAIN', 'EBUSY'];
const busyPauseMs = 100;
/** The end of a process waits this long for such a reader. */
const maxBusyPausesAtExit = 10;

/** Creates an output on an open file. One that was not used costs nothing. */
export function createLogOutput(fd: number, calls: WriteCalls = fileCalls): LogOutput {
  let lines: string[] = [];
  let bytes = 0;
  let pending: Uint8Array | undefined;
  let pendingLines = 0;
  let timer: NodeJS.Timeout | undefined;
  let dropped = 0;
  let failure: string | undefined;
  /** A write may end in the middle of a line. */
  let endsInLine = false;

  function takeBatch(): Uint8Array {
    const text = `${endsInLine ? '\n' : ''}${lines.join('')}`;
    pendingLines = lines.length;
    [lines, bytes, endsInLine] = [[], 0, false];
    return Buffer.from(text);
  }

  function start(): void {
    clearTimeout(timer);
    timer = undefined;
    if (pending !== undefined || lines.length === 0) return;
    pending = takeBatch();
    send(pending, false);
  }

  function send(rest: Uint8Array, isPartial: boolean): void {
    calls.write(fd, rest, (error, written) => {
      if (error === null && written < rest.length) return send(rest.subarray(written), true);
      if (busyCodes.includes(error === null ? undefined : errorCode(error))) {
        setTimeout(() => send(rest, isPartial), busyPauseMs).unref();
        return;
      }
      settle(error, isPartial);
      if (bytes >= batchBytes) start();
      else schedule();
    });
  }

  function settle(error: Error | null, isPartial: boolean): void {
    failure = error === null ? undefined : (errorCode(error) ?? messageOf(error));
    if (error !== null) {
      dropped += pendingLines;
      endsInLine ||= isPartial;
    }
    [pending, pendingLines] = [undefined, 0];
  }

  function schedule(): void {
    if (lines.length > 0) timer ??= setTimeout(start, batchMs).unref();
  }

  const output: LogOutput = {
    write: (line) => {
      if (bytes + line.length > maxBytes) {
        dropped += 1;
        return;
      }
      lines.push(line);
      bytes += line.length;
      unflushed.add(output);
      if (bytes >= batchBytes) start();
      else schedule();
    },
    flushSync: () => {
      if (lines.length === 0) return;
      const inFlight = [pending, pendingLines] as const;
      const { error, isPartial } = writeAll(fd, takeBatch(), calls);
      settle(error, isPartial);
      [pending, pendingLines] = inFlight;
    },
    takeDropped: () => {
      const taken = dropped;
      dropped = 0;
      return taken;
    },
    failure: () => failure,
  };
  return output;
}

/** Waits for a slow reader, but not for long: the process may end because of the same problem. */
function writeAll(fd: number, bytes: Uint8Array, { writeSync: write }: WriteCalls) {
  let rest = bytes;
  for (let pauses = 0; rest.length > 0;) {
    try {
      rest = rest.subarray(write(fd, rest));
    } catch (error) {
      const isBusy = busyCodes.includes(errorCode(error)) && pauses < maxBusyPausesAtExit;
      if (!isBusy)
        return {
          error: error instanceof Error ? error : new Error(String(error)),
          isPartial: rest.length < bytes.length,
        };
      pauses += 1;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busyPauseMs);
    }
  }
  return { error: null, isPartial: false };
}

/** The outputs that were used. One listener serves all, because Node warns about many. */
const unflushed = new Set<LogOutput>();
process.on('exit', () => {
  for (const output of unflushed) output.flushSync();
});
