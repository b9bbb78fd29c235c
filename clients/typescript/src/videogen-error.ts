import type { ErrorCode, TaskRecord } from './contract.ts';

/**
 * The cause of an error:
 * - `refused`: the service returned another code than 200;
 * - `unreachable`: there was no response in time;
 * - `not_videogen`: the response was not the service's, but for example a proxy's;
 * - `unfinished`: the task did not end within the time limit, or has no video yet;
 * - `no_video`: the task has failed, or its video was deleted;
 * - `bad_callback`: the callback has no valid and recent signature.
 */
export type VideogenErrorKind = 'refused' | 'unreachable' | 'not_videogen' | 'unfinished' | 'no_video' | 'bad_callback';

/** An invalid field of a request: its path (`input.imageUrls[2]`) and what is allowed there. */
export type FieldError = { readonly path: string; readonly message: string };

export type VideogenErrorDetails = {
  readonly code?: number | undefined;
  readonly error?: ErrorCode | undefined;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly record?: TaskRecord | undefined;
  readonly cause?: unknown;
};

/** The only error that this package throws, besides TypeError for invalid arguments. */
export class VideogenError extends Error {
  override readonly name = 'VideogenError';
  readonly kind: VideogenErrorKind;
  /** The HTTP status of the response; undefined without a response. */
  readonly code: number | undefined;
  /** A stable string to branch on; undefined unless the service returned an error. A newer service may have more codes. */
  readonly error: ErrorCode | undefined;
  /** Every invalid field of a request that was rejected with 422; otherwise empty. */
  readonly errors: readonly FieldError[];
  /** `data` of the response: `{required, balance}` with 402, for example. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Identifies the request in the log of the service. */
  readonly requestId: string | undefined;
  /** The value of `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;
  /** The key of a failed create. A repetition with this key is charged at most once. */
  readonly idempotencyKey: string | undefined;
  /** With `no_video`: the record of the task, such as its `failCode` and `creditsRefunded`. */
  readonly record: TaskRecord | undefined;

  constructor(kind: VideogenErrorKind, message: string, details: VideogenErrorDetails = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : {});
    this.kind = kind;
    this.code = details.code;
    this.error = details.error;
    this.data = details.data ?? {};
    this.errors = fieldErrors(this.data['errors']);
    this.requestId = details.requestId;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.idempotencyKey = details.idempotencyKey;
    this.record = details.record;
  }

  /** True if the same request may succeed later: no response, 429, 503, or a proxy's 502 and 504. */
  get isPassing(): boolean {
    if (this.kind === 'unreachable') return true;
    return this.code !== undefined && passingCodes.includes(this.code);
  }
}

/** Returns the same error with the key of the create that it belongs to. */
export function withIdempotencyKey(error: VideogenError, idempotencyKey: string | undefined): VideogenError {
  if (idempotencyKey === undefined) return error;
  const { kind, message, cause } = error;
  return new VideogenError(kind, message, { ...error, ...(cause !== undefined && { cause }), idempotencyKey });
}

const passingCodes: readonly number[] = [429, 502, 503, 504];

function fieldErrors(value: unknown): readonly FieldError[] {
  return Array.isArray(value) ? value.filter(isFieldError) : [];
}

function isFieldError(value: unknown): value is FieldError {
  if (typeof value !== 'object' || value === null) return false;
  return 'path' in value && typeof value.path === 'string' && 'message' in value && typeof value.message === 'string';
}
