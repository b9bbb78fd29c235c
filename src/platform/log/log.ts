import { trace } from '@opentelemetry/api';
import { openSync } from 'node:fs';
import { type Logger, pino } from 'pino';
import { describeErrorForLog } from '../setup-errors-and-error-messages.ts';
import { createLogOutput, type LogOutput } from './log-output.ts';

/** `output` is that of the process's own log (`createLog`). */
export type Log = Logger & { readonly output?: LogOutput };

const redact = {
  paths: ['authorization', 'cookie', 'secret', 'key', 'headers.authorization', 'headers.cookie', '*.secret', '*.key'],
  censor: '[redacted]',
};

/** Our errors are logged as `err`, those of the Temporal SDK as `error`. */
const describe = (value: unknown) => (value instanceof Error ? describeErrorForLog(value) : value);
const serializers = { err: describe, error: describe };

function mixin(): object {
  const span = trace.getActiveSpan()?.spanContext();
  return span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId };
}

/**
 * Creates the log, on standard output or in the file `path`. A process that exits, also by an uncaught error, writes the last lines first;
 * one that is killed loses its buffered lines.
 */
export function createLog({ level, path }: { level: string; path?: string }): Required<Pick<Log, 'output'>> & Log {
  const options = { level, redact, serializers, mixin, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  const output = createLogOutput(path === undefined ? process.stdout.fd : openSync(path, 'a'));
  return Object.assign(pino(options, output), { output });
}
