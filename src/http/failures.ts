/** Every way in which a request is refused. A new one does not compile without its status and sentence below. */
export type Failure =
  | 'malformed_request'
  | 'body_unreadable'
  | 'invalid_json'
  | 'body_not_object'
  | 'repeated_json_key'
  | 'unauthorized'
  | 'insufficient_credits'
  | 'scope_missing'
  | 'account_suspended'
  | 'dialect_required'
  | 'link_refused'
  | 'no_such_route'
  | 'no_such_task'
  | 'no_such_key'
  | 'no_such_account'
  | 'no_such_rate'
  | 'media_gone'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'idempotency_key_reused'
  | 'callback_not_due'
  | 'callback_secret_already_shown'
  | 'key_not_active'
  | 'too_many_keys'
  | 'balance_out_of_range'
  | 'rate_in_force'
  | 'precondition_failed'
  | 'body_too_large'
  | 'url_too_long'
  | 'unsupported_media_type'
  | 'unsupported_encoding'
  | 'range_not_satisfiable'
  | 'invalid_request'
  | 'too_many_unfinished'
  | 'rate_limited'
  | 'too_many_refused'
  | 'too_many_bad_keys'
  | 'headers_too_large'
  | 'internal'
  | 'database_away'
  | 'database_busy'
  | 'acceptance_unknown'
  | 'acceptance_withdrawn'
  | 'not_ready';

/** HTTP status (which is also `code`), the sentence a client reads unless the place of the fault knows a better one, fixed headers. */
export type FailureAnswer = {
  readonly status: number;
  readonly msg: string;
  readonly headers?: Readonly<Record<string, string>>;
};

const retrySoon = { 'Retry-After': '5' };

/** The catalogue of expected failures (design, section 3: the code table). */
export const failures: Readonly<Record<Failure, FailureAnswer>> = {
  malformed_request: { status: 400, msg: 'the request is not well-formed HTTP' },
  body_unreadable: { status: 400, msg: 'the body could not be read to its end' },
  invalid_json: { status: 400, msg: 'the body is not JSON in UTF-8' },
  body_not_object: { status: 400, msg: 'the body must be a JSON object' },
  repeated_json_key: { status: 400, msg: 'a key of the JSON body is given twice; give it once' },
  unauthorized: {
    status: 401,
    msg: 'a valid API key is required: Authorization: Bearer <API_KEY>',
    headers: { 'WWW-Authenticate': 'Bearer' },
  },
  insufficient_credits: { status: 402, msg: 'the balance is too low' },
  scope_missing: { status: 403, msg: 'the API key lacks the scope for this' },
  account_suspended: { status: 403, msg: 'the account is suspended' },
  dialect_required: { status: 403, msg: 'the API key is not of the dialect that this endpoint belongs to' },
  link_refused: { status: 403, msg: 'the link is not valid, or has expired; query the task for a fresh one' },
  no_such_route: { status: 404, msg: 'no such endpoint; all endpoints: /docs' },
  no_such_task: { status: 404, msg: 'no such task' },
  no_such_key: { status: 404, msg: 'no such key' },
  no_such_account: { status: 404, msg: 'no such account' },
  no_such_rate: { status: 404, msg: 'no such rate' },
  media_gone: { status: 404, msg: 'the file is no longer kept' },
  method_not_allowed: { status: 405, msg: 'the method is not allowed here' },
  request_timeout: { status: 408, msg: 'the request took too long to arrive' },
  idempotency_key_reused: { status: 409, msg: 'this Idempotency-Key was used before with another request' },
  callback_not_due: { status: 409, msg: 'the task has not ended yet; its callback is sent when it does' },
  callback_secret_already_shown: {
    status: 409,
    msg: 'the callback secret was shown before; rotate it to get a new one',
  },
  key_not_active: { status: 409, msg: 'the key is revoked or has expired' },
  too_many_keys: { status: 409, msg: 'the account has too many active keys; revoke one first' },
  balance_out_of_range: { status: 409, msg: 'the balance would fall below zero, or grow beyond what can be counted' },
  rate_in_force: { status: 409, msg: 'the rate is in force or about to be; set another one to follow it' },
  precondition_failed: { status: 412, msg: 'the file is not the one the request is about' },
  body_too_large: { status: 413, msg: 'the body is larger than 256 KiB' },
  url_too_long: { status: 414, msg: 'the address is too long; at most 4096 characters are allowed' },
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
  invalid_request: { status: 422, msg: 'the request breaks a rule' },
  too_many_unfinished: {
    status: 429,
    msg: 'the account has too many unfinished tasks',
    headers: { 'Retry-After': '10' },
  },
  rate_limited: { status: 429, msg: 'too many requests; Retry-After tells when there is room again' },
  too_many_refused: {
    status: 429,
    msg: 'too many creates of this account were refused; Retry-After says when the next one is read',
  },
  too_many_bad_keys: { status: 429, msg: 'too many bad API keys came from this address; try again later' },
  headers_too_large: { status: 431, msg: 'the headers are too large; at most 100 of them and 16 KiB are allowed' },
  internal: { status: 500, msg: 'something went wrong on our side' },
  database_away: {
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
  not_ready: { status: 503, msg: 'the service is not ready', headers: retrySoon },
};
