import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createAttemptRecorder } from '../../src/stores/attempt-recorder.ts';
import { type Database, DatabaseAway } from '../../src/stores/database.ts';
import { findDelivery, listDeliveryAttempts, type MadeAttempt } from '../../src/stores/deliveries.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { owedCallback } from '../support/owed-callback.ts';
import { createTestAccount } from '../support/service.ts';

let database: TestDatabase;
let accountId: string;
before(async () => {
  database = await createTestDatabase();
  ({ accountId } = await createTestAccount(database, 100_000));
});
after(() => database.close());

const newTask = async () => (await owedCallback(database.db, accountId, 'http://receiver.example/')).taskId;

function made(
  taskId: string,
  status: number | undefined,
  state: MadeAttempt['verdict']['state'],
  round = 1,
): MadeAttempt {
  const error = status === undefined ? 'refused, "quoted", {braced} and \\' : undefined;
  const responseHead = status === undefined ? undefined : Buffer.from([0, 255, status % 256]);
  const attempt = { startedAt: 1_790_000_000_123, durationMs: status ?? 0, status, error, responseHead };
  return { delivery: { taskId, round }, attempt, verdict: { state, dueAt: 1_790_000_020_456 } };
}

function counted(fail?: (statement: string) => Error | undefined): { db: Database; sizes: number[] } {
  const sizes: number[] = [];
  const run: Database['run'] = async (statement, values) => {
    const [taskIds] = values ?? [];
    sizes.push(Array.isArray(taskIds) ? taskIds.length : 0);
    const error = fail?.(statement.name);
    if (error !== undefined) throw error;
    return database.db.run(statement, values);
  };
  return { sizes, db: { ...database.db, run } };
}

const outcomeOf = async (taskId: string) => {
  const { state, dueAt, finishedAt } = (await findDelivery(database.db, taskId)) ?? assert.fail();
  const attempts = (await listDeliveryAttempts(database.db, taskId)).map(({ attempt, status }) => [attempt, status]);
  return { state, dueAt, isFinished: finishedAt !== undefined, attempts };
};
const dueAt = 1_790_000_020_456;

test('attempts that end at the same time are recorded by one statement, each with its own outcome', async () => {
  const tasks = [await newTask(), await newTask(), await newTask(), await newTask()] as const;
  const { db, sizes } = counted();
  const record = createAttemptRecorder(db);
  const all = [made(tasks[0], 204, 'delivered'), made(tasks[1], 500, 'pending'), made(tasks[2], 410, 'gone')];
  await Promise.all([...all, made(tasks[3], undefined, 'failed')].map(record));
  assert.deepEqual(sizes, [4]);
  assert.deepEqual(await Promise.all(tasks.map(outcomeOf)), [
    { state: 'delivered', dueAt, isFinished: true, attempts: [[1, 204]] },
    { state: 'pending', dueAt, isFinished: false, attempts: [[1, 500]] },
    { state: 'gone', dueAt, isFinished: true, attempts: [[1, 410]] },
    { state: 'failed', dueAt, isFinished: true, attempts: [[1, undefined]] },
  ]);
  const [refused] = await listDeliveryAttempts(database.db, tasks[3]);
  assert.deepEqual(refused, { attempt: 1, ...made(tasks[3], undefined, 'failed').attempt });
  const [bytes] = await listDeliveryAttempts(database.db, tasks[1]);
  assert.deepEqual(bytes, { attempt: 1, ...made(tasks[1], 500, 'pending').attempt });
});

test('two attempts of one task at the same time are numbered one after the other, and the first end stays', async () => {
  const [taskId, another] = [await newTask(), await newTask()];
  const { db, sizes } = counted();
  const record = createAttemptRecorder(db);
  await Promise.all(
    [made(taskId, 204, 'delivered'), made(another, 500, 'pending'), made(taskId, 500, 'pending')].map(record),
  );
  assert.deepEqual(sizes, [2, 1]);
  assert.deepEqual(await outcomeOf(taskId), {
    state: 'delivered',
    dueAt,
    isFinished: true,
    attempts: [
      [2, 500],
      [1, 204],
    ],
  });
});

test('an attempt of an earlier round is logged and ends nothing, whoever it is recorded with', async () => {
  const [stale, good] = [await newTask(), await newTask()];
  await Promise.all(
    [made(stale, 204, 'delivered', 7), made(good, 204, 'delivered')].map(createAttemptRecorder(database.db)),
  );
  const { state, attempts } = await outcomeOf(stale);
  assert.deepEqual([state, attempts], ['pending', [[1, 204]]]);
  assert.equal((await outcomeOf(good)).state, 'delivered');
});

test('one that cannot be recorded is the only one that is not', async () => {
  const [one, other] = [await newTask(), await newTask()];
  const { db, sizes } = counted();
  const record = createAttemptRecorder(db);
  const unknown = made(randomUUID(), 204, 'delivered');
  const outcomes = await Promise.allSettled(
    [made(one, 204, 'delivered'), unknown, made(other, 204, 'delivered')].map(record),
  );
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  assert.deepEqual(sizes, [3, 1, 1, 1]);
  for (const taskId of [one, other]) assert.deepEqual((await outcomeOf(taskId)).attempts, [[1, 204]]);
});

test('a database that is away is not asked once more for each of them', async () => {
  const taskId = await newTask();
  const { db, sizes } = counted(() => new DatabaseAway(false, undefined));
  const record = createAttemptRecorder(db);
  const outcomes = await Promise.allSettled(
    [made(taskId, 204, 'delivered'), made(await newTask(), 500, 'pending')].map(record),
  );
  assert.ok(outcomes.every((outcome) => outcome.status === 'rejected' && outcome.reason instanceof DatabaseAway));
  assert.deepEqual(sizes, [2]);
});
