import { trace } from '@opentelemetry/api';
import { openSync } from 'node:fs';
import { type Logger, pino } from 'pino';
import { describeError } from './errors.ts';

export type Log = Logger;

const redact = {
  paths: ['authorization', 'cookie', 'secret', 'key', 'headers.authorization', 'headers.cookie', '*.secret', '*.key'],
  censor: '[redacted]',
};

/** Our errors are logged as `err`, those of the Temporal SDK as `error`. */
const describe = (value: unknown) => (value instanceof Error ? describeError(value) : value);
const serializers = { err: describe, error: describe };

/** Adds the ids of the current trace to each line. */
function mixin(): object {
  const span = trace.getActiveSpan()?.spanContext();
  return span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId };
}

/**
 * Buffers lines up to 4 KiB and a tenth of a second, because each write costs a thirtieth of a request's time. When the reader stalls,
 * lines beyond 16 MiB are dropped.
 */
const writing = { sync: false, minLength: 4_096, periodicFlush: 100, maxLength: 16 * 1024 * 1024 };

/**
 * Creates the log, on standard output or in the file `path`. A process that exits, also by an uncaught error, flushes it first; one that
 * is killed loses its buffered lines.
 */
export function createLog({ level, path }: { level: string; path?: string }): Log {
  const options = { level, redact, serializers, mixin, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  const dest = path === undefined ? process.stdout.fd : openSync(path, 'a');
  return pino(options, pino.destination({ dest, ...writing }));
}
