import { openSync } from 'node:fs';
import { type Logger, pino } from 'pino';

export type Log = Logger;

/** JSON lines; secrets and whatever could carry one are left out wherever they stand. */
const redact = {
  paths: ['authorization', 'cookie', 'secret', 'key', 'headers.authorization', 'headers.cookie', '*.secret', '*.key'],
  censor: '[redacted]',
};

/**
 * Lines are written some at a time, for each write costs a request a thirtieth of its time: at 4 KiB, and after a tenth of a
 * second at the latest. What a reader who stands still does not take is dropped beyond 16 MiB.
 */
const writing = { sync: false, minLength: 4_096, periodicFlush: 100, maxLength: 16 * 1024 * 1024 };

/**
 * The program's log. Goes to standard output unless a file is named, which is opened at once, so that nothing is lost when the start
 * fails. A process that exits, also by an error that nobody caught, writes it out first; one that is killed loses what is gathered.
 */
export function createLog({ level, path }: { level: string; path?: string }): Log {
  const options = { level, redact, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  const dest = path === undefined ? process.stdout.fd : openSync(path, 'a');
  return pino(options, pino.destination({ dest, ...writing }));
}
