import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { v7 as uuidv7 } from 'uuid';
import { createAccount } from '../../../src/credits/open-account.ts';
import { createKeyWithinAllLimits } from '../../../src/accounts/keys/keys.ts';
import { setEventEndpoint } from '../../../src/tasks/callbacks/event-endpoint.ts';
import { setLowBalanceThreshold } from '../../../src/credits/ledger/balance-and-low-balance-threshold.ts';
import { type EventType, eventTypes } from '../../../src/tasks/callbacks/account-event-types-and-body.ts';
import { listOwnEvents } from '../../../src/tasks/callbacks/own-deliveries-and-redelivery.ts';
import { bookCredits } from '../../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { type CapChange, setSpendCaps } from '../../../src/accounts/limits/spend-caps.ts';
import { acceptBatch } from '../../../src/tasks/accept/accept-statement.ts';
import { acceptTaskAlone } from '../../../src/tasks/accept/accept-one-task.ts';
import { defaultConnectionQueueLimits } from '../../../src/platform/database/connection-queue-limits.ts';
import { databaseJoiningTransaction } from '../../../src/platform/database/database.ts';
import type { NewTask, CreatorKeyOrPerson } from '../../../src/tasks/accept/acceptance-contract.ts';
import { createTaskAcceptor } from '../../../src/tasks/accept/accept-in-batches.ts';
import { taskEventId } from '../../../src/tasks/end/task-end-event-and-delivery-ids.ts';
import { completeTask, failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { awayFromMidnight } from '../../support/away-from-midnight.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { listedTerms, madeUpResult, requestOf, taskParam } from '../../support/tasks/tasks.ts';

const price = 132;
const cancelled = { failCode: 'cancelled', failMsg: 'Cancelled.' } as const;
let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(async () => {
  const violations = await auditLedger(database.db);
  await database.close();
  assert.deepEqual(violations, []);
});

type Subscription = { readonly credits: number; readonly lowBalance?: number; readonly types?: readonly EventType[] };

async function subscriber({ credits, lowBalance, types = eventTypes }: Subscription): Promise<string> {
  const accountId = await createAccount(database.db, { name: 'events', credits });
  await setEventEndpoint(database.db, accountId, { url: 'http://receiver.test/', types });
  if (lowBalance !== undefined) await setLowBalanceThreshold(database.db, accountId, lowBalance);
  return accountId;
}

async function newKey(accountId: string, caps?: CapChange): Promise<CreatorKeyOrPerson> {
  const made = await createKeyWithinAllLimits(database.db, { accountId, name: 'a', scopes: ['tasks:write'], caps });
  assert.ok(made.kind === 'made');
  return { kind: 'key', keyId: made.apiKey.keyId };
}

function taskOf(accountId: string, by?: CreatorKeyOrPerson, callBackUrl?: string): NewTask {
  return { taskId: uuidv7(), accountId, by, ...requestOf(taskParam('events', {}, callBackUrl)), ...listedTerms };
}

async function accepted(task: NewTask): Promise<string> {
  const acceptance = await acceptTaskAlone(database.db, task);
  assert.equal(acceptance.kind, 'accepted');
  return task.taskId;
}

/** The types of an account's events, oldest first. */
async function typesOf(accountId: string, type?: EventType): Promise<readonly EventType[]> {
  return (await eventsOf(accountId, type)).map(({ event }) => event);
}

async function eventsOf(accountId: string, type?: EventType) {
  const nowMs = Date.now();
  return (await listOwnEvents(database.db, { accountId, type, limit: 100, nowMs })).toReversed();
}

/** Creates tasks from two processes at the same time. */
async function createAtOnce(count: number, taskFor: () => NewTask): Promise<readonly string[]> {
  // No create is refused because the machine is slow.
  const limits = { ...defaultConnectionQueueLimits, waitMs: 180_000 };
  const processes = [createTaskAcceptor(database.db, limits), createTaskAcceptor(database.db, limits)];
  const answers = await Promise.all(
    Array.from({ length: count }, (_, index) => (processes[index % 2] ?? assert.fail())(taskFor())),
  );
  return answers.map(({ kind }) => kind);
}

test('100 concurrent creates from two processes that take the balance below the threshold are one event', async () => {
  const accountId = await subscriber({ credits: 100 * price, lowBalance: 50 * price });
  const kinds = await createAtOnce(100, () => taskOf(accountId));
  assert.ok(kinds.every((kind) => kind === 'accepted'));
  const events = await eventsOf(accountId);
  assert.deepEqual(
    events.map(({ event, state, taskId }) => [event, state, taskId]),
    [['balance.low', 'pending', undefined]],
  );
  const { balance, lowBalance } = events[0]?.details ?? assert.fail();
  assert.equal(lowBalance, 50 * price);
  assert.ok(Number(balance) < 50 * price, 'a batch may go far below it');
});

test('one statement that accepts many tasks crosses the threshold once', async () => {
  const accountId = await subscriber({ credits: 10 * price, lowBalance: 5 * price });
  const tasks = Array.from({ length: 10 }, () => taskOf(accountId));
  await acceptBatch(database.db, tasks, { waits: true });
  const events = await eventsOf(accountId);
  assert.deepEqual(
    events.map(({ details }) => details),
    [{ balance: 0, lowBalance: 5 * price }],
  );
});

test('a balance is low below its threshold, not at it, and is reported again after it rose above', async () => {
  const accountId = await subscriber({ credits: 3 * price, lowBalance: 2 * price });
  await accepted(taskOf(accountId));
  assert.deepEqual(await typesOf(accountId), [], 'at the threshold');
  const second = await accepted(taskOf(accountId));
  await accepted(taskOf(accountId));
  assert.deepEqual(await typesOf(accountId), ['balance.low'], 'once, however far it falls');
  await failAndRefund(database.db, second, cancelled);
  assert.deepEqual(await typesOf(accountId, 'balance.low'), ['balance.low'], 'it is still below');
  const book = (amount: number) =>
    bookCredits(database.db, { accountId, kind: 'adjustment', amount, reason: 'a test' });
  await book(price);
  await book(-1);
  assert.deepEqual(await typesOf(accountId, 'balance.low'), ['balance.low', 'balance.low']);
});

test('an event is committed with the charge that made it happen, or not at all', async () => {
  const accountId = await subscriber({ credits: price, lowBalance: price });
  const by = await newKey(accountId, { total: price });
  const dying = database.db.transaction(async (run) => {
    const task = taskOf(accountId, by);
    const acceptance = await acceptTaskAlone(databaseJoiningTransaction({ run }), task);
    assert.equal(acceptance.kind, 'accepted');
    const inside = `select event from callback_deliveries where account_id = $1 order by event`;
    assert.deepEqual(await run({ name: 'test-events', text: inside }, [accountId]), [
      { event: 'balance.low' },
      { event: 'key.cap_reached' },
    ]);
    throw new Error('the process stops before the commit');
  });
  await assert.rejects(dying, /before the commit/);
  assert.deepEqual(await typesOf(accountId), []);
  await accepted(taskOf(accountId, by));
  assert.deepEqual([...(await typesOf(accountId))].toSorted(), ['balance.low', 'key.cap_reached']);
});

for (const [what, spare] of [
  ['uses up', 0],
  ['comes so near that creates are refused', 1],
] as const) {
  test(`a cap that 100 concurrent creates from two processes ${what} is one event`, async () => {
    const accountId = await subscriber({ credits: 1_000 * price });
    const by = await newKey(accountId, { total: 20 * price + spare });
    const kinds = await createAtOnce(100, () => taskOf(accountId, by));
    assert.equal(kinds.filter((kind) => kind === 'spend_cap_reached').length, 80);
    const events = await eventsOf(accountId);
    const cap = { subject: 'key', subjectId: by.kind === 'key' && by.keyId, period: 'total' };
    assert.deepEqual(
      events.map(({ event, details }) => [event, details]),
      [['key.cap_reached', { ...cap, cap: 20 * price + spare, spent: 20 * price, resetTime: null }]],
    );
  });
}

test('a reached cap is reported again in its next period, after a refund, and after it was set', async () => {
  await awayFromMidnight();
  const accountId = await subscriber({ credits: 1_000 * price });
  const by = await newKey(accountId, { day: price });
  const refused = async () =>
    assert.equal((await acceptTaskAlone(database.db, taskOf(accountId, by))).kind, 'spend_cap_reached');
  const count = async () => (await typesOf(accountId, 'key.cap_reached')).length;
  await accepted(taskOf(accountId, by));
  await refused();
  assert.equal(await count(), 1);
  await toYesterday(accountId);
  const today = await accepted(taskOf(accountId, by));
  await refused();
  assert.equal(await count(), 2);
  await failAndRefund(database.db, today, cancelled);
  await accepted(taskOf(accountId, by));
  await refused();
  assert.equal(await count(), 3);
  const keyId = by.kind === 'key' ? by.keyId : assert.fail();
  await setSpendCaps(database.db, accountId, { kind: 'key', id: keyId }, { day: price + 1 });
  await refused();
  await refused();
  assert.equal(await count(), 4);
});

/** Moves the period of the account's caps, without the trigger that would take it for a crossing. */
async function toYesterday(accountId: string): Promise<void> {
  const text = `
update spend_caps set period_start = period_start - interval '1 day', reached_in = reached_in - interval '1 day' where account_id = $1`;
  await database.db.transaction(async (run) => {
    await run({ name: 'test-without-triggers', text: 'set local session_replication_role = replica' });
    await run({ name: 'test-age-cap', text }, [accountId]);
  });
}

test('an event without a subscription is not recorded, and does not happen later', async () => {
  const accountId = await subscriber({ credits: 3 * price, lowBalance: 3 * price, types: ['task.failed'] });
  const by = await newKey(accountId, { total: 2 * price });
  const taskId = await accepted(taskOf(accountId, by));
  await accepted(taskOf(accountId, by));
  await completeTask(database.db, taskId, madeUpResult);
  assert.deepEqual(await typesOf(accountId), []);
  await setEventEndpoint(database.db, accountId, { url: 'http://receiver.test/', types: eventTypes });
  await setLowBalanceThreshold(database.db, accountId, price);
  assert.equal((await acceptTaskAlone(database.db, taskOf(accountId, by))).kind, 'spend_cap_reached');
  assert.deepEqual(await typesOf(accountId), []);
});

test('every end of a task is one event with an id of its own, with or without a callback, however often it is repeated', async () => {
  const accountId = await subscriber({ credits: 100 * price });
  const ends = {
    'task.succeeded': (taskId: string) => completeTask(database.db, taskId, madeUpResult),
    'task.failed': (taskId: string) =>
      failAndRefund(database.db, taskId, { failCode: 'timeout', failMsg: 'Too late.' }),
    'task.cancelled': (taskId: string) => failAndRefund(database.db, taskId, cancelled),
  } as const;
  const expected: unknown[] = [];
  for (const type of ['task.succeeded', 'task.failed', 'task.cancelled'] as const) {
    for (const callBackUrl of [undefined, 'http://own.test/']) {
      const taskId = await accepted(taskOf(accountId, undefined, callBackUrl));
      const ended = await Promise.all([ends[type](taskId), ends[type](taskId)]);
      assert.deepEqual(
        ended.map(({ hasEvent, hasCallback }) => [hasEvent, hasCallback]),
        [
          [true, callBackUrl !== undefined],
          [true, callBackUrl !== undefined],
        ],
      );
      expected.push([type, taskEventId(taskId), taskId, 'http://receiver.test/']);
    }
  }
  const events = await eventsOf(accountId);
  assert.deepEqual(
    events.map(({ event, deliveryId, taskId, url }) => [event, deliveryId, taskId, url]),
    expected,
  );
});

test('an account without an event endpoint has no events, and its tasks end as before', async () => {
  const accountId = await createAccount(database.db, { name: 'silent', credits: price });
  const taskId = await accepted(taskOf(accountId));
  const { hasEvent, hasCallback } = await completeTask(database.db, taskId, madeUpResult);
  assert.deepEqual([hasEvent, hasCallback, await typesOf(accountId)], [false, false, []]);
});
