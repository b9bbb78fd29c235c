import type { ErrorCode } from './contract.ts';

/**
 * What went wrong:
 * - `refused`: the service answered with another code than 200;
 * - `unreachable`: no answer came, or none in time;
 * - `not_videogen`: an answer came from something that is not the service, such as a proxy in front of it;
 * - `unfinished`: the task has not ended within the time that was given, or has no video yet;
 * - `no_video`: there is nothing to download: the task has failed, or its video is no longer kept;
 * - `bad_callback`: a callback that the service did not sign, or not lately.
 */
export type VideogenErrorKind = 'refused' | 'unreachable' | 'not_videogen' | 'unfinished' | 'no_video' | 'bad_callback';

/** One broken rule of a request: where (`input.imageUrls[2]`) and what is allowed there. */
export type FieldError = { readonly path: string; readonly message: string };

export type VideogenErrorDetails = {
  readonly code?: number | undefined;
  readonly error?: ErrorCode | undefined;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly cause?: unknown;
};

/** The only error that this package throws of its own, besides TypeError for arguments that can never be right. */
export class VideogenError extends Error {
  override readonly name = 'VideogenError';
  readonly kind: VideogenErrorKind;
  /** The code of the answer, which is its HTTP status; undefined when there was none. */
  readonly code: number | undefined;
  /** Why the request was refused, to branch on; undefined without a refusal. A newer service may know more codes. */
  readonly error: ErrorCode | undefined;
  /** Every broken rule of a request that was refused with 422; otherwise empty. */
  readonly errors: readonly FieldError[];
  /** `data` of a refusal: `{required, balance}` with 402, for example. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Leads the people who run the service to their log. */
  readonly requestId: string | undefined;
  /** How long the service asked to be left alone. */
  readonly retryAfterSeconds: number | undefined;
  /** The key of a create that did not succeed: repeat it with this key, and it is charged once in every case. */
  readonly idempotencyKey: string | undefined;

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
  }

  /** True when the very same request may well succeed later: no answer, 429, 503, or a proxy's 502 and 504. */
  get isPassing(): boolean {
    if (this.kind === 'unreachable') return true;
    return this.code !== undefined && passingCodes.includes(this.code);
  }
}

const passingCodes: readonly number[] = [429, 502, 503, 504];

function fieldErrors(value: unknown): readonly FieldError[] {
  return Array.isArray(value) ? value.filter(isFieldError) : [];
}

function isFieldError(value: unknown): value is FieldError {
  if (typeof value !== 'object' || value === null) return false;
  return 'path' in value && typeof value.path === 'string' && 'message' in value && typeof value.message === 'string';
}
