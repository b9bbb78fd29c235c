import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { listOperatorActions } from '../../../src/accounts/operators/audit-log.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import type { StatementRunner } from '../../../src/platform/database/declare-statements.ts';
import {
  type DeliveryState,
  findDelivery,
  findDeliveryAttempt,
  listFailedDeliveries,
  redeliverAs,
  withAttempts,
} from '../../../src/tasks/callbacks/deliveries.ts';
import {
  findEventEndpoint,
  removeEventEndpoint,
  requestEventRedelivery,
  setEventEndpoint,
} from '../../../src/tasks/callbacks/event-endpoint.ts';
import {
  listOwnCallbacks,
  listOwnEvents,
  makeFailedCallbacksPending,
  makeFailedEventsPending,
} from '../../../src/tasks/callbacks/own-deliveries-and-redelivery.ts';
import { ago, failedAgo, insertRow, insertTask, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { shell } from '../../support/service/person.ts';

let database: TestDatabase;
let accountId: string;
let otherAccountId: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'own', credits: 0 });
  otherAccountId = await createAccount(database.db, { name: 'other', credits: 0 });
});
after(() => database.close());

const [secondMs, minuteMs] = [1_000, 60_000];
const url = 'http://old.test/';
type Row = Readonly<Record<string, unknown>>;

async function nowMs(db: StatementRunner): Promise<number> {
  const text = 'select floor(extract(epoch from now()) * 1000)::bigint as at';
  return (await db.run<{ at: number }>({ name: 'test-now-ms', text }))[0]?.at ?? assert.fail();
}

/** The columns of a delivery in a state. */
const ended = (state: DeliveryState, agoMs = 0) => ({ state, finished_at: state === 'pending' ? null : ago(agoMs) });

async function addCallback(db: StatementRunner, row: Row = {}, of = accountId): Promise<string> {
  const id = await insertTask(db, of, failedAgo(0));
  await insertRow(db, 'callback_deliveries', { id, task_id: id, account_id: of, url, ...row });
  return id;
}

async function addEvent(db: StatementRunner, row: Row = {}, of = accountId): Promise<string> {
  const id = randomUUID();
  const about = { id, account_id: of, event: 'balance.low', details: '{}', url };
  await insertRow(db, 'callback_deliveries', { ...about, ...row });
  return id;
}

async function addAttempt(db: StatementRunner, deliveryId: string, row: Row = {}, attempt = 1): Promise<void> {
  const made = { delivery_id: deliveryId, attempt, started_at: ago(0), duration_ms: 5 };
  await insertRow(db, 'callback_attempts', { ...made, ...row });
}

/** The number of each delivery among these. */
const numbers = (ids: readonly string[], found: readonly { readonly deliveryId: string }[]) =>
  found.map(({ deliveryId }) => ids.indexOf(deliveryId));

test('a failure without a response is shown as pending until its attempt could have timed out, and a minute at most', () =>
  rolledBack(database.db, async (db) => {
    const at = await nowMs(db);
    for (const [delivery, attempt, state] of [
      [ended('failed'), { started_at: ago(14 * secondMs) }, 'pending'],
      [ended('failed'), { started_at: ago(16 * secondMs) }, 'failed'],
      [ended('failed', 59 * secondMs), { started_at: ago(0) }, 'pending'],
      [ended('failed', 61 * secondMs), { started_at: ago(0) }, 'failed'],
      [ended('failed'), { status: 500 }, 'failed'],
      [ended('rejected'), {}, 'rejected'],
      [ended('delivered'), {}, 'delivered'],
      [ended('pending'), {}, 'pending'],
    ] as const) {
      const deliveryId = await addCallback(db, delivery);
      await addAttempt(db, deliveryId, attempt);
      const shown: string[] = [];
      for (const one of ['pending', 'failed', 'rejected', 'delivered'] as const) {
        const listed = await listOwnCallbacks(db, { accountId, state: one, limit: 99, nowMs: at });
        if (listed.some((found) => found.deliveryId === deliveryId)) shown.push(one);
      }
      assert.deepEqual(shown, [state], JSON.stringify([delivery, attempt]));
      const redelivered = await makeFailedCallbacksPending(db, { accountId, sinceMs: 0, nowMs: at });
      assert.deepEqual(redelivered, state === 'failed' ? [{ deliveryId }] : []);
    }
  }));

test('callbacks and events are listed apart, by account and type, the latest first, in pages', () =>
  rolledBack(database.db, async (db) => {
    const at = await nowMs(db);
    const created = (ms: number) => ({ created_at: ago(ms) });
    const callbacks = [await addCallback(db, created(1)), await addCallback(db, created(2))] as const;
    const events = [
      await addEvent(db, created(1)),
      await addEvent(db, { ...created(2), event: 'key.cap_reached' }),
      await addEvent(db, created(3)),
    ] as const;
    await addCallback(db, {}, otherAccountId);
    await addEvent(db, {}, otherAccountId);
    const page = { accountId, limit: 9, nowMs: at };
    const all = await listOwnCallbacks(db, page);
    assert.deepEqual(numbers(callbacks, all), [0, 1]);
    const [first] = all;
    assert.deepEqual(numbers(callbacks, await listOwnCallbacks(db, { ...page, limit: 1 })), [0]);
    const cursor = { atUs: first?.atUs ?? 0, id: callbacks[0] };
    assert.deepEqual(numbers(callbacks, await listOwnCallbacks(db, { ...page, after: cursor })), [1]);
    assert.deepEqual(numbers(events, await listOwnEvents(db, page)), [0, 1, 2]);
    assert.deepEqual(numbers(events, await listOwnEvents(db, { ...page, type: 'balance.low' })), [0, 2]);
    assert.deepEqual(await listOwnEvents(db, { ...page, state: 'delivered' }), []);
  }));

test('failed callbacks, and failed events at the present endpoint, are redelivered from a time on, and no others', () =>
  rolledBack(database.db, async (db) => {
    const at = await nowMs(db);
    const since = at - minuteMs;
    const created = (ms: number) => ({ created_at: new Date(since + ms) });
    const add = async (of: string) => [
      await addCallback(db, { ...ended('failed'), ...created(0) }, of),
      await addCallback(db, { ...ended('failed'), ...created(-1) }, of),
      await addCallback(db, { ...ended('rejected'), ...created(0) }, of),
      await addEvent(db, { ...ended('failed'), ...created(0) }, of),
      await addEvent(db, { ...ended('failed'), ...created(-1) }, of),
      await addEvent(db, { ...ended('delivered'), ...created(0) }, of),
    ];
    const [own, others] = [await add(accountId), await add(otherAccountId)];
    const failed = { accountId, sinceMs: since, nowMs: at };
    const states = async (ids: readonly string[]) => {
      const rows: unknown[] = [];
      for (const id of ids) {
        const { state, url: to, redeliveries, finishedAt } = (await findDelivery(db, id)) ?? assert.fail();
        rows.push([state, to, redeliveries, finishedAt !== undefined]);
      }
      return rows;
    };
    const untouched = await states(others);
    const earlier = await states(own);
    assert.deepEqual(await makeFailedEventsPending(db, failed), [], 'without an endpoint');
    await setEventEndpoint(db, accountId, { url: 'http://new.test/', types: [] });
    assert.deepEqual(await states(own), earlier);
    assert.deepEqual(numbers(own, await makeFailedEventsPending(db, failed)), [3]);
    assert.deepEqual(numbers(own, await makeFailedCallbacksPending(db, failed)), [0]);
    const expected = [...earlier];
    expected[0] = ['pending', url, 1, false];
    expected[3] = ['pending', 'http://new.test/', 1, false];
    assert.deepEqual(await states(own), expected);
    assert.deepEqual(await states(others), untouched);
  }));

test('an endpoint is that of one account: its pending events move with it, and fail with its removal', () =>
  rolledBack(database.db, async (db) => {
    const add = async (of: string) => [
      await addEvent(db, ended('pending'), of),
      await addEvent(db, ended('failed'), of),
      await addEvent(db, ended('delivered'), of),
      await addCallback(db, ended('pending'), of),
    ];
    const [own, others] = [await add(accountId), await add(otherAccountId)];
    const states = async (ids: readonly string[]) => {
      const rows: unknown[] = [];
      for (const id of ids) {
        const { state, url: to } = (await findDelivery(db, id)) ?? assert.fail();
        rows.push(`${state} ${to}`);
      }
      return rows;
    };
    const untouched = await states(others);
    const [first, second] = ['http://first.test/', 'http://second.test/'];
    await setEventEndpoint(db, otherAccountId, { url, types: ['task.failed'] });
    await setEventEndpoint(db, accountId, { url: first, types: ['task.failed'] });
    await setEventEndpoint(db, accountId, { url: second, types: ['balance.low', 'task.failed'] });
    const endpoint = { url: second, types: ['balance.low', 'task.failed'] };
    assert.deepEqual(await findEventEndpoint(db, accountId), endpoint);
    const rest = [`failed ${url}`, `delivered ${url}`, `pending ${url}`];
    assert.deepEqual(await states(own), [`pending ${second}`, ...rest]);
    const again = (await requestEventRedelivery(db, accountId, own[1] ?? '')) ?? assert.fail();
    assert.deepEqual([again.deliveryId, again.state, again.url, again.redeliveries], [own[1], 'pending', second, 1]);
    for (const id of [own[3], others[0], randomUUID()])
      assert.equal(await requestEventRedelivery(db, accountId, id ?? ''), undefined);
    assert.deepEqual(
      [await removeEventEndpoint(db, accountId), await removeEventEndpoint(db, accountId)],
      [true, false],
    );
    assert.equal(await findEventEndpoint(db, accountId), undefined);
    assert.deepEqual(await states(own), [`failed ${second}`, `failed ${second}`, ...rest.slice(1)]);
    assert.equal(await requestEventRedelivery(db, accountId, own[1] ?? ''), undefined, 'without an endpoint');
    assert.deepEqual(await states(others), untouched);
    assert.deepEqual(await findEventEndpoint(db, otherAccountId), { url, types: ['task.failed'] });
  }));

test('failed and rejected deliveries of all accounts are listed by their end, the latest first, in pages', () =>
  rolledBack(database.db, async (db) => {
    const ids = [
      await addCallback(db, ended('failed', 1), otherAccountId),
      await addEvent(db, ended('rejected', 2)),
      await addCallback(db, ended('rejected', 3)),
    ];
    for (const state of ['pending', 'delivered'] as const) await addCallback(db, ended(state));
    const all = await listFailedDeliveries(db, { limit: 9 });
    assert.deepEqual(numbers(ids, all), [0, 1, 2]);
    assert.deepEqual(
      all.map(({ accountName }) => accountName),
      ['other', 'own', 'own'],
    );
    const [first] = all;
    const cursor = { atUs: first?.atUs ?? 0, id: first?.deliveryId ?? '' };
    assert.deepEqual(numbers(ids, await listFailedDeliveries(db, { after: cursor, limit: 1 })), [1]);
  }));

test('a delivery has its latest ten attempts in a list, and each can be read with its exchange', () =>
  rolledBack(database.db, async (db) => {
    const [first, second] = [await addCallback(db), await addCallback(db)];
    for (let attempt = 1; attempt <= 11; attempt += 1) await addAttempt(db, first, { status: 500 }, attempt);
    await addAttempt(db, second, { error: 'refused', exchange: '{"a":1}' }, 4);
    const found = [(await findDelivery(db, first)) ?? assert.fail(), (await findDelivery(db, second)) ?? assert.fail()];
    const attempts = (await withAttempts(db, found)).map((one) => one.attempts.map(({ attempt }) => attempt));
    assert.deepEqual(attempts, [[11, 10, 9, 8, 7, 6, 5, 4, 3, 2], [4]]);
    assert.equal((await findDeliveryAttempt(db, first, undefined))?.attempt, 11);
    assert.equal((await findDeliveryAttempt(db, first, 4))?.status, 500);
    assert.equal(await findDeliveryAttempt(db, second, 5), undefined);
    const { startedAt, ...read } = (await findDeliveryAttempt(db, second, 4)) ?? assert.fail();
    assert.ok(startedAt > 0);
    const rest = { durationMs: 5, status: undefined, responseHead: undefined };
    assert.deepEqual(read, { attempt: 4, ...rest, error: 'refused', exchange: { a: 1 } });
  }));

test('a redelivery by an operator is recorded with its number, and that of nothing is not', () =>
  rolledBack(database.db, async (db) => {
    const [taskId, other] = [await addCallback(db, { ...ended('failed'), redeliveries: 2 }), await addCallback(db)];
    const again = (await redeliverAs(db, shell, taskId)) ?? assert.fail();
    assert.deepEqual([again.state, again.redeliveries, again.finishedAt], ['pending', 3, undefined]);
    assert.equal(await redeliverAs(db, shell, randomUUID()), undefined);
    assert.equal((await findDelivery(db, other))?.redeliveries, 0);
    const actions = await listOperatorActions(db, { limit: 9 });
    assert.deepEqual(
      actions.map(({ action, accountId: of, taskId: about, details }) => [action, of, about, details]),
      [['callbacks.redeliver', accountId, taskId, { redeliveries: 3 }]],
    );
  }));
