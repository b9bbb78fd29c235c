import { DatabaseAway, DatabaseBusy } from '../stores/database.ts';
import { failures } from './failures.ts';
import { HttpFailure } from './http-failure.ts';
import type { Envelope } from './envelope.ts';

/** Whatever was thrown, as the failure that a client is told of; what nobody expected is our own fault. */
export function failureOf(error: unknown): HttpFailure {
  if (error instanceof HttpFailure) return error;
  if (error instanceof DatabaseBusy) return new HttpFailure('database_busy');
  if (error instanceof DatabaseAway) return new HttpFailure('database_away', { cause: error.cause });
  return new HttpFailure('internal', { cause: error });
}

/** True when the request was refused for what the client did or is; false for our own faults and outages. */
export function isRefusal(error: unknown): boolean {
  return failures[failureOf(error).failure].status < 500;
}

/** The answer to a failure: envelope and headers. */
export function failureAnswer({ failure, details }: HttpFailure): {
  readonly envelope: Envelope;
  readonly headers: Readonly<Record<string, string>>;
} {
  const { status, msg, headers } = failures[failure];
  return {
    envelope: { code: status, msg: details.msg ?? msg, data: details.data ?? {} },
    headers: { ...headers, ...details.headers },
  };
}
