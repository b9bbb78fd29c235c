import { type DestinationStream, type Logger, pino } from 'pino';

export type Log = Logger;

/** JSON lines; secrets and whatever could carry one are left out wherever they stand. */
const redact = {
  paths: ['authorization', 'cookie', 'secret', 'key', 'headers.authorization', 'headers.cookie', '*.secret', '*.key'],
  censor: '[redacted]',
};

/** The program's log. Goes to standard output unless a destination is given. */
export function createLog({ level, to }: { level: string; to?: DestinationStream | undefined }): Log {
  const options = { level, redact, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  return to === undefined ? pino(options) : pino(options, to);
}
