import { z } from 'zod';
import { describeFieldError, type FieldError, firstOfEachPath } from '../domain/field-errors.ts';
import { PasswordsBusy } from '../passwords/passwords.ts';
import { AccountClosed } from '../stores/accounts.ts';
import { DatabaseUnavailable, DatabaseBusy } from '../stores/database.ts';
import { ContentDeleted } from '../stores/deliveries.ts';
import { ProofOutdated } from '../stores/sign-in.ts';
import { StoreUnavailable } from '../media/result-store.ts';
import { rateRefusalHeaders } from './limits/rate-headers.ts';

export const maxBodyBytes = 256 * 1024;
/** Far above the longest address we give out. */
export const maxUrlLength = 4096;
/** Far above what clients and the proxies before us send. */
export const maxHeaderBytes = 16 * 1024;

type Headers = Readonly<Record<string, string>>;
const empty = z.strictObject({});

/** A refusal by its HTTP status, and by what a client reads unless the place of the error knows a better sentence. */
function refusal(status: number, msg: string, more: More = {}) {
  return { status, msg, headers: {}, addedHeaders: {}, data: empty, ...more };
}

type More = {
  readonly headers?: Headers;
  /** Headers that the place of the error adds: name and meaning. */
  readonly addedHeaders?: Headers;
  /** `data`, where it is more than an empty object. */
  readonly data?: z.ZodObject;
};

const credits = z.int().nonnegative();
const retrySoon = { headers: { 'Retry-After': '5' } };
const byRate = { addedHeaders: rateRefusalHeaders };

/** Every way in which a request is refused, by the `error` that clients branch on. Codes are part of the contract. */
export const errorCatalogue = {
  malformed_request: refusal(400, 'the request is not well-formed HTTP'),
  body_unreadable: refusal(400, 'the body could not be read to its end'),
  invalid_json: refusal(400, 'the body is not JSON in UTF-8'),
  body_not_object: refusal(400, 'the body must be a JSON object'),
  duplicate_json_key: refusal(400, 'a key of the JSON body is given twice; give it once'),
  unauthorized: refusal(401, 'a valid API key is required: Authorization: Bearer <API_KEY>', {
    headers: { 'WWW-Authenticate': 'Bearer' },
  }),
  not_signed_in: refusal(401, 'sign in to go on', {
    addedHeaders: {
      'Set-Cookie':
        'The browser forgets the cookie; only in answers to a POST, or to `getMe` without `Videogen-Background: 1`.',
    },
  }),
  sign_in_failed: refusal(401, 'the e-mail or the password is wrong'),
  insufficient_credits: refusal(402, 'the balance is too low', {
    data: z.strictObject({ required: credits, balance: credits }),
  }),
  scope_missing: refusal(403, 'the API key lacks the scope for this'),
  owner_required: refusal(403, 'only owners of the account may do this'),
  reauthentication_required: refusal(403, 'confirm who you are, then repeat this'),
  password_sign_in_off: refusal(403, 'signing in with a password is switched off here'),
  passkeys_unavailable: refusal(
    403,
    'passkeys need PUBLIC_URL to have a host name, behind https or as http://localhost',
  ),
  cross_site_request: refusal(403, 'the request does not come from a page of the console'),
  account_suspended: refusal(403, 'the account is suspended'),
  dialect_required: refusal(403, 'the API key is not of the dialect that this endpoint belongs to'),
  link_invalid: refusal(403, 'the link is not valid, or has expired; query the task for a fresh one'),
  unknown_endpoint: refusal(404, 'no such endpoint; all endpoints: /docs'),
  task_not_found: refusal(404, 'no such task'),
  key_not_found: refusal(404, 'no such key'),
  account_not_found: refusal(404, 'no such account'),
  price_not_found: refusal(404, 'no such price'),
  session_not_found: refusal(404, 'no such session'),
  member_not_found: refusal(404, 'no such member'),
  person_not_found: refusal(404, 'no such person'),
  passkey_not_found: refusal(404, 'no such passkey'),
  link_not_found: refusal(404, 'the link was used, has expired or never existed; ask for a new one'),
  media_missing: refusal(404, 'the store does not have the file'),
  method_not_allowed: refusal(405, 'the method is not allowed here'),
  request_timeout: refusal(408, 'the request took too long to arrive'),
  idempotency_key_reused: refusal(409, 'this Idempotency-Key was used before with another request'),
  task_not_finished: refusal(409, 'the task has not ended yet; its callback is sent when it does'),
  callback_test_running: refusal(409, 'a test of this account is under way; wait for its answer'),
  callback_secret_already_shown: refusal(409, 'the callback secret was shown before; rotate it to get a new one'),
  key_not_active: refusal(409, 'the key is revoked or has expired'),
  already_member: refusal(409, 'the person is a member of the account already'),
  last_owner: refusal(409, 'the account needs an owner; make somebody else one first'),
  last_operator: refusal(409, 'somebody must be left who can sign in as an operator'),
  too_many_invitations: refusal(409, 'too many invitations are open; withdraw one first', {
    data: z.strictObject({ limit: z.int().positive() }),
  }),
  too_many_passkeys: refusal(409, 'the person has too many passkeys; remove one first', {
    data: z.strictObject({ limit: z.int().positive() }),
  }),
  too_many_keys: refusal(409, 'the account has too many active keys; revoke one first', {
    data: z.strictObject({ limit: z.int().positive() }),
  }),
  too_many_uploads: refusal(409, 'the account keeps too many uploaded images; the oldest go by themselves', {
    data: z.strictObject({ limit: z.int().positive() }),
  }),
  balance_out_of_range: refusal(409, 'the balance would fall below zero, or grow beyond what can be counted', {
    data: z.strictObject({ balance: credits }),
  }),
  price_in_force: refusal(409, 'the price is in force or about to be; set another one to follow it'),
  account_closed: refusal(409, 'the account is closed for good'),
  media_deleted: refusal(410, 'the file is no longer kept'),
  content_deleted: refusal(410, 'the content of the task was deleted'),
  precondition_failed: refusal(412, 'the file is not the one the request is about'),
  body_too_large: refusal(413, `the body is larger than ${maxBodyBytes / 1024} KiB`),
  url_too_long: refusal(414, `the address is too long; at most ${maxUrlLength} characters are allowed`),
  unsupported_media_type: refusal(415, 'the body must be sent as Content-Type: application/json', {
    headers: { 'Accept-Post': 'application/json' },
  }),
  unsupported_encoding: refusal(415, 'the body must be sent without Content-Encoding', {
    headers: { 'Accept-Encoding': 'identity' },
  }),
  range_not_satisfiable: refusal(416, 'the file does not have this range'),
  misdirected_request: refusal(421, 'the console is not served under this host name; open the address in PUBLIC_URL'),
  invalid_request: refusal(422, 'the request breaks a rule', {
    data: z.strictObject({ errors: z.array(z.strictObject({ path: z.string(), message: z.string() })) }),
  }),
  too_many_unfinished_tasks: refusal(429, 'the account has too many unfinished tasks', {
    headers: { 'Retry-After': '10' },
    data: z.strictObject({ limit: z.int().nonnegative() }),
  }),
  rate_limited: refusal(429, 'too many requests; Retry-After tells when there is room again', byRate),
  too_many_refused_creates: refusal(429, 'too many creates of this account were refused; try again later', byRate),
  too_many_bad_keys: refusal(429, 'too many bad API keys came from this address; try again later', byRate),
  too_many_sign_ins: refusal(429, 'too many tries to sign in; try again later', {
    headers: { 'Retry-After': '60' },
    ...byRate,
  }),
  headers_too_large: refusal(431, `the headers are too large; at most ${maxHeaderBytes / 1024} KiB are allowed`),
  internal: refusal(500, 'something went wrong on our side'),
  database_unavailable: refusal(503, 'the database is unavailable; nothing was charged', retrySoon),
  database_busy: refusal(503, 'too many requests wait for the database; nothing was charged', retrySoon),
  uploads_busy: refusal(503, 'too many images are being uploaded; try again in a moment', retrySoon),
  media_unavailable: refusal(503, 'the store of the videos is unavailable; the link stays valid', retrySoon),
  acceptance_unknown: refusal(
    503,
    'the database became unavailable during the request, so it is not known whether the task was accepted; ' +
      'repeating the request with the same Idempotency-Key is safe and never charges twice',
    retrySoon,
  ),
  acceptance_withdrawn: refusal(
    503,
    'the database became unavailable during the request; nothing is charged: if the task was accepted, it is ' +
      'withdrawn and refunded; with an Idempotency-Key the request can be repeated safely',
    retrySoon,
  ),
  not_ready: refusal(503, 'the service is not ready', {
    ...retrySoon,
    data: z.strictObject({ reasons: z.array(z.string()) }),
  }),
};

export type ErrorCode = keyof typeof errorCatalogue;

type HttpErrorDetails = {
  /** A sentence for the client in place of the catalogue's. */
  readonly msg?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly headers?: Headers;
  /** For the log; never shown. */
  readonly cause?: unknown;
};

/** The one shape of every answer; `code` equals the HTTP status. */
export type Envelope = {
  readonly code: number;
  readonly msg: string;
  /** Of a refusal: the stable string that clients branch on. */
  readonly error?: ErrorCode;
  readonly data: unknown;
};

/** Thrown to refuse a request; knows how it is answered. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: ErrorCode;
  readonly envelope: Envelope;
  readonly headers: Headers;

  constructor(code: ErrorCode, { msg, data = {}, headers, cause }: HttpErrorDetails = {}) {
    super(code, { cause });
    const known = errorCatalogue[code];
    this.code = code;
    this.envelope = { code: known.status, msg: msg ?? known.msg, error: code, data };
    this.headers = { ...known.headers, ...headers };
  }
}

export function existing<Found>(value: Found | undefined, code: ErrorCode): Found {
  if (value === undefined) throw new HttpError(code);
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

export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof PasswordsBusy) return new HttpError('too_many_sign_ins');
  if (error instanceof ProofOutdated) return new HttpError('sign_in_failed');
  if (error instanceof AccountClosed) return new HttpError('account_closed', { msg: error.message });
  if (error instanceof ContentDeleted) return new HttpError('content_deleted', { msg: error.message });
  if (error instanceof DatabaseBusy) return new HttpError('database_busy');
  if (error instanceof DatabaseUnavailable) return new HttpError('database_unavailable', { cause: error.cause });
  if (error instanceof StoreUnavailable) return new HttpError('media_unavailable', { cause: error });
  return new HttpError('internal', { cause: error });
}

/** True when the request was refused for what the client did or is; false for our own faults and outages. */
export function isRefusal(error: unknown): boolean {
  return toHttpError(error).envelope.code < 500;
}
