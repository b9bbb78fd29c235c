import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { v7 as uuidv7 } from 'uuid';
import { setLowBalanceThreshold } from '../../../src/credits/ledger/balance-and-low-balance-threshold.ts';
import { type Scope, scopes } from '../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import { revealSecretOnce } from '../../../src/tasks/callbacks/signing-secrets.ts';
import { findDelivery, recordDeliveryAttempt } from '../../../src/tasks/callbacks/deliveries.ts';
import { taskEventId } from '../../../src/tasks/end/task-end-event-and-delivery-ids.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { assertRefused } from '../../support/service/http-client.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { OutboundError } from '../../../src/platform/outbound/outbound-error.ts';
import { askWith, dataOf } from '../../support/service/operator-key.ts';
import type { ReceiverErrorKind } from '../../../src/tasks/callbacks/receiver-error.ts';
import { newPerson } from '../../support/service/person.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';

let service: HttpService;
let answerOf: () => Promise<number | ReceiverErrorKind> = () => Promise.resolve(204);
const tests: object[] = [];
before(async () => {
  service = await startHttpService({
    testCallback: (sent) => {
      tests.push(sent);
      return answerOf();
    },
    refuseCallbackUrl: (url) => (url.includes('10.0.0.1') ? 'must not be a private address' : undefined),
  });
});
after(() => service.close());

const url = 'https://receiver.example/events';
const types = ['task.succeeded', 'task.cancelled', 'balance.low'] as const;
const endpoint = { url, types };

async function newClient(given: readonly Scope[] = scopes) {
  const { accountId, key } = await service.newAccount(100_000, given);
  const send = askWith(service, key);
  return {
    accountId,
    get: (path: string, query: Readonly<Record<string, string>> = {}) =>
      send('GET', `/api/v1/events${path}`, { query }),
    post: (path: string, body: object = {}) => send('POST', `/api/v1/events${path}`, { body }),
  };
}

type Client = Awaited<ReturnType<typeof newClient>>;

/** An account with an endpoint, and the event of a task that ended. */
async function withEvent(): Promise<Client & { readonly taskId: string; readonly eventId: string }> {
  const client = await newClient();
  await dataOf(client.post('/endpoint', endpoint));
  return { ...client, ...(await cancelledTask(client)) };
}

async function cancelledTask({ accountId }: Client) {
  const { db } = service.database;
  const taskId = await acceptTestTask(db, accountId, taskParam('events'));
  await failAndRefund(db, taskId, { failCode: 'cancelled', failMsg: 'Cancelled.' });
  return { taskId, eventId: taskEventId(taskId) };
}

async function fail(deliveryId: string): Promise<void> {
  const attempt = {
    startedAt: 1_790_000_000_000,
    durationMs: 7,
    status: 500,
    error: undefined,
    responseHead: undefined,
  };
  const newState = { state: 'failed', dueAt: 1_790_000_000_000 } as const;
  await recordDeliveryAttempt(service.database.db, { delivery: { deliveryId, redeliveries: 0 }, attempt, newState });
}

test('200 an endpoint is set, replaced, shown and removed', async () => {
  const { get, post } = await newClient();
  assert.deepEqual(await dataOf(get('/endpoint')), { endpoint: null });
  assert.deepEqual(await dataOf(post('/endpoint', endpoint)), { endpoint });
  assert.deepEqual(await dataOf(get('/endpoint')), { endpoint });
  const next = { url: `${url}/2`, types: ['task.failed'] };
  await dataOf(post('/endpoint', { url: next.url, types: ['task.failed', 'task.failed'] }));
  assert.deepEqual(await dataOf(get('/endpoint')), { endpoint: next });
  assert.deepEqual(await dataOf(post('/endpoint/remove')), { endpoint: null });
  assert.deepEqual(await dataOf(get('/endpoint')), { endpoint: null });
  assertRefused(await post('/endpoint/remove'), 404, /no event endpoint/);
});

for (const [body, message] of [
  [{ types }, /url: is required/],
  [{ ...endpoint, url: 'ftp://x' }, /url: must be an http or https URL/],
  [{ ...endpoint, url: 'http://10.0.0.1/' }, /url: must not be a private address/],
  [{ url }, /types: is required/],
  [{ url, types: [] }, /types: must be a list of task.succeeded/],
  [{ url, types: ['task.lost'] }, /types\[0\]: must be one of task.succeeded/],
  [{ ...endpoint, lowBalance: 500 }, /lowBalance: unknown field/],
] as const) {
  test(`422 an endpoint ${JSON.stringify(body)}`, async () => {
    const { status, json } = await (await newClient()).post('/endpoint', body);
    assert.equal(status, 422);
    assert.match(json.msg, message);
  });
}

test('403 an endpoint receives the results of all keys, so the scopes of ordinary keys and members do not set it', async () => {
  const client = await newClient(['tasks:read', 'tasks:write', 'credits:read']);
  for (const path of ['/endpoint', '/endpoint/remove', '/secret', '/secret/rotate']) {
    assertRefused(await client.post(path, endpoint), 403, /callbacks:secret/);
  }
  const member = await newPerson(service, { roles: { [client.accountId]: 'member' } });
  const answer = await member.ask('POST', '/api/v1/events/endpoint', { accountId: client.accountId, body: endpoint });
  assertRefused(answer, 403, /your role in this account lacks the scope/);
  const owner = await newPerson(service, { roles: { [client.accountId]: 'owner' } });
  const set = await owner.ask('POST', '/api/v1/events/endpoint', { accountId: client.accountId, body: endpoint });
  assert.equal(set.status, 200);
});

test('200 events are listed with their attempts, newest first, by type and state, page by page, apart from callbacks', async () => {
  const client = await withEvent();
  const { accountId, get, eventId, taskId } = client;
  await fail(eventId);
  const later = await cancelledTask(client);
  await setLowBalanceThreshold(service.database.db, accountId, 500);
  const text = 'update accounts set balance = 499 where id = $1';
  await service.database.db.run({ name: 'test-spend', text }, [accountId]);
  const { events } = await dataOf(get('', { type: 'task.cancelled', state: 'failed' }));
  assert.ok(Array.isArray(events) && events.length === 1);
  const { createTime, completeTime, ...event } = events[0] as Record<string, unknown>;
  assert.ok(typeof createTime === 'number' && typeof completeTime === 'number');
  const attempt = { attempt: 1, startTime: 1_790_000_000_000, status: 500, durationMs: 7, error: null };
  assert.deepEqual(event, {
    eventId,
    type: 'task.cancelled',
    taskId,
    webhookId: `msg_${eventId.replaceAll('-', '')}`,
    url,
    state: 'failed',
    nextAttemptTime: null,
    attempts: [attempt],
  });
  const seen: unknown[] = [];
  for (let cursor: unknown; cursor !== null;) {
    const page = await dataOf(get('', { limit: '1', ...(typeof cursor === 'string' && { cursor }) }));
    assert.ok(Array.isArray(page['events']));
    seen.push(...page['events'].map(({ type, taskId: about }: Record<string, unknown>) => [type, about]));
    cursor = page['nextCursor'];
  }
  assert.deepEqual(seen, [
    ['balance.low', null],
    ['task.cancelled', later.taskId],
    ['task.cancelled', taskId],
  ]);
  const key = { authorization: `Bearer ${(await newKeyOf(accountId)).key}` };
  const callbacks = await service.send('GET', '/api/v1/callbacks', { headers: key });
  assert.deepEqual(callbacks.json.data, { callbacks: [], nextCursor: null });
});

async function newKeyOf(accountId: string) {
  return (
    (await createKeyUnchecked(service.database.db, { accountId, name: 'b', scopes: ['tasks:read'] })) ?? assert.fail()
  );
}

test('200 an event is sent again to the present endpoint, with the same webhook-id', async () => {
  const { accountId, post, eventId } = await withEvent();
  await fail(eventId);
  await dataOf(post('/endpoint', { ...endpoint, url: `${url}/moved` }));
  const webhookId = `msg_${eventId.replaceAll('-', '')}`;
  assert.deepEqual(await dataOf(post('/redeliver', { eventId })), { eventId, webhookId });
  assert.deepEqual(service.redelivered.at(-1), { deliveryId: eventId, accountId });
  const delivery = await findDelivery(service.database.db, eventId);
  assert.deepEqual([delivery?.state, delivery?.redeliveries, delivery?.url], ['pending', 1, `${url}/moved`]);
});

test('200 all failed events since a time are sent again', async () => {
  const client = await withEvent();
  const delivered = await cancelledTask(client);
  await fail(client.eventId);
  assert.deepEqual(await dataOf(client.post('/redeliver-failed', { since: Date.now() + 60_000 })), {
    redelivered: 0,
    hasMore: false,
  });
  const sent = service.redelivered.length;
  const answer = await dataOf(client.post('/redeliver-failed', { since: Date.now() - 60_000 }));
  assert.deepEqual(answer, { redelivered: 1, hasMore: false });
  assert.deepEqual(
    service.redelivered.slice(sent).map(({ deliveryId }) => deliveryId),
    [client.eventId],
  );
  assert.equal((await findDelivery(service.database.db, delivered.eventId))?.redeliveries, 0);
});

test('404 unknown events, those of another account and those of an account without an endpoint are not sent again', async () => {
  const [mine, other] = [await withEvent(), await withEvent()];
  for (const eventId of [other.eventId, uuidv7(), 'x', mine.taskId]) {
    assertRefused(await mine.post('/redeliver', { eventId }), 404, /event not found/);
  }
  await dataOf(mine.post('/endpoint/remove'));
  assertRefused(await mine.post('/redeliver', { eventId: mine.eventId }), 404, /no event endpoint/);
  assertRefused(await mine.post('/redeliver-failed', { since: 0 }), 404, /no event endpoint/);
  assert.ok(service.redelivered.every(({ deliveryId }) => ![mine.eventId, other.eventId].includes(deliveryId)));
});

test('pending events go to a new URL, and fail with the removal of the endpoint', async () => {
  const { post, eventId } = await withEvent();
  await dataOf(post('/endpoint', { ...endpoint, url: `${url}/moved` }));
  const moved = await findDelivery(service.database.db, eventId);
  assert.deepEqual([moved?.state, moved?.url], ['pending', `${url}/moved`]);
  await dataOf(post('/endpoint/remove'));
  assert.equal((await findDelivery(service.database.db, eventId))?.state, 'failed');
});

test('200 then 409: the event secret is shown once, is not that of callbacks, and is rotated on its own', async () => {
  const { accountId, post } = await newClient();
  const { secret } = await dataOf(post('/secret'));
  assert.match(String(secret), /^whsec_[A-Za-z0-9+/]{43}=$/);
  assertRefused(await post('/secret'), 409, /event secret was already shown/);
  const ofCallbacks = await revealSecretOnce(service.database.db, service.deps.box, accountId, 'callback');
  assert.notEqual(ofCallbacks, secret);
  const rotated = await dataOf(post('/secret/rotate', { overlapSeconds: 60 }));
  assert.equal(rotated['overlapSeconds'], 60);
  assert.notEqual(rotated['secret'], secret);
  const text = 'select purpose, expires_at is null as current from callback_secrets where account_id = $1 order by id';
  assert.deepEqual(await service.database.db.run({ name: 'test-secrets', text }, [accountId]), [
    { purpose: 'event', current: false },
    { purpose: 'callback', current: true },
    { purpose: 'event', current: true },
  ]);
});

test('200 a test event of each type is sent to the endpoint; 404 without one; 409 while another test runs', async () => {
  const { accountId, post } = await newClient();
  assertRefused(await post('/test'), 404, /no event endpoint/);
  await dataOf(post('/endpoint', endpoint));
  const outcome = { webhookId: `msg_${'0'.repeat(32)}`, status: 204, error: null, delivered: true };
  assert.deepEqual(await dataOf(post('/test')), outcome);
  assert.deepEqual(tests.at(-1), { accountId, url, dialect: 'native', event: 'task.succeeded' });
  assert.deepEqual(await dataOf(post('/test', { type: 'balance.low' })), outcome);
  assert.deepEqual(tests.at(-1), { accountId, url, dialect: 'native', event: 'balance.low' });
  let release: (status: number) => void = () => {};
  const called = new Promise<void>((resolve) => {
    answerOf = () => {
      resolve();
      return new Promise((answer) => {
        release = answer;
      });
    };
  });
  const first = post('/test');
  await called;
  assertRefused(await post('/test'), 409, /test of this account is already running/);
  release(500);
  assert.deepEqual(await dataOf(first), { ...outcome, status: 500, delivered: false });
  answerOf = () => Promise.resolve(308);
  const redirected = { ...outcome, status: 308, delivered: false, error: 'redirected' };
  assert.deepEqual(await dataOf(post('/test')), redirected, 'redirects are not followed');
  for (const [status, delivered, error] of [
    [199, false, null],
    [200, true, null],
    [299, true, null],
    [300, false, 'redirected'],
  ] as const) {
    answerOf = () => Promise.resolve(status);
    assert.deepEqual(await dataOf(post('/test')), { ...outcome, status, delivered, error });
  }
});

test('503 a test event for a host that other accounts are testing', async () => {
  const { post } = await newClient();
  await dataOf(post('/endpoint', endpoint));
  answerOf = () => Promise.reject(new OutboundError('busy', 'receiver.example'));
  assertRefused(await post('/test'), 503, /too many tests are running/);
});

test('403 a suspended account tests nothing; 409 a closed one changes nothing', async () => {
  const { accountId, post } = await newClient();
  const run = (name: string, text: string) => service.database.db.run({ name, text }, [accountId]);
  await run('test-close', 'update accounts set closed_at = now() where id = $1');
  for (const [path, body] of [
    ['/endpoint', endpoint],
    ['/endpoint/remove', {}],
    ['/secret/rotate', {}],
  ] as const) {
    assertRefused(await post(path, body), 409, /is closed for good/);
  }
  await run('test-suspend', 'update accounts set suspended_at = now() where id = $1');
  assertRefused(await post('/test'), 403, /suspended/);
});

test('no secret is ever logged', () => {
  assert.ok(service.log.length > 0);
  assert.doesNotMatch(JSON.stringify(service.log), /whsec_/);
});
