import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createAccount } from '../../../src/credits/open-account.ts';
import {
  requestRedelivery,
  type Delivery,
  findDelivery,
  listDeliveryAttempts,
  listOverdueDeliveries,
  type OverdueDelivery,
  recordDeliveryAttempt,
} from '../../../src/tasks/callbacks/deliveries.ts';
import { deleteTaskContentInDatabase } from '../../../src/tasks/end/content-deletion-rows.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { assertSince } from '../../support/assert-since.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';

let database: TestDatabase;
let accountId: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'test', credits: 100_000 });
});
after(() => database.close());

async function newDelivery(): Promise<Delivery> {
  const taskId = await acceptTestTask(database.db, accountId, taskParam('x', {}, 'http://receiver.example/'));
  await failAndRefund(database.db, taskId, { failCode: 'cancelled', failMsg: 'Cancelled.' });
  return found(taskId);
}

async function found(taskId: string): Promise<Delivery> {
  const delivery = await findDelivery(database.db, taskId);
  assert.ok(delivery);
  return delivery;
}

const attempt = { startedAt: 1, durationMs: 2, status: 500, error: undefined, responseHead: Buffer.from('no') };
const inAnHour = () => Date.now() + 3_600_000;
const note = (delivery: Delivery, state: Delivery['state'], dueAt = inAnHour()) =>
  recordDeliveryAttempt(database.db, { delivery, attempt, newState: { state, dueAt } });
const overdue = async (minAgeMs: number) =>
  (await listOverdueDeliveries(database.db, { minAgeMs, limit: 1_000 })).map(({ deliveryId }) => deliveryId);

test('a callback is owed from the commit that ends the task, and overdue after some time without an attempt', async () => {
  const { deliveryId, state, redeliveries } = await newDelivery();
  assert.deepEqual([state, redeliveries], ['pending', 0]);
  assert.ok((await overdue(-60_000)).includes(deliveryId));
  assert.ok(!(await overdue(60_000)).includes(deliveryId));
});

test('a delivery that waits for its turn in the schedule is not overdue', async () => {
  const delivery = await newDelivery();
  await note(delivery, 'pending');
  assert.ok(!(await overdue(-60_000)).includes(delivery.deliveryId));
  await note(delivery, 'pending', Date.now() - 61_000);
  assert.ok((await overdue(60_000)).includes(delivery.deliveryId));
});

test('attempts are numbered and the last one ends the delivery', async () => {
  const delivery = await newDelivery();
  await note(delivery, 'pending');
  const sinceMs = Date.now();
  await note(delivery, 'delivered');
  const attempts = await listDeliveryAttempts(database.db, delivery.deliveryId);
  assert.deepEqual(attempts, [
    { attempt: 2, ...attempt },
    { attempt: 1, ...attempt },
  ]);
  const { state, finishedAt } = await found(delivery.deliveryId);
  assert.equal(state, 'delivered');
  assertSince(sinceMs, Number(finishedAt));
});

test('each attempt is stored with all its bytes, and sets the state and the time of its delivery', async () => {
  const refused = { error: 'refused, "quoted", {braced} and \\', status: undefined, responseHead: undefined };
  const answered = { error: undefined, responseHead: Buffer.from([0, 255, 7]) };
  const dueAt = 1_790_000_020_456;
  for (const [state, outcome] of [
    ['delivered', { ...answered, status: 204 }],
    ['pending', { ...answered, status: 500 }],
    ['rejected', { ...answered, status: 410 }],
    ['failed', refused],
  ] as const) {
    const delivery = await newDelivery();
    const made = { startedAt: 1_790_000_000_123, durationMs: 77, ...outcome };
    await recordDeliveryAttempt(database.db, { delivery, attempt: made, newState: { state, dueAt } });
    const ended = await found(delivery.deliveryId);
    assert.deepEqual([ended.state, ended.dueAt, ended.finishedAt !== undefined], [state, dueAt, state !== 'pending']);
    assert.deepEqual(await listDeliveryAttempts(database.db, delivery.deliveryId), [{ attempt: 1, ...made }]);
  }
});

test('attempts of one task at the same time are numbered one after the other, and the end stays', async () => {
  const delivery = await newDelivery();
  await Promise.all([note(delivery, 'delivered'), note(delivery, 'pending'), note(delivery, 'pending')]);
  const numbers = (await listDeliveryAttempts(database.db, delivery.deliveryId)).map(({ attempt: number }) => number);
  assert.deepEqual(numbers, [3, 2, 1]);
  assert.equal((await found(delivery.deliveryId)).state, 'delivered');
});

test('an attempt at a callback that does not exist is not recorded', async () => {
  const delivery = { ...(await newDelivery()), deliveryId: randomUUID() };
  await assert.rejects(note(delivery, 'delivered'), /violates foreign key/);
});

test('an attempt that was under way when a redelivery was requested is logged, but does not end it', async () => {
  const earlier = await newDelivery();
  const requested = await requestRedelivery(database.db, earlier.deliveryId);
  assert.deepEqual([requested?.state, requested?.redeliveries], ['pending', 1]);
  await note(earlier, 'delivered');
  const delivery = await found(earlier.deliveryId);
  assert.deepEqual([delivery.state, delivery.finishedAt], ['pending', undefined]);
  await note(delivery, 'delivered');
  assert.equal((await found(earlier.deliveryId)).state, 'delivered');
  assert.equal((await listDeliveryAttempts(database.db, earlier.deliveryId)).length, 2);
});

for (const state of ['delivered', 'failed', 'rejected'] as const) {
  test(`a delivery that ended as ${state} is owed again when a redelivery is requested, and due immediately`, async () => {
    const delivery = await newDelivery();
    await note(delivery, state);
    assert.ok(!(await overdue(-7_200_000)).includes(delivery.deliveryId));
    await requestRedelivery(database.db, delivery.deliveryId);
    assert.ok((await overdue(-60_000)).includes(delivery.deliveryId));
  });
}

test('a list of overdue callbacks goes on behind its last one, which was tried or deleted meanwhile', async () => {
  const made = [await newDelivery(), await newDelivery(), await newDelivery()];
  const beganAt = Date.now() - 10 * 3_600_000;
  for (const [index, delivery] of made.entries()) await note(delivery, 'pending', beganAt + 1 + index);
  const next = (last: Pick<OverdueDelivery, 'dueAtUs' | 'deliveryId'>) =>
    listOverdueDeliveries(database.db, { minAgeMs: 0, after: last, limit: 1 });
  const [first] = await next({ dueAtUs: beganAt * 1_000, deliveryId: randomUUID() });
  assert.equal(first?.deliveryId, made[0]?.deliveryId);
  await note(made[0] ?? assert.fail(), 'pending');
  const [second] = await next(first ?? assert.fail());
  assert.equal(second?.deliveryId, made[1]?.deliveryId);
  const task = await findTask(database.db, second?.deliveryId ?? '');
  await deleteTaskContentInDatabase(database.db, task ?? assert.fail(), []);
  assert.equal((await next(second ?? assert.fail()))[0]?.deliveryId, made[2]?.deliveryId);
});

test('a task without a callback has nothing to redeliver', async () => {
  const taskId = await acceptTestTask(database.db, accountId, taskParam('x'));
  await failAndRefund(database.db, taskId, { failCode: 'cancelled', failMsg: 'Cancelled.' });
  assert.equal(await requestRedelivery(database.db, taskId), undefined);
});

test('of redeliveries without end the latest hundred attempts are stored, numbered on', async () => {
  const delivery = await newDelivery();
  for (let i = 0; i < 105; i += 1) await note(delivery, 'pending');
  const attempts = await listDeliveryAttempts(database.db, delivery.deliveryId);
  assert.deepEqual([attempts.length, attempts[0]?.attempt, attempts.at(-1)?.attempt], [100, 105, 6]);
});
