import { trace } from '@opentelemetry/api';
import { openSync } from 'node:fs';
import { type Logger, pino } from 'pino';
import { describeError } from './domain/errors.ts';

export type Log = Logger;

/** JSON lines; secrets, and fields that could carry one, are redacted. */
const redact = {
  paths: ['authorization', 'cookie', 'secret', 'key', 'headers.authorization', 'headers.cookie', '*.secret', '*.key'],
  censor: '[redacted]',
};

/** Ours are logged as `err`, those of the Temporal SDK as `error`; what is no error is described already. */
const describe = (value: unknown) => (value instanceof Error ? describeError(value) : value);
const serializers = { err: describe, error: describe };

/** Leads from a line to its trace, where traces are exported. */
function mixin(): object {
  const span = trace.getActiveSpan()?.spanContext();
  return span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId };
}

/**
 * Lines are buffered, because each write costs a thirtieth of a request's time: up to 4 KiB, and a tenth of a second. When the
 * reader stalls, lines beyond 16 MiB are dropped.
 */
const writing = { sync: false, minLength: 4_096, periodicFlush: 100, maxLength: 16 * 1024 * 1024 };

/**
 * The program's log. Goes to standard output unless a file is named, which is opened immediately, so that nothing is lost when the start
 * fails. A process that exits, also by an uncaught error, writes it out first; one that is killed loses its buffered lines.
 */
export function createLog({ level, path }: { level: string; path?: string }): Log {
  const options = { level, redact, serializers, mixin, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  const dest = path === undefined ? process.stdout.fd : openSync(path, 'a');
  return pino(options, pino.destination({ dest, ...writing }));
}
