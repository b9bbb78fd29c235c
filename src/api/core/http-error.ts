import { describeFieldError, type FieldError, firstOfEachPath } from '../../platform/text/field-errors.ts';
import { type ErrorCode, errorCatalogue, type ErrorHeaders } from './error-catalogue.ts';

type HttpErrorDetails = {
  readonly msg?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly headers?: ErrorHeaders;
  /** Logged, never sent. */
  readonly cause?: unknown;
};

/** The body of every JSON response; `code` equals the HTTP status. */
export type Envelope = {
  readonly code: number;
  readonly msg: string;
  /** Only in errors. */
  readonly error?: ErrorCode;
  readonly data: unknown;
};

/** Ends a request with an error of the catalogue. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: ErrorCode;
  readonly envelope: Envelope;
  readonly headers: ErrorHeaders;

  constructor(code: ErrorCode, { msg, data = {}, headers, cause }: HttpErrorDetails = {}) {
    super(code, { cause });
    const known = errorCatalogue[code];
    this.code = code;
    this.envelope = { code: known.status, msg: msg ?? known.msg, error: code, data };
    this.headers = { ...known.headers, ...headers };
  }
}

export function requireExisting<Found>(value: Found | undefined, code: ErrorCode): Found {
  if (value === undefined) throw new HttpError(code);
  return value;
}

/** A 422 with every error; the message is the first one, followed by a hint. */
export function invalidRequest(errors: readonly FieldError[], hint?: string): HttpError {
  const [first] = errors;
  return new HttpError('invalid_request', {
    ...(first !== undefined && { msg: [describeFieldError(first), hint].filter(Boolean).join('; ') }),
    data: { errors: firstOfEachPath(errors) },
  });
}
