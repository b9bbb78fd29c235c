import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import type { NewTask } from '../../../src/tasks/accept/acceptance-contract.ts';
import {
  lockAndAnswerWithEarlierTask,
  findTaskToAnswerAttempt,
  findTaskByAttemptId,
  hasAttemptNotFailed,
  mayRepeatWithoutKey,
  recordAttemptThatCreatedTask,
  recordFailedAttempt,
  recordTasksSeen,
} from '../../../src/tasks/accept/answer-repeated-creates.ts';
import { ago, failedAgo, insertRow, insertTask, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { taskParam } from '../../support/tasks/tasks.ts';

let database: TestDatabase;
let accountId: string;
let otherAccountId: string;
let keyId: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'own', credits: 0 });
  otherAccountId = await createAccount(database.db, { name: 'other', credits: 0 });
  keyId = (await createKeyUnchecked(database.db, { accountId, name: 'key', scopes: [] }))?.keyId ?? assert.fail();
});
after(() => database.close());

const hash = Buffer.alloc(32, 1);
const [userId, otherId] = [randomUUID(), randomUUID()];
const minuteMs = 60_000;
type Row = Readonly<Record<string, unknown>>;
const success = { state: 'success', result: '{}' };

/** An attempt of the key at the request. */
function attemptOf(attempt: NewTask['attempt'], changes: Partial<NewTask> = {}): NewTask {
  const by = { kind: 'key', keyId } as const;
  const terms = { param: taskParam('a boat'), listedPrices: [], deadlineMs: 1 };
  return { taskId: randomUUID(), accountId, by, requestSha256: hash, ...terms, attempt, ...changes };
}

/** A task of the key and the request, unless `row` says otherwise. */
const newTask = (db: Database, row: Row = {}, of = accountId) =>
  insertTask(db, of, { key_id: keyId, request_sha256: hash, ...row });

/** A task that an attempt of this number has created, and others of these numbers were answered with. */
async function countedTask(
  db: Database,
  first: number | null,
  later: readonly number[] = [],
  row: Row = {},
  isRead = false,
) {
  const taskId = await newTask(db, row);
  if (first !== null)
    await insertRow(db, 'create_attempts', { attempt_id: taskId, task_id: taskId, number: first, is_read: isRead });
  for (const number of later)
    await insertRow(db, 'create_attempts', { attempt_id: randomUUID(), task_id: taskId, number });
  return taskId;
}

const answerTo = async (db: Database, attempt: NewTask['attempt'], changes: Partial<NewTask> = {}) =>
  (await findTaskToAnswerAttempt(db, attemptOf(attempt, changes)))?.taskId;

test('a create is an attempt of others if its client repeats it, and without an Idempotency-Key', () => {
  for (const [attempt, idempotencyKey, expected] of [
    [0, undefined, true],
    ['merged', undefined, true],
    [undefined, undefined, false],
    [0, 'key', false],
  ] as const)
    assert.equal(mayRepeatWithoutKey(attemptOf(attempt, { idempotencyKey })), expected);
});

for (const [what, row, account, merged, running] of [
  ['the same', {}, 'own', true, true],
  ['one that has succeeded', { ...success, completed_at: ago(0) }, 'own', true, true],
  ['one that has failed', failedAgo(0), 'own', false, false],
  ['one of another request', { request_sha256: Buffer.alloc(32, 2) }, 'own', false, false],
  ['one of another key', { key_id: otherId }, 'own', false, false],
  ['one of a person', { key_id: null, user_id: userId }, 'own', false, false],
  ['one by hand', { key_id: null }, 'own', false, false],
  ['one of another account', {}, 'other', false, false],
  ['one of less than a minute ago', { created_at: ago(minuteMs - 1) }, 'own', true, true],
  ['one of a minute ago', { created_at: ago(minuteMs) }, 'own', false, true],
  ['one that ended less than a minute ago', { ...success, completed_at: ago(minuteMs - 1) }, 'own', true, true],
  ['one that ended a minute ago', { ...success, completed_at: ago(minuteMs) }, 'own', true, false],
] as const) {
  test(`a create is answered with ${what}, or not: merged ${merged}, running ${running}`, () =>
    rolledBack(database.db, async (db) => {
      const taskId = await newTask(db, row, account === 'own' ? accountId : otherAccountId);
      const answers = [await answerTo(db, 'merged'), await answerTo(db, 'running'), await answerTo(db, 1)];
      const answer = (is: boolean) => (is ? taskId : undefined);
      assert.deepEqual(answers, [answer(merged), answer(running), answer(merged)]);
    }));
}

test('the window of a client counts, and a person finds their own task', () =>
  rolledBack(database.db, async (db) => {
    const [old, ofPerson] = [
      await newTask(db, { created_at: ago(5 * minuteMs) }),
      await newTask(db, { key_id: null, user_id: userId }),
    ];
    assert.equal(await answerTo(db, 'merged', { repeatWindowMs: 5 * minuteMs + 1 }), old);
    assert.equal(await answerTo(db, 'merged', { repeatWindowMs: 5 * minuteMs }), undefined);
    for (const [of, expected] of [
      [userId, ofPerson],
      [otherId, undefined],
    ] as const)
      assert.equal(await answerTo(db, 'merged', { by: { kind: 'person', userId: of } }), expected);
  }));

test('of several tasks the latest is the answer, a running one before one that has succeeded', () =>
  rolledBack(database.db, async (db) => {
    await newTask(db, { ...success, completed_at: ago(9) });
    const succeeded = await newTask(db, { ...success, completed_at: ago(1), created_at: ago(20) });
    assert.equal(await answerTo(db, 'running'), succeeded);
    await newTask(db, { created_at: ago(9) });
    const latest = await newTask(db, { created_at: ago(5) });
    assert.equal(await answerTo(db, 'running'), latest);
    const newest = await newTask(db, { ...success, completed_at: ago(0), created_at: ago(-1) });
    assert.deepEqual([await answerTo(db, 'running'), await answerTo(db, 'merged')], [latest, newest]);
  }));

/** The number of the create, and the numbers of each task: that which created it, null without one, and those that it answered. */
type Numbers = readonly [first: number | null, later?: readonly number[]];
const countedCases: readonly (readonly [string, number, readonly Numbers[], number | undefined])[] = [
  ['a repeat is the task of the first attempt', 1, [[0]], 0],
  ['a first attempt is a task of its own beside another', 0, [[0]], undefined],
  ['a first attempt is that of a repeat which overtook it', 0, [[1]], 0],
  ['a second repeat is the task again', 2, [[0, [1]]], 0],
  ['the same number is another video', 1, [[0, [1]]], undefined],
  ['each video has one attempt of each number', 1, [[0, [1]], [0]], 1],
  ['a task of a client that does not count is one of a first attempt', 0, [[null]], undefined],
  ['a repeat may be of a client that did not count', 1, [[null]], 0],
  [
    'the closest attempts before are preferred',
    3,
    [
      [0, [1]],
      [0, [1, 2]],
    ],
    1,
  ],
  ['of equal ones the latest', 1, [[0], [0]], 1],
];

for (const [what, number, tasks, expected] of countedCases) {
  test(`of counted attempts, ${what}`, () =>
    rolledBack(database.db, async (db) => {
      const ids: string[] = [];
      for (const [first, later = []] of tasks)
        ids.push(await countedTask(db, first, later, { created_at: ago(99 - ids.length) }));
      const answer = await answerTo(db, number);
      assert.equal(answer, expected === undefined ? undefined : ids[expected]);
    }));
}

test('a task whose client has read it before the attempt is not its answer, and one that was not read comes first', () =>
  rolledBack(database.db, async (db) => {
    const read = await countedTask(db, 0, [], { created_at: ago(1) }, true);
    assert.equal(await answerTo(db, 1), undefined);
    assert.equal(await answerTo(db, 0), undefined);
    const unread = await countedTask(db, 0, [], { created_at: ago(2) });
    assert.equal(await answerTo(db, 1), unread);
    assert.notEqual(read, unread);
  }));

test('an attempt finds first what it has created or was answered with, however old, unless it has failed', () =>
  rolledBack(database.db, async (db) => {
    const old = { created_at: ago(99 * minuteMs), ...failedAgo(0) };
    await newTask(db);
    for (const attempt of ['merged', 'running', 1] as const) {
      const created = await newTask(db, old);
      assert.equal(await answerTo(db, attempt, { taskId: created }), created);
      const [answered, failed] = [randomUUID(), randomUUID()];
      for (const [id, isFailed] of [
        [answered, false],
        [failed, true],
      ] as const)
        await insertRow(db, 'create_attempts', { attempt_id: id, task_id: created, is_failed: isFailed });
      assert.equal(await answerTo(db, attempt, { taskId: answered }), created);
      assert.notEqual(await answerTo(db, attempt, { taskId: failed }), created);
    }
  }));

test('an answer is recorded with its number for the attempt, and a task with that of its own', () =>
  rolledBack(database.db, async (db) => {
    const taskId = await countedTask(db, 0);
    const repeat = attemptOf(1);
    const answer = { kind: 'replayed', taskId, creditsCharged: 132, state: 'waiting' };
    assert.deepEqual(await lockAndAnswerWithEarlierTask(db, repeat), answer);
    assert.deepEqual(await lockAndAnswerWithEarlierTask(db, { ...repeat, taskId }), answer);
    assert.equal(await lockAndAnswerWithEarlierTask(db, attemptOf(1)), undefined);
    const [counted, uncounted] = [await newTask(db), await newTask(db)];
    await recordAttemptThatCreatedTask(db, attemptOf(7, { taskId: counted }));
    await recordAttemptThatCreatedTask(db, attemptOf('merged', { taskId: uncounted }));
    const text = 'select attempt_id as id, task_id as task, number, is_failed from create_attempts order by number';
    const row = (id: string, task: string, number: number) => ({ id, task, number, is_failed: false });
    assert.deepEqual(await db.run({ name: 'test-attempts', text }), [
      row(taskId, taskId, 0),
      row(repeat.taskId, taskId, 1),
      row(counted, counted, 7),
    ]);
  }));

test('an attempt leads to its task, and a task has an answered attempt until all of them have failed', () =>
  rolledBack(database.db, async (db) => {
    const [taskId, other, repeat] = [await newTask(db), await newTask(db), randomUUID()];
    await insertRow(db, 'create_attempts', { attempt_id: repeat, task_id: taskId });
    const found = { taskId, accountId };
    assert.deepEqual([await findTaskByAttemptId(db, taskId), await findTaskByAttemptId(db, repeat)], [found, found]);
    assert.equal(await findTaskByAttemptId(db, randomUUID()), undefined);
    const answered = async () => [
      (await hasAttemptNotFailed(db, taskId)).isAnswered,
      (await hasAttemptNotFailed(db, other)).isAnswered,
    ];
    const states = [await answered()];
    for (const attemptId of [taskId, repeat]) {
      await recordFailedAttempt(db, attemptId, taskId);
      states.push(await answered());
    }
    assert.deepEqual(states, [
      [true, true],
      [true, true],
      [false, true],
    ]);
  }));

test('a task is seen by the key that created it, if its attempts are counted', () =>
  rolledBack(database.db, async (db) => {
    const seen = await countedTask(db, 0, [1]);
    const ofOther = await countedTask(db, 0, [], { key_id: otherId });
    const unread = await countedTask(db, 0);
    const uncounted = await newTask(db);
    await insertRow(db, 'create_attempts', { attempt_id: uncounted, task_id: uncounted });
    await recordTasksSeen(db, [seen, ofOther, uncounted], keyId);
    const text = 'select attempt_id as id from create_attempts where is_read';
    assert.deepEqual(await db.run({ name: 'test-seen', text }), [{ id: seen }]);
    assert.notEqual(seen, unread);
  }));
