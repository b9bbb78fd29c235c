import type { Failure } from './failures.ts';

export type HttpFailureDetails = {
  /** A sentence for the client in place of the catalogue's. */
  readonly msg?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** For the log; never shown. */
  readonly cause?: unknown;
};

/** Thrown to refuse a request; the one translator turns it into the answer. */
export class HttpFailure extends Error {
  override readonly name = 'HttpFailure';
  readonly failure: Failure;
  readonly details: HttpFailureDetails;

  constructor(failure: Failure, details: HttpFailureDetails = {}) {
    super(failure, { cause: details.cause });
    this.failure = failure;
    this.details = details;
  }
}
