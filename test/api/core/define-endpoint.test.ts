import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import type { Caller } from '../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import type { Authentication } from '../../../src/api/core/authentication.ts';
import {
  defineEndpoint,
  type GuardSpec,
  guardThenProceed,
  parseOrRefuse,
  withLargeBodySlot,
} from '../../../src/api/core/define-endpoint.ts';
import type { ErrorCode } from '../../../src/api/core/error-catalogue.ts';
import { HttpError } from '../../../src/api/core/http-error.ts';
import { createRateLimiter, type RateLimiter } from '../../../src/api/core/limits/rate-limits.ts';
import type { Context } from '../../../src/api/core/request-context-and-responses.ts';
import { maxJsonBodyBytes } from '../../../src/api/core/request-sizes.ts';

const key: Caller = {
  by: { kind: 'key', keyId: 'key' },
  accountId: 'account',
  scopes: ['tasks:read'],
  suspended: false,
  dialect: 'native',
};
const person: Caller = { ...key, by: { kind: 'person', userId: 'user', email: 'a@b.example', isRecent: false } };
const recentPerson: Caller = { ...key, by: { kind: 'person', userId: 'user', email: 'a@b.example', isRecent: true } };

type Found = {
  readonly caller?: Caller;
  /** The caller in memory. */
  readonly cached?: Caller;
  readonly isFromConsole?: boolean;
  readonly isRecent?: boolean;
  readonly role?: 'owner' | 'member';
};

const identityOf = (caller: Caller | undefined) =>
  caller === undefined ? undefined : { caller, dialect: caller.dialect, task: undefined };

/** Finds this caller for each request; `looked` counts the look-ups of clients. */
function authentication({ caller, cached, isFromConsole = false, isRecent = false, role = 'owner' }: Found) {
  let looked = 0;
  const session = { userId: 'user', isRecent };
  const found = {
    identify: () => {
      looked += 1;
      const identity = identityOf(caller);
      return identity === undefined ? Promise.reject(new HttpError('unauthorized')) : Promise.resolve(identity);
    },
    cachedIdentity: () => identityOf(cached),
    operator: () => Promise.resolve({ kind: 'operator', name: 'ada' }),
    people: {
      isFromConsole: () => isFromConsole,
      session: () => Promise.resolve(session),
      member: () => Promise.resolve({ session, accountId: 'account', role }),
      operator: () => Promise.resolve({ kind: 'user', name: 'ada', isRecent }),
    },
  };
  // The parts of the authentication that the guards call.
  return { found: found as unknown as Authentication, looked: () => looked };
}

/** A limiter that allows everything and notes whose requests it counts. */
function notingLimiter(): RateLimiter & { readonly noted: string[] } {
  const noted: string[] = [];
  const limiter = createRateLimiter({ quota: 1_000, windowMs: 1_000 }, () => 0);
  return {
    ...limiter,
    noted,
    take: (who) => {
      noted.push(who);
      return limiter.take(who);
    },
  };
}

function contextOf(path: string, headers: Readonly<Record<string, string>> = {}): Context {
  const get = (name: string) => headers[name] ?? '';
  // The parts of a context that the guards read.
  return { path, get, set: () => undefined, state: {}, req: { socket: {} } } as unknown as Context;
}

/** The identity that a request has behind the guards, or the code of its refusal; and whose request was counted. */
async function guarded(operation: GuardSpec, found: Found, path = '/api/v1/x') {
  const reads = notingLimiter();
  const deps = {
    publicUrl: 'http://a.test',
    console: { publicUrl: 'http://a.test' },
    reads,
    refusedCreates: undefined,
  };
  const request = { ctx: contextOf(path), deps, authentication: authentication(found).found, operation };
  const outcome = await guardThenProceed(request, (identity) => Promise.resolve(identity)).catch((error: unknown) => {
    assert.ok(error instanceof HttpError);
    return error.code;
  });
  return [outcome, reads.noted.join()];
}

const session = (isRecent: boolean) => ({ userId: 'user', isRecent });
const member = (role: 'owner' | 'member', isRecent = false) => ({
  session: session(isRecent),
  accountId: 'account',
  role,
});
const byConsole = { kind: 'user', name: 'ada' };
const byKey = { kind: 'operator', name: 'ada' };

const cases: readonly (readonly [GuardSpec, Found, outcome: object | ErrorCode, counted: string])[] = [
  [{ scope: 'none' }, {}, {}, ''],
  [{ scope: 'operator' }, {}, { actor: byKey }, ''],
  [{ scope: 'operator', needsRecentProof: true }, {}, { actor: byKey }, ''],
  [{ scope: 'operator' }, { isFromConsole: true }, { actor: byConsole }, ''],
  [{ scope: 'operator', needsRecentProof: true }, { isFromConsole: true }, 'reauthentication_required', ''],
  [{ scope: 'operator', needsRecentProof: true }, { isFromConsole: true, isRecent: true }, { actor: byConsole }, ''],
  [{ scope: 'session' }, {}, { session: session(false) }, 'user'],
  [{ scope: 'session', needsRecentProof: true }, {}, 'reauthentication_required', 'user'],
  [{ scope: 'session', needsRecentProof: true }, { isRecent: true }, { session: session(true) }, 'user'],
  [{ scope: 'member' }, { role: 'member' }, member('member'), 'user'],
  [{ scope: 'member', needsRecentProof: true }, {}, 'reauthentication_required', 'user'],
  [{ scope: 'owner' }, { role: 'member' }, 'owner_required', 'user'],
  [{ scope: 'owner' }, {}, member('owner'), 'user'],
  [{ scope: 'owner', needsRecentProof: true }, {}, 'reauthentication_required', 'user'],
  [{ scope: 'owner', needsRecentProof: true }, { isRecent: true }, member('owner', true), 'user'],
  [{ scope: 'any' }, { caller: { ...key, scopes: [] } }, { ...identityOf({ ...key, scopes: [] }) }, 'account'],
  [{ scope: 'any' }, {}, 'unauthorized', ''],
  [{ scope: 'tasks:read' }, { caller: key }, { ...identityOf(key) }, 'account'],
  [{ scope: 'tasks:read' }, { caller: person }, { ...identityOf(person) }, 'user'],
  [{ scope: 'tasks:write' }, { caller: key }, 'scope_missing', 'account'],
  [
    { scope: 'any' },
    { caller: { ...key, suspended: true } },
    { ...identityOf({ ...key, suspended: true }) },
    'account',
  ],
  [{ scope: 'any', refusesSuspended: true }, { caller: { ...key, suspended: true } }, 'account_suspended', 'account'],
  [{ scope: 'any', refusesSuspended: true }, { caller: key }, { ...identityOf(key) }, 'account'],
  [{ scope: 'any', needsRecentProof: true }, { caller: key }, { ...identityOf(key) }, 'account'],
  [{ scope: 'any', needsRecentProof: true }, { caller: person }, 'reauthentication_required', 'user'],
  [{ scope: 'any', needsRecentProof: true }, { caller: recentPerson }, { ...identityOf(recentPerson) }, 'user'],
  [{ scope: 'any', createsTask: true }, { cached: key }, { ...identityOf(key) }, ''],
];

test('a request passes the guards of its declaration alone, and counts for its person, or the account of its key', async () => {
  for (const [operation, found, outcome, counted] of cases)
    assert.deepEqual(await guarded(operation, found), [outcome, counted], JSON.stringify([operation, found]));
});

test('an endpoint of the console that needs no session needs a page of the console', async () => {
  const [outcome] = await guarded({ scope: 'none' }, {}, '/api/console/v1/sign-in');
  assert.equal(outcome, 'misdirected_request');
});

/** The outcome of a create, whether it counts as refused, and how often its caller was looked up. */
async function created(found: Found, thrown: unknown) {
  const refusedCreates = createRateLimiter({ quota: 5, windowMs: 1_000 }, () => 0);
  const deps = { publicUrl: '', console: { publicUrl: '' }, reads: undefined, refusedCreates };
  const { found: ours, looked } = authentication(found);
  const operation: GuardSpec = { scope: 'tasks:read', createsTask: true, refusesSuspended: true };
  const request = { ctx: contextOf('/api/v1/jobs/createTask'), deps, authentication: ours, operation };
  const work = () => (thrown === undefined ? Promise.resolve('created') : Promise.reject(thrown));
  const outcome = await guardThenProceed(request, work).catch((error: unknown) =>
    error instanceof HttpError ? error.code : error,
  );
  return [outcome, 5 - refusedCreates.peek('account').remaining, looked()];
}

test('a refused create counts, unless by a rate; a caller in memory is looked up if it is refused, and what is known by then comes first', async () => {
  const bug = new TypeError('a bug');
  const suspended = { ...key, suspended: true };
  const [invalid, limited, unknown] = (['invalid_request', 'rate_limited', 'acceptance_unknown'] as const).map(
    (code) => new HttpError(code),
  );
  for (const [found, thrown, expected] of [
    [{ caller: key }, undefined, ['created', 0, 1]],
    [{ caller: key }, invalid, ['invalid_request', 1, 1]],
    [{ caller: key }, limited, ['rate_limited', 0, 1]],
    [{ caller: key }, unknown, ['acceptance_unknown', 0, 1]],
    [{ caller: key }, bug, [bug, 0, 1]],
    [{ caller: suspended }, undefined, ['account_suspended', 1, 1]],
    [{ caller: { ...key, scopes: [] } }, undefined, ['scope_missing', 1, 1]],
    [{ caller: key, cached: key }, undefined, ['created', 0, 0]],
    [{ caller: key, cached: key }, invalid, ['invalid_request', 1, 1]],
    [{ caller: key, cached: key }, unknown, ['acceptance_unknown', 0, 0]],
    [{ caller: suspended, cached: key }, invalid, ['account_suspended', 1, 1]],
    [{ caller: suspended, cached: key }, unknown, ['acceptance_unknown', 0, 0]],
    [{ cached: key }, limited, ['unauthorized', 1, 1]],
  ] as const)
    assert.deepEqual(await created(found, thrown), expected, JSON.stringify([found, thrown]));
});

test('a refusal lists fifty errors at most, of a body and of a query', async () => {
  const many = Array.from({ length: 51 }, (_, index) => index);
  const errorsOf = (error: unknown) => {
    assert.ok(error instanceof HttpError);
    return (error.envelope.data as { readonly errors: readonly unknown[] }).errors.length;
  };
  assert.throws(
    () => parseOrRefuse(z.array(z.string()), many),
    (error) => errorsOf(error) === 50,
  );
  const { serve } = defineEndpoint({
    operationId: 'test',
    route: 'GET /api/v1/test',
    scope: 'none',
    summary: 'Test',
    query: z.strictObject({}),
    data: z.strictObject({}),
    handler: () => Promise.resolve({}),
  });
  const ctx = Object.assign(contextOf('/api/v1/test'), { querystring: many.map((index) => `${index}=%00`).join('&') });
  // The endpoint needs neither dependencies nor a caller.
  const served = serve(ctx, {} as Parameters<typeof serve>[1], {} as Authentication);
  await assert.rejects(served, (error) => errorsOf(error) === 50);
});

test('a body beyond the usual limit takes an upload slot of its account, and one of the limit takes none', async () => {
  const send = (bytes: number, serve: () => Promise<void>) =>
    withLargeBodySlot(
      contextOf('/v1/videos', { 'Content-Type': 'application/json', 'Content-Length': String(bytes) }),
      { deps: { publicUrl: 'http://a.test' }, accountId: 'account' },
      serve,
    );
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const running = [1, 1, 0, 0].map((more) => send(maxJsonBodyBytes + more, () => held));
  await assert.rejects(
    send(maxJsonBodyBytes + 1, () => held),
    (error) => error instanceof HttpError && error.code === 'uploads_busy',
  );
  release();
  await Promise.all(running);
  const tooLarge = send(16 * 1024 * 1024 + 1, () => held);
  await assert.rejects(tooLarge, /body_too_large/);
  await assert.rejects(tooLarge, (error) => {
    assert.ok(error instanceof HttpError);
    assert.match(error.envelope.msg, /upload files.*http:\/\/a\.test/s);
    return true;
  });
});
