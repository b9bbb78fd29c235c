import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { maxUploadBytesOfKind } from '../../src/media/references/upload-limits-and-addresses.ts';
import { testTaskId } from '../../src/tasks/callbacks/send-test-callback.ts';
import { isConsoleApiPath, type Operation } from '../../src/api/core/endpoint-spec.ts';
import { endpoints } from '../../src/api/endpoints.ts';
import { databaseFailures, type ErrorCode } from '../../src/api/core/error-catalogue.ts';
import { maxInlineBytes } from '../../src/api/core/server/read-json-or-multipart.ts';
import { createBadKeyLimiter, createRateLimiter, type RateLimiter } from '../../src/api/core/limits/rate-limits.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/test-database.ts';
import { type Answer, assertRefused, type SendOptions } from '../support/service/http-client.ts';
import { closedSignUp, type HttpService, startHttpService } from '../support/service/http-service.ts';
import { fromConsole, goodPassword, newPerson, type Person } from '../support/service/person.ts';
import { type Scope, scopes as allScopes } from '../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { type Database, DatabaseUnavailableError, DatabaseBusyError } from '../../src/platform/database/database.ts';
import { createKeyUnchecked } from '../../src/accounts/keys/keys.ts';
import { createOperator } from '../../src/accounts/operators/operator-keys.ts';

// What every endpoint of a kind refuses in the same way, produced at each of them. A run of all tests fails when an endpoint
// documents a refusal that neither this file nor its own tests have produced (test/support/documents/produced-refusals.ts).

const hour = 3_600_000;
let database: TestDatabase;
let service: HttpService;
/** Services whose account has nothing left to read, and whose address has tried too many bad keys. */
let readOut: HttpService;
let triedOut: HttpService;
let clientKey: string;
let kieKey: string;
let operatorKey: string;
let ownAccountId: string;
let owner: Person;
/** Proved who they are some time ago. */
let stale: Person;
let viewer: Person;
const agedProofs = `update sessions set authenticated_at = now() - interval '11 minutes' where user_id = $1`;
/** What the next statement throws instead of running. */
let fault: Error | undefined;

before(async () => {
  database = await createTestDatabase();
  service = await startHttpService({
    database,
    db: faulty(database.db),
    signUp: { ...closedSignUp, mode: 'open' },
    console: {
      // Passkeys need a name.
      get publicUrl() {
        return service.url.replace('127.0.0.1', 'localhost');
      },
      passwordSignIn: true,
    },
  });
  const { accountId } = await service.newAccount(0);
  ownAccountId = accountId;
  owner = await newPerson(service, { roles: { [accountId]: 'owner' }, isOperator: true });
  stale = await newPerson(service, { roles: { [accountId]: 'owner' }, isOperator: true });
  await database.db.run({ name: 'test-age-proofs', text: agedProofs }, [stale.userId]);
  viewer = await newPerson(service, { roles: { [accountId]: 'viewer' } });
  clientKey = await newKey(accountId, 'native', allScopes);
  kieKey = await newKey(accountId, 'kie', ['tasks:write', 'tasks:read', 'credits:read']);
  operatorKey = (await createOperator(database.db, { name: 'ada' })).key;
  readOut = await startHttpService({
    database,
    reads: spentLimiter(accountId, owner.userId),
    console: service.deps.console,
  });
  triedOut = await startHttpService({ database, badKeys: createBadKeyLimiter(spentLimiter('127.0.0.1')) });
});
beforeEach(() => {
  fault = undefined;
});
after(async () => {
  await readOut.close();
  await triedOut.close();
  await service.close();
  await database.close();
});

async function newKey(accountId: string, dialect: 'native' | 'kie', scopes: readonly Scope[]): Promise<string> {
  const created = await createKeyUnchecked(database.db, { accountId, name: 'a', scopes, dialect });
  assert.ok(created);
  return created.key;
}

function spentLimiter(...keys: readonly string[]): RateLimiter {
  const limiter = createRateLimiter({ quota: 1, windowMs: hour });
  for (const key of keys) limiter.take(key);
  return limiter;
}

function faulty(db: Database): Database {
  const orFault = <T>(work: () => Promise<T>): Promise<T> => {
    const thrown = fault;
    fault = undefined;
    return thrown === undefined ? work() : Promise.reject(thrown);
  };
  return {
    ...db,
    run: (statement, values) => orFault(() => db.run(statement, values)),
    transaction: (work) => orFault(() => db.transaction(work)),
  };
}

const isOfDatabase = (failure: ErrorCode) => databaseFailures.some((code) => code === failure);

const isOfKie = ({ operationId }: Operation) => operationId.startsWith('kie');

/** Headers of a caller who has every right that the operation needs. */
function identityFor(operation: Operation): Readonly<Record<string, string>> {
  if (isConsoleApiPath(operation.path)) return asPerson(owner);
  const key = operation.scope === 'operator' ? operatorKey : isOfKie(operation) ? kieKey : clientKey;
  return { authorization: `Bearer ${key}` };
}

/** What a page of the console sends for a person. */
function asPerson(person: Person): Readonly<Record<string, string>> {
  const { cookie, 'videogen-account': account } = { cookie: person.cookie(), 'videogen-account': ownAccountId };
  assert.ok(cookie);
  return { ...fromConsole, cookie, 'videogen-account': account };
}

/** As somebody in the console, also where a key would do. */
function askAsPerson(operation: Operation, person: Person, headers: Readonly<Record<string, string>> = {}) {
  const [method, path] = [operation.method, pathOf(operation)];
  const sent = { ...asPerson(person), 'idempotency-key': 'k', ...headers };
  return service.send(method.toUpperCase(), path, { headers: sent, ...(method === 'post' && { body: '{}' }) });
}

/** The path with an id of nothing for each parameter. */
const pathOf = ({ path }: Operation) => path.replaceAll(/\{\w+\}/g, testTaskId);

function ask(operation: Operation, options: SendOptions = {}, at = service, query = ''): Promise<Answer> {
  const { method, fileTypes } = operation;
  const path = pathOf(operation);
  const usual = { 'content-type': fileTypes?.[0] ?? 'application/json', 'idempotency-key': 'k' };
  const headers = { ...identityFor(operation), ...usual, ...options.headers };
  const sent = method === 'post' ? { body: '{}', ...options, headers } : { headers };
  return at.send(method.toUpperCase(), path + query, sent);
}

/** With a key that may do everything but this. */
async function askWithoutScope(operation: Operation): Promise<Answer> {
  const others = allScopes.filter((scope) => scope !== operation.scope);
  const key = await newKey(ownAccountId, isOfKie(operation) ? 'kie' : 'native', others);
  return ask(operation, { headers: { authorization: `Bearer ${key}` } });
}

type Way = readonly [
  failure: ErrorCode,
  status: number,
  msg: RegExp,
  produce: (operation: Operation) => Promise<Answer>,
];

/** What passes the form of a body where nobody is looked up before. */
const fitBodies: Readonly<Record<string, unknown>> = {
  showLink: { token: 'x'.repeat(43) },
  acceptLink: { token: 'x'.repeat(43), password: goodPassword },
  signIn: { email: 'nobody@example.com', password: goodPassword },
  signUp: { email: 'nobody@example.com' },
  signInWithPasskey: { response: { id: 'x', response: {} } },
};

function plant(error: Error, operation: Operation): Promise<Answer> {
  fault = error;
  const body = fitBodies[operation.operationId];
  return ask(operation, body === undefined ? {} : { body: JSON.stringify(body) });
}

const tooLarge = ({ fileTypes, takesInlineFiles }: Operation) =>
  `{"a":"${'a'.repeat(takesInlineFiles ? maxInlineBytes : fileTypes ? maxUploadBytesOfKind('image') : 256 * 1024)}"}`;

/** How to be refused at any endpoint that documents it. */
const ways: readonly Way[] = [
  ['unauthorized', 401, /valid API key/, (one) => ask(one, { headers: { authorization: 'Basic eDp5' } })],
  [
    'too_many_bad_keys',
    429,
    /invalid API keys/,
    (one) => ask(one, { headers: { authorization: 'Bearer never' } }, triedOut),
  ],
  ['not_signed_in', 401, /sign in/, (one) => askAsPerson(one, owner, { cookie: 'none=1' })],
  ['cross_site_request', 403, /did not come from/, (one) => askAsPerson(one, owner, { 'sec-fetch-site': 'same-site' })],
  ['misdirected_request', 421, /host name/, (one) => askAsPerson(one, owner, { host: 'rebound.test' })],
  [
    'account_not_found',
    404,
    /account not found/,
    (one) => askAsPerson(one, owner, { 'videogen-account': operatorKey }),
  ],
  ['unknown_endpoint', 404, /unknown endpoint/, (one) => askAsPerson(one, viewer)],
  ['owner_required', 403, /only owners/, (one) => askAsPerson(one, viewer)],
  ['scope_missing', 403, /lacks the scope/, askWithoutScope],
  ['reauthentication_required', 403, /confirm your identity/, (one) => askAsPerson(one, stale)],
  ['rate_limited', 429, /too many requests/, (one) => ask(one, {}, readOut)],
  [
    'database_unavailable',
    503,
    /nothing was charged/,
    (one) => plant(new DatabaseUnavailableError(false, new Error('planted')), one),
  ],
  [
    'disk_full',
    503,
    /a disk of the service is full or does not respond; nothing was charged/,
    (one) => plant(new DatabaseUnavailableError(false, Object.assign(new Error('planted'), { code: '53100' })), one),
  ],
  [
    'database_busy',
    503,
    /are waiting for the database; nothing was charged/,
    (one) => plant(new DatabaseBusyError(), one),
  ],
  ['internal', 500, /internal error/, (one) => plant(new Error('planted'), one)],
  ['invalid_json', 400, /is not JSON/, (one) => ask(one, { body: '{"a":' })],
  ['body_not_object', 400, /must be a JSON object/, (one) => ask(one, { body: '[]' })],
  ['duplicate_json_key', 400, /the key a\.b is given twice/, (one) => ask(one, { body: '{"a":{"b":1,"b":1}}' })],
  ['body_too_large', 413, /larger than (?:256|10240|16384) KiB/, (one) => ask(one, { body: tooLarge(one) })],
  [
    'unsupported_media_type',
    415,
    /application\/json|image\/jpeg/,
    (one) => ask(one, { headers: { 'content-type': 'text/plain' } }),
  ],
  ['unsupported_encoding', 415, /Content-Encoding/, (one) => ask(one, { headers: { 'content-encoding': 'gzip' } })],
];

/** Errors of other APIs have their own form, with our code and message inside. */
function assertRefusedInShape(
  { status, bytes, headers }: Answer,
  expected: { readonly failure: ErrorCode; readonly status: number; readonly msg: RegExp },
): void {
  const text = bytes.toString();
  assert.equal(status, expected.status, text);
  assert.match(text, expected.msg);
  assert.ok(text.includes(`"${expected.failure}"`), text);
  assert.match(String(headers['x-request-id']), /^[0-9a-f-]{36}$/);
}

for (const operation of endpoints) {
  const { operationId, scope, failures } = operation;
  for (const [failure, status, msg, produce] of ways) {
    const isDocumented = failure === 'internal' ? scope !== 'none' : failures.includes(failure);
    // Of an account that the body names, or a key that it asks for, their own tests ask.
    if (failure === 'account_not_found' && scope === 'operator') continue;
    if (['account_not_found', 'unknown_endpoint'].includes(failure) && operationId === 'viewAccount') continue;
    if (failure === 'reauthentication_required' && operationId === 'createKey') continue;
    // An event reaches the database with its signature only: test/api/payments/top-up-routes.test.ts.
    if (isOfDatabase(failure) && operationId === 'stripeEvent') continue;
    // Creates have a rate of their own: test/api/core/limits/rates.test.ts.
    if (!isDocumented || (failure === 'rate_limited' && operation.createsTask === true)) continue;
    test(`${status} ${operationId}: ${failure}`, async () => {
      const answer = await produce(operation);
      if (operation.shape === undefined) assertRefused(answer, status, msg);
      else assertRefusedInShape(answer, { failure, status, msg });
    });
  }
  // The tests of a shape name what is wrong in its own spelling.
  if (!failures.includes('invalid_request') || operation.shape !== undefined) continue;
  test(`422 ${operationId} names what is wrong with the request`, async () => {
    const { status, json } = await ask(operation, { body: '{"url":1,"nonsense":1}' }, service, '?nonsense=1');
    assert.equal(status, 422);
    const { errors } = json.data;
    assert.ok(Array.isArray(errors) && errors.length > 0);
  });
}
