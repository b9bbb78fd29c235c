import { z } from 'zod';
import { capPeriods } from '../../accounts/limits/spend-caps.ts';
import { refusalHeaderDocs } from './limits/rate-headers.ts';
import { maxJsonBodyBytes, maxHeaderBytes, maxUrlLength } from './request-sizes.ts';

export type ErrorHeaders = Readonly<Record<string, string>>;
const empty = z.strictObject({});

/** `msg` is the default message; the code that throws may give a better one. */
function apiError(status: number, msg: string, more: More = {}) {
  return { status, msg, headers: {}, addedHeaders: {}, data: empty, ...more };
}

type More = {
  readonly headers?: ErrorHeaders;
  /** Headers that the code that throws adds: name and meaning. */
  readonly addedHeaders?: ErrorHeaders;
  readonly data?: z.ZodObject;
};

const credits = z.int().nonnegative();
const withLimit = { data: z.strictObject({ limit: z.int().positive() }) };
const retrySoon = { headers: { 'Retry-After': '5' } };
const byRate = { addedHeaders: refusalHeaderDocs };

/** Every error of the API. Codes are part of the contract. */
export const errorCatalogue = {
  malformed_request: apiError(400, 'malformed HTTP request'),
  body_unreadable: apiError(400, 'the request body ended early'),
  malformed_form: apiError(400, 'the body is not a well-formed multipart/form-data form'),
  invalid_json: apiError(400, 'the body is not JSON in UTF-8'),
  body_not_object: apiError(400, 'the body must be a JSON object'),
  duplicate_json_key: apiError(400, 'the JSON body repeats a key; give each key once'),
  event_invalid: apiError(400, 'the event is not signed by the payment provider, or was signed too long ago'),
  variant_not_offered: apiError(400, 'this variant is not offered; the variants are video and thumbnail'),
  unauthorized: apiError(401, 'a valid API key is required: Authorization: Bearer <API_KEY>', {
    headers: { 'WWW-Authenticate': 'Bearer' },
  }),
  not_signed_in: apiError(401, 'sign in to continue', {
    addedHeaders: {
      'Set-Cookie': 'Deletes the cookie; only in responses to a POST, or to `getMe` without `Videogen-Background: 1`.',
    },
  }),
  sign_in_failed: apiError(401, 'sign-in failed'),
  insufficient_credits: apiError(402, 'the balance is too low', {
    data: z.strictObject({ required: credits, balance: z.int() }),
  }),
  spend_cap_reached: apiError(402, 'a spend cap is reached', {
    data: z.strictObject({
      subject: z.enum(['key', 'member', 'account']),
      period: z.enum(capPeriods),
      cap: credits,
      spent: credits,
      required: credits,
      resetTime: z.int().nullable(),
    }),
  }),
  model_not_allowed: apiError(403, 'the API key may not use this model'),
  scope_missing: apiError(403, 'the API key lacks the required scope'),
  read_only_view: apiError(403, 'this is a read-only view of the account; changes are not possible'),
  owner_required: apiError(403, 'only owners of the account may do this'),
  reauthentication_required: apiError(403, 'confirm your identity, then try again'),
  password_sign_in_off: apiError(403, 'password sign-in is disabled'),
  passkeys_unavailable: apiError(
    403,
    'passkeys need PUBLIC_URL to have a host name, behind https or as http://localhost',
  ),
  cross_site_request: apiError(403, 'the request did not come from a page of the console'),
  sign_up_off: apiError(403, 'sign-up is not offered; ask an owner or operator for an invitation'),
  email_domain_not_allowed: apiError(403, 'addresses of this domain cannot sign up'),
  account_suspended: apiError(403, 'the account is suspended'),
  dialect_required: apiError(403, 'this endpoint requires a key of another dialect'),
  link_invalid: apiError(403, 'the link is invalid or has expired; query the task for a new one'),
  unknown_endpoint: apiError(404, 'unknown endpoint; all endpoints: /docs'),
  base_url_mismatch: apiError(404, 'the base URL of the client is that of another API; nothing was charged'),
  task_not_found: apiError(404, 'task not found'),
  event_not_found: apiError(404, 'event not found'),
  attempt_not_found: apiError(404, 'attempt not found'),
  event_endpoint_not_found: apiError(404, 'the account has no event endpoint; set one first'),
  cap_subject_not_found: apiError(404, 'no key or member of the account has this id'),
  model_not_found: apiError(404, 'model not found'),
  key_not_found: apiError(404, 'key not found'),
  account_not_found: apiError(404, 'account not found'),
  code_invalid: apiError(404, 'the code is unknown, used, expired or withdrawn'),
  code_batch_not_found: apiError(404, 'batch of codes not found'),
  price_not_found: apiError(404, 'price not found'),
  payments_disabled: apiError(404, 'this service does not sell credits'),
  package_not_found: apiError(404, 'package not found'),
  share_link_not_found: apiError(404, 'share link not found; it was revoked, or has expired'),
  session_not_found: apiError(404, 'session not found'),
  member_not_found: apiError(404, 'member not found'),
  sign_up_not_found: apiError(404, 'sign-up not found; it was confirmed, or its link has expired'),
  person_not_found: apiError(404, 'person not found'),
  passkey_not_found: apiError(404, 'passkey not found'),
  link_not_found: apiError(404, 'the link is unknown, used or expired; request a new one'),
  media_missing: apiError(404, 'file not found'),
  method_not_allowed: apiError(405, 'method not allowed'),
  request_timeout: apiError(408, 'the request took too long to arrive'),
  idempotency_key_reused: apiError(409, 'this Idempotency-Key was used with a different request'),
  task_not_finished: apiError(409, 'the task has not ended yet; its callback is sent when it does'),
  task_failed: apiError(409, 'the task failed, so it has no video'),
  callback_test_running: apiError(409, 'a test of this account is already running; wait for its result'),
  callback_secret_already_shown: apiError(409, 'the callback secret was already shown; rotate it to get a new one'),
  key_not_active: apiError(409, 'the key is revoked or has expired'),
  already_member: apiError(409, 'already a member of the account'),
  last_owner: apiError(409, 'an account needs at least one owner; add another owner first'),
  last_operator: apiError(409, 'at least one operator must be able to sign in'),
  too_many_invitations: apiError(409, 'too many invitations are open; withdraw one first', withLimit),
  too_many_passkeys: apiError(409, 'you have too many passkeys; remove one first', withLimit),
  too_many_keys: apiError(409, 'the account has too many active keys; revoke one first', withLimit),
  too_many_top_ups: apiError(
    409,
    'too many purchases of the account are open; pay one, or wait until they expire',
    withLimit,
  ),
  too_many_uploads: apiError(409, 'upload limit reached; old files expire automatically', withLimit),
  too_many_tags: apiError(409, 'too many tags; remove one first', withLimit),
  too_many_share_links: apiError(409, 'the video has too many share links; revoke one first', withLimit),
  archive_running: apiError(409, 'another archive of the account is being downloaded; wait until it ends'),
  balance_out_of_range: apiError(409, 'the balance would fall below zero or exceed its maximum', {
    data: z.strictObject({ balance: z.int() }),
  }),
  price_in_force: apiError(409, 'the price is active or starts within seconds; set a new price instead'),
  account_closed: apiError(409, 'the account is closed'),
  media_deleted: apiError(410, 'the file was deleted'),
  content_deleted: apiError(410, 'the content of the task was deleted'),
  precondition_failed: apiError(412, 'the file has changed'),
  body_too_large: apiError(413, `the body is larger than ${maxJsonBodyBytes / 1024} KiB`),
  url_too_long: apiError(414, `the URL is longer than ${maxUrlLength} characters`),
  unsupported_media_type: apiError(415, 'the body must be sent as Content-Type: application/json', {
    headers: { 'Accept-Post': 'application/json' },
  }),
  unsupported_encoding: apiError(415, 'the body must be sent without Content-Encoding', {
    headers: { 'Accept-Encoding': 'identity' },
  }),
  range_not_satisfiable: apiError(416, 'the file does not contain this range', {
    addedHeaders: { 'Content-Range': 'The size of the file.' },
  }),
  misdirected_request: apiError(421, 'the console is not served under this host name; open PUBLIC_URL'),
  invalid_request: apiError(422, 'invalid request', {
    data: z.strictObject({ errors: z.array(z.strictObject({ path: z.string(), message: z.string() })) }),
  }),
  content_refused: apiError(422, 'the content was refused by moderation; nothing was charged', {
    data: z.strictObject({ category: z.string() }),
  }),
  too_many_unfinished_tasks: apiError(429, 'the account has too many unfinished tasks', {
    headers: { 'Retry-After': '10' },
    data: z.strictObject({ limit: z.int().nonnegative() }),
  }),
  rate_limited: apiError(429, 'too many requests; retry after the seconds in Retry-After', byRate),
  too_many_refused_creates: apiError(429, 'too many creates of this account were refused; retry later', byRate),
  too_many_bad_keys: apiError(429, 'too many invalid API keys from this address; retry later', byRate),
  too_many_code_attempts: apiError(429, 'too many invalid codes; retry after the seconds in Retry-After', byRate),
  too_many_provider_tests: apiError(
    429,
    'too many tests of this provider; retry after the seconds in Retry-After',
    byRate,
  ),
  too_many_sign_ins: apiError(429, 'too many sign-in attempts; try again later', {
    headers: { 'Retry-After': '60' },
    ...byRate,
  }),
  too_many_sign_ups: apiError(429, 'too many people sign up; try again in an hour', {
    headers: { 'Retry-After': '3600' },
  }),
  too_many_mails: apiError(
    429,
    'too many e-mails were sent to this address or by this account, or wait for the mail server; try again in an hour',
    {
      headers: { 'Retry-After': '3600' },
    },
  ),
  headers_too_large: apiError(431, `the headers are larger than ${maxHeaderBytes / 1024} KiB`),
  internal: apiError(500, 'internal error; give the X-Request-Id to the operator'),
  // SDKs made by Stainless retry a 5xx without this header.
  not_offered: apiError(501, 'this operation is not offered', { headers: { 'X-Should-Retry': 'false' } }),
  model_unavailable: apiError(503, 'the model is unavailable; nothing was charged', retrySoon),
  moderation_unavailable: apiError(503, 'the content could not be checked; nothing was charged', retrySoon),
  database_unavailable: apiError(503, 'the database is unavailable; nothing was charged', retrySoon),
  database_busy: apiError(503, 'too many requests are waiting for the database; nothing was charged', retrySoon),
  disk_full: apiError(503, 'a disk of the service is full or does not respond; nothing was charged', {
    headers: { 'Retry-After': '30' },
  }),
  payments_unavailable: apiError(503, 'the payment provider is unavailable; nothing was charged', retrySoon),
  package_unavailable: apiError(503, 'the package is unavailable; nothing was charged', retrySoon),
  tests_busy: apiError(503, 'too many tests are running; retry shortly', retrySoon),
  uploads_busy: apiError(503, 'too many uploads are running; retry shortly', retrySoon),
  media_unavailable: apiError(503, 'the result store is unavailable; the link stays valid', retrySoon),
  acceptance_unknown: apiError(
    503,
    'the database became unavailable, so it is unknown whether the task was accepted; repeat the request with the same ' +
      'Idempotency-Key: it never charges twice',
    retrySoon,
  ),
  acceptance_reverted: apiError(
    503,
    'the database became unavailable; this request charges nothing: a task that it created will be refunded; with an ' +
      'Idempotency-Key the request can be repeated safely',
    retrySoon,
  ),
  not_ready: apiError(503, 'the service is not ready', {
    ...retrySoon,
    data: z.strictObject({ reasons: z.array(z.string()) }),
  }),
};

export type ErrorCode = keyof typeof errorCatalogue;

/** Errors of every endpoint that uses the database. */
export const databaseFailures = [
  'database_unavailable',
  'database_busy',
  'disk_full',
] as const satisfies readonly ErrorCode[];
