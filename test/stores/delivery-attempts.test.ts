import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import {
  createFirstCallbackSecret,
  listCallbackSecrets,
  rotateCallbackSecret,
} from '../../src/stores/callback-secrets.ts';
import { type Database, DatabaseAway } from '../../src/stores/database.ts';
import { askForRedelivery, findDelivery, listDeliveryAttempts } from '../../src/stores/deliveries.ts';
import { createAttemptRecorder, createCallbackFinder, type MadeAttempt } from '../../src/stores/delivery-attempts.ts';
import { findTask } from '../../src/stores/tasks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { owedCallback } from '../support/owed-callback.ts';
import { createTestAccount } from '../support/service.ts';
import { acceptTestTask, taskParam } from '../support/tasks.ts';

let database: TestDatabase;
let recordersAccountId: string;
before(async () => {
  database = await createTestDatabase();
  recordersAccountId = await newAccount();
});
after(() => database.close());

const newAccount = async () => (await createTestAccount(database, 100_000)).accountId;

/** The database, with the name of each statement and how many values its first array has. */
function counted(fail?: (statement: string) => Error | undefined) {
  const statements: string[] = [];
  const sizes: number[] = [];
  const run: Database['run'] = async (statement, values) => {
    const [first] = values ?? [];
    statements.push(statement.name);
    sizes.push(Array.isArray(first) ? first.length : 0);
    const error = fail?.(statement.name);
    if (error !== undefined) throw error;
    return database.db.run(statement, values);
  };
  const db: Database = { ...database.db, run };
  return { statements, sizes, db };
}

test('callbacks of several accounts that are read at the same time are answered by one statement, each with its own data', async () => {
  const [one, other] = [await newAccount(), await newAccount()];
  const [ones, others] = [
    await owedCallback(database.db, one, 'http://one.example/', 'success'),
    await owedCallback(database.db, other, 'http://other.example/'),
  ];
  await createFirstCallbackSecret(database.db, one, 'sealed for one');
  const { db, statements } = counted();
  const find = createCallbackFinder(db);
  const found = await Promise.all([find(others.taskId), find(randomUUID()), find(ones.taskId), find(ones.taskId)]);
  assert.deepEqual(statements, ['find-callbacks-to-send']);
  for (const [index, { taskId }] of [[0, others] as const, [2, ones] as const, [3, ones] as const]) {
    const { round, state, ...delivery } = (await findDelivery(database.db, taskId)) ?? assert.fail();
    const { url, dialect, accountId } = delivery;
    assert.deepEqual(found[index]?.delivery, { taskId, accountId, url, dialect, state, round });
    assert.deepEqual(found[index]?.task, await findTask(database.db, taskId));
    assert.deepEqual(found[index]?.secrets, await listCallbackSecrets(database.db, accountId));
  }
  assert.equal(found[1], undefined);
  assert.deepEqual(
    found.map((answer) => answer?.secrets.length),
    [0, undefined, 1, 1],
  );
});

test('a task that runs, or that has no callback, has nothing to send', async () => {
  const accountId = await newAccount();
  const find = createCallbackFinder(database.db);
  const running = await acceptTestTask(database.db, accountId, taskParam('a', {}, 'http://receiver.example/'));
  assert.deepEqual([await find(running), await find(randomUUID())], [undefined, undefined]);
});

test('each attempt reads the secrets and the round as they are when it begins', async () => {
  const accountId = await newAccount();
  const { taskId } = await owedCallback(database.db, accountId, 'http://receiver.example/');
  const find = createCallbackFinder(database.db);
  await createFirstCallbackSecret(database.db, accountId, 'first');
  const sealed = async () =>
    (await find(taskId))?.secrets.map((secret) => [secret.sealed, secret.expiresAt !== undefined]);
  assert.deepEqual(await sealed(), [['first', false]]);
  await rotateCallbackSecret(database.db, { accountId, sealed: 'second', overlapSeconds: 60 });
  assert.deepEqual(await sealed(), [
    ['second', false],
    ['first', true],
  ]);
  assert.deepEqual((await find(taskId))?.secrets, await listCallbackSecrets(database.db, accountId));
  await rotateCallbackSecret(database.db, { accountId, sealed: 'third', overlapSeconds: 0 });
  assert.deepEqual(
    await sealed(),
    [
      ['third', false],
      ['first', true],
    ],
    'one whose overlap has ended signs nothing',
  );
  await askForRedelivery(database.db, taskId);
  assert.equal((await find(taskId))?.delivery.round, 2);
});

const newTask = async () => (await owedCallback(database.db, recordersAccountId, 'http://receiver.example/')).taskId;

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

test('an attempt of an earlier round is logged and ends nothing, and does not hold up those recorded with it', async () => {
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

test('an unavailable database is not asked once more for each attempt', async () => {
  const taskId = await newTask();
  const { db, sizes } = counted(() => new DatabaseAway(false, undefined));
  const record = createAttemptRecorder(db);
  const outcomes = await Promise.allSettled(
    [made(taskId, 204, 'delivered'), made(await newTask(), 500, 'pending')].map(record),
  );
  assert.ok(outcomes.every((outcome) => outcome.status === 'rejected' && outcome.reason instanceof DatabaseAway));
  assert.deepEqual(sizes, [2]);
});
