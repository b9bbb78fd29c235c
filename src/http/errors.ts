import { z } from 'zod';
import { describeFieldError, type FieldError, firstOfEachPath } from '../domain/field-errors.ts';
import { DatabaseAway, DatabaseBusy } from '../stores/database.ts';
import { rateRefusalHeaders } from './limits/rate-headers.ts';

/** The largest body that any endpoint reads. */
export const maxBodyBytes = 256 * 1024;
/** Far above the longest address we give out. */
export const maxUrlLength = 4096;
/** Far above what clients and the proxies before us send. */
export const maxHeaders = 100;
export const maxHeaderBytes = 16 * 1024;

type ErrorAnswer = {
  /** HTTP status, which is also `code`. */
  readonly status: number;
  /** What a client reads, unless the place of the error knows a better sentence. */
  readonly msg: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers that the place of the error adds: name and meaning. */
  readonly addedHeaders?: Readonly<Record<string, string>>;
  /** `data`, where it is more than an empty object. */
  readonly data?: z.ZodObject;
};

const retrySoon = { 'Retry-After': '5' };
const credits = z.int().nonnegative();

/** Every way in which a request is refused, by the `error` that clients branch on. Codes are part of the contract. */
export const errorCatalogue = {
  malformed_request: { status: 400, msg: 'the request is not well-formed HTTP' },
  body_unreadable: { status: 400, msg: 'the body could not be read to its end' },
  invalid_json: { status: 400, msg: 'the body is not JSON in UTF-8' },
  body_not_object: { status: 400, msg: 'the body must be a JSON object' },
  duplicate_json_key: { status: 400, msg: 'a key of the JSON body is given twice; give it once' },
  unauthorized: {
    status: 401,
    msg: 'a valid API key is required: Authorization: Bearer <API_KEY>',
    headers: { 'WWW-Authenticate': 'Bearer' },
  },
  insufficient_credits: {
    status: 402,
    msg: 'the balance is too low',
    data: z.strictObject({ required: credits, balance: credits }),
  },
  scope_missing: { status: 403, msg: 'the API key lacks the scope for this' },
  account_suspended: { status: 403, msg: 'the account is suspended' },
  dialect_required: { status: 403, msg: 'the API key is not of the dialect that this endpoint belongs to' },
  link_invalid: { status: 403, msg: 'the link is not valid, or has expired; query the task for a fresh one' },
  unknown_endpoint: { status: 404, msg: 'no such endpoint; all endpoints: /docs' },
  task_not_found: { status: 404, msg: 'no such task' },
  key_not_found: { status: 404, msg: 'no such key' },
  account_not_found: { status: 404, msg: 'no such account' },
  price_not_found: { status: 404, msg: 'no such rate' },
  media_deleted: { status: 404, msg: 'the file is no longer kept' },
  method_not_allowed: { status: 405, msg: 'the method is not allowed here' },
  request_timeout: { status: 408, msg: 'the request took too long to arrive' },
  idempotency_key_reused: { status: 409, msg: 'this Idempotency-Key was used before with another request' },
  task_not_finished: { status: 409, msg: 'the task has not ended yet; its callback is sent when it does' },
  callback_secret_already_shown: {
    status: 409,
    msg: 'the callback secret was shown before; rotate it to get a new one',
  },
  key_not_active: { status: 409, msg: 'the key is revoked or has expired' },
  too_many_keys: {
    status: 409,
    msg: 'the account has too many active keys; revoke one first',
    data: z.strictObject({ limit: z.int().positive() }),
  },
  balance_out_of_range: {
    status: 409,
    msg: 'the balance would fall below zero, or grow beyond what can be counted',
    data: z.strictObject({ balance: credits }),
  },
  price_in_force: { status: 409, msg: 'the rate is in force or about to be; set another one to follow it' },
  precondition_failed: { status: 412, msg: 'the file is not the one the request is about' },
  body_too_large: { status: 413, msg: `the body is larger than ${maxBodyBytes / 1024} KiB` },
  url_too_long: { status: 414, msg: `the address is too long; at most ${maxUrlLength} characters are allowed` },
  unsupported_media_type: {
    status: 415,
    msg: 'the body must be sent as Content-Type: application/json',
    headers: { 'Accept-Post': 'application/json' },
  },
  unsupported_encoding: {
    status: 415,
    msg: 'the body must be sent without Content-Encoding',
    headers: { 'Accept-Encoding': 'identity' },
  },
  range_not_satisfiable: { status: 416, msg: 'the file does not have this range' },
  invalid_request: {
    status: 422,
    msg: 'the request breaks a rule',
    data: z.strictObject({ errors: z.array(z.strictObject({ path: z.string(), message: z.string() })) }),
  },
  too_many_unfinished_tasks: {
    status: 429,
    msg: 'the account has too many unfinished tasks',
    headers: { 'Retry-After': '10' },
    data: z.strictObject({ limit: z.int().nonnegative() }),
  },
  rate_limited: {
    status: 429,
    msg: 'too many requests; Retry-After tells when there is room again',
    addedHeaders: rateRefusalHeaders,
  },
  too_many_refused_creates: {
    status: 429,
    msg: 'too many creates of this account were refused; Retry-After says when the next one is read',
    addedHeaders: rateRefusalHeaders,
  },
  too_many_bad_keys: {
    status: 429,
    msg: 'too many bad API keys came from this address; try again later',
    addedHeaders: rateRefusalHeaders,
  },
  headers_too_large: {
    status: 431,
    msg: `the headers are too large; at most ${maxHeaders} of them and ${maxHeaderBytes / 1024} KiB are allowed`,
  },
  internal: { status: 500, msg: 'something went wrong on our side' },
  database_unavailable: {
    status: 503,
    msg: 'the database is unavailable; nothing was charged',
    headers: retrySoon,
  },
  database_busy: {
    status: 503,
    msg: 'too many requests wait for the database; nothing was charged, and Retry-After says when to repeat this one',
    headers: retrySoon,
  },
  acceptance_unknown: {
    status: 503,
    msg:
      'the database became unavailable during the request, so it is not known whether the task was accepted; ' +
      'repeating the request with the same Idempotency-Key is safe and never charges twice',
    headers: retrySoon,
  },
  acceptance_withdrawn: {
    status: 503,
    msg:
      'the database became unavailable during the request; nothing is charged: if the task was accepted, it is ' +
      'withdrawn and refunded; with an Idempotency-Key the request can be repeated safely',
    headers: retrySoon,
  },
  not_ready: {
    status: 503,
    msg: 'the service is not ready',
    headers: retrySoon,
    data: z.strictObject({ away: z.array(z.string()) }),
  },
} as const satisfies Record<string, ErrorAnswer>;

export type ErrorCode = keyof typeof errorCatalogue;

// The keys of the catalogue, which the type of `Object.keys` does not tell.
export const errorCodes = Object.keys(errorCatalogue) as readonly ErrorCode[];

/** How a request with this error is answered. */
export function errorAnswerOf(code: ErrorCode): ErrorAnswer {
  return errorCatalogue[code];
}

const empty = z.strictObject({});

/** The schema of a refusal's `data`. */
export function errorDataOf(code: ErrorCode): z.ZodObject {
  return errorAnswerOf(code).data ?? empty;
}

export type HttpErrorDetails = {
  /** A sentence for the client in place of the catalogue's. */
  readonly msg?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** For the log; never shown. */
  readonly cause?: unknown;
};

/** Thrown to refuse a request. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: ErrorCode;
  readonly details: HttpErrorDetails;

  constructor(code: ErrorCode, details: HttpErrorDetails = {}) {
    super(code, { cause: details.cause });
    this.code = code;
    this.details = details;
  }
}

/** What was looked for; throws the refusal when it is not there. */
export function existing<Found>(value: Found | undefined, refusal: ErrorCode): Found {
  if (value === undefined) throw new HttpError(refusal);
  return value;
}

/** 422 with every fault; the first one is the message, and a hint follows it. */
export function invalidRequest(errors: readonly FieldError[], hint?: string): HttpError {
  const [first] = errors;
  return new HttpError('invalid_request', {
    ...(first !== undefined && { msg: [describeFieldError(first), hint].filter(Boolean).join('; ') }),
    data: { errors: firstOfEachPath(errors) },
  });
}

/** The error that a client is answered with; an unexpected one is our own fault. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof DatabaseBusy) return new HttpError('database_busy');
  if (error instanceof DatabaseAway) return new HttpError('database_unavailable', { cause: error.cause });
  return new HttpError('internal', { cause: error });
}

/** True when the request was refused for what the client did or is; false for our own faults and outages. */
export function isRefusal(error: unknown): boolean {
  return errorAnswerOf(toHttpError(error).code).status < 500;
}

/** The one shape of every answer; `code` equals the HTTP status. */
export type Envelope = {
  readonly code: number;
  readonly msg: string;
  /** Of a refusal: the stable string that clients branch on. */
  readonly error?: ErrorCode;
  readonly data: unknown;
};

/** The answer to an error: envelope and headers. */
export function answerTo({ code, details }: HttpError): {
  readonly envelope: Envelope;
  readonly headers: Readonly<Record<string, string>>;
} {
  const { status, msg, headers } = errorAnswerOf(code);
  return {
    envelope: { code: status, msg: details.msg ?? msg, error: code, data: details.data ?? {} },
    headers: { ...headers, ...details.headers },
  };
}

/** What the log keeps of an error. */
export type DescribedError = {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: DescribedError;
};

const maxDepth = 4;

/**
 * An error for the log. Only these fields: PostgreSQL's errors carry the failing row in `detail`, and with it a prompt.
 */
export function describeError(error: unknown, depth = 1): DescribedError {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error).slice(0, 1000) };
  return {
    type: error.name,
    message: error.message,
    ...('code' in error && typeof error.code === 'string' && { code: error.code }),
    ...(error.stack !== undefined && { stack: error.stack }),
    ...(error.cause !== undefined && depth < maxDepth && { cause: describeError(error.cause, depth + 1) }),
  };
}
