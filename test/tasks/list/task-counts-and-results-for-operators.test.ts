import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import { createUser } from '../../../src/accounts/people/users.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import type { StatementRunner } from '../../../src/platform/database/declare-statements.ts';
import { readNumberedPage } from '../../../src/tasks/list/numbered-task-pages.ts';
import {
  countEndedTasks,
  listInvalidResults,
  listStoredResults,
} from '../../../src/tasks/list/task-counts-and-results-for-operators.ts';
import { listKnownTasks } from '../../../src/tasks/task-rows.ts';
import { countOwnTasksAhead } from '../../../src/tasks/list/own-tasks-ahead.ts';
import { findTaskCreator } from '../../../src/tasks/list/task-creator.ts';
import { listTasksWithContent } from '../../../src/tasks/list/task-list.ts';
import { ago, failedAgo, insertTask, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
let accountId: string;
let otherAccountId: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'tasks', credits: 0 });
  otherAccountId = await createAccount(database.db, { name: 'others', credits: 0 });
});
after(() => database.close());

const dayMs = 86_400_000;
const success = (ms: number, videoKey = 'v') => ({
  state: 'success',
  result: JSON.stringify({ videoKey }),
  completed_at: ago(ms),
});
const newTask = (db: StatementRunner, row: Readonly<Record<string, unknown>> = {}) => insertTask(db, accountId, row);

test('ended tasks are counted by state and code since a time, with what was refunded', () =>
  rolledBack(database.db, async (db) => {
    const since = Date.parse('2026-01-05T00:00:00Z');
    const endedAt = (ms: number) => ({ completed_at: new Date(since + ms) });
    for (const row of [
      { ...success(0), ...endedAt(0) },
      { ...success(0), ...endedAt(5), credits_refunded: 2 },
      { ...success(0), ...endedAt(-1) },
      { ...failedAgo(0), ...endedAt(0) },
      { ...failedAgo(0, 'timeout'), ...endedAt(0) },
      failedAgo(0, 'timeout'),
      failedAgo(-1, 'timeout'),
      {},
    ])
      await newTask(db, row);
    assert.deepEqual(await countEndedTasks(db, since), [
      { state: 'fail', failCode: 'internal', tasks: 1, creditsRefunded: 132 },
      { state: 'fail', failCode: 'timeout', tasks: 2, creditsRefunded: 264 },
      { state: 'success', failCode: undefined, tasks: 2, creditsRefunded: 2 },
    ]);
  }));

test('models whose videos were not usable in the last week are listed with their latest reason, the worst first', () =>
  rolledBack(database.db, async (db) => {
    const short = (model: string, ageMs: number, failMsg = 'a reason') => ({
      ...failedAgo(0, 'result_invalid'),
      model,
      created_at: ago(ageMs),
      fail_msg: failMsg,
    });
    for (const row of [
      short('a', 1, 'the latest'),
      short('a', 2),
      short('b', 9),
      short('b', 3, 'the last'),
      short('b', 7 * dayMs - 1),
      short('c', 7 * dayMs),
      { ...failedAgo(0), model: 'd' },
      { ...success(0), model: 'd' },
    ])
      await newTask(db, row);
    assert.deepEqual(await listInvalidResults(db), [
      { model: 'b', tasks: 3, failMsg: 'the last' },
      { model: 'a', tasks: 2, failMsg: 'the latest' },
    ]);
  }));

test('stored videos are those of successful tasks that were not deleted, the oldest first, in pages', () =>
  rolledBack(database.db, async (db) => {
    const [second, first] = [await newTask(db, success(5, 'v2')), await newTask(db, success(9, 'v1'))];
    for (const row of [{ ...success(7), media_deleted_at: ago(0) }, failedAgo(7), {}]) await newTask(db, row);
    const [one, two] = [
      { taskId: first, accountId, creditsCharged: 132, videoKey: 'v1' },
      { taskId: second, accountId, creditsCharged: 132, videoKey: 'v2' },
    ];
    assert.deepEqual(await listStoredResults(db, undefined, 9), [one, two]);
    assert.deepEqual(await listStoredResults(db, undefined, 1), [one]);
    assert.deepEqual(await listStoredResults(db, first, 9), [two]);
    assert.deepEqual(await listKnownTasks(db, [second, randomUUID()]), [{ taskId: second }]);
  }));

test('the maker of a task is its key or its person, also after they are gone, and none for a task by hand', () =>
  rolledBack(database.db, async (db) => {
    const { userId } = await createUser(db, { email: 'a@example.com', passwordHash: undefined, isOperator: false });
    const keyId = (await createKeyUnchecked(db, { accountId, name: 'renders', scopes: [] }))?.keyId ?? assert.fail();
    const gone = randomUUID();
    for (const [row, createdBy] of [
      [{ key_id: keyId }, { kind: 'key', id: keyId, name: 'renders' }],
      [{ key_id: gone }, { kind: 'key', id: gone, name: null }],
      [{ user_id: userId }, { kind: 'person', id: userId, name: 'a@example.com' }],
      [{ user_id: gone }, { kind: 'person', id: gone, name: 'erased user' }],
      [{}, undefined],
    ] as const)
      assert.deepEqual(await findTaskCreator(db, await newTask(db, row)), { createdBy });
  }));

test('the tasks ahead of a task are those of its account that were created before it and do not generate yet', () =>
  rolledBack(database.db, async (db) => {
    const created = (ms: number, state = 'waiting') => ({ created_at: ago(ms), state });
    for (const row of [
      created(9),
      created(8, 'queuing'),
      created(8, 'generating'),
      created(3),
      { ...failedAgo(0), created_at: ago(9) },
    ])
      await newTask(db, row);
    await insertTask(db, otherAccountId, created(9));
    assert.deepEqual(await countOwnTasksAhead(db, await newTask(db, created(5, 'queuing'))), { tasks: 2 });
  }));

test('a numbered page has the tasks of the last week with their content, and the number of all of them', () =>
  rolledBack(database.db, async (db) => {
    const created = (ms: number) => ({ created_at: ago(ms) });
    const ids = [
      await newTask(db, created(1)),
      await newTask(db, { ...created(2), ...failedAgo(0) }),
      await newTask(db, { ...created(3), ...failedAgo(0, 'cancelled'), model: 'other' }),
      await newTask(db, { ...created(7 * dayMs - 1), ...success(0) }),
    ] as const;
    await newTask(db, created(7 * dayMs));
    await newTask(db, { ...created(1), ...failedAgo(0), content_deleted_at: ago(0) });
    await insertTask(db, otherAccountId, created(1));
    const read = async (filter: Partial<Parameters<typeof readNumberedPage>[1]>) => {
      const { total, tasks } = await readNumberedPage(db, { accountId, page: 1, size: 9, ...filter });
      return [total, ...tasks.map(({ taskId }) => ids.indexOf(taskId))];
    };
    assert.deepEqual(await read({}), [4, 0, 1, 2, 3]);
    assert.deepEqual(
      [await read({ size: 3 }), await read({ size: 3, page: 2 })],
      [
        [4, 0, 1, 2],
        [4, 3],
      ],
    );
    assert.deepEqual(await read({ states: ['cancelled'] }), [1, 2]);
    assert.deepEqual(await read({ states: ['fail', 'waiting'] }), [2, 0, 1]);
    assert.deepEqual(await read({ model: 'other' }), [1, 2]);
    assert.deepEqual(await read({ taskIds: [ids[3], ids[0], 'no-uuid'] }), [2, 0, 3]);
    assert.deepEqual(await read({ taskIds: ['no-uuid'] }), [0]);
  }));

test('tasks with their content are listed from either end, from a task of the account on', () =>
  rolledBack(database.db, async (db) => {
    const created = (ms: number) => ({ created_at: ago(ms) });
    const ids = [await newTask(db, created(1)), await newTask(db, created(2)), await newTask(db, created(3))] as const;
    await newTask(db, { ...created(2), ...failedAgo(0), content_deleted_at: ago(0) });
    const foreign = await insertTask(db, otherAccountId, created(2));
    const list = async (order: 'asc' | 'desc', from?: string, limit = 9) =>
      (await listTasksWithContent(db, { accountId, order, after: from, limit })).map(({ taskId }) => taskId);
    assert.deepEqual([await list('desc'), await list('asc')], [ids, ids.toReversed()]);
    assert.deepEqual([await list('desc', ids[1]), await list('asc', ids[1])], [[ids[2]], [ids[0]]]);
    assert.deepEqual([await list('desc', undefined, 1), await list('asc', undefined, 2)], [[ids[0]], [ids[2], ids[1]]]);
    assert.deepEqual([await list('desc', foreign), await list('asc', foreign)], [[], []]);
  }));
