import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { StatementRunner } from '../../../src/platform/database/declare-statements.ts';
import { countTasksByGroup } from '../../../src/tasks/list/count-tasks.ts';
import { parseTaskSearch } from '../../../src/tasks/list/parse-task-search.ts';
import type { CountFilter, TaskFilter } from '../../../src/tasks/list/task-filter.ts';
import { listTasks } from '../../../src/tasks/list/task-list.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { ago, failedAgo, insertRow, insertTask, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

const uuid = (number: number, end = '') => `00000000-0000-4000-8000-${(String(number) + end).padStart(12, '0')}`;
const [one, other, key, unnamedKey, person] = [uuid(901), uuid(902), uuid(903), uuid(904), uuid(905)] as const;
const success = { state: 'success', result: '{"videoKey":"v"}', completed_at: ago(0) };
const param = (prompt: string) => JSON.stringify({ model: 'm', input: { prompt } });

/** The ids of the tasks of `addTasks`. The last two are of the other account. */
const ids = [...[1, 2, 3, 4, 5, 6].map((number) => uuid(number)), uuid(7, 'cafe'), uuid(8)];

/** Adds tasks that each filter tells apart, each a second older than the one before; the third and the fourth have the same age. */
async function addTasks(db: StatementRunner): Promise<void> {
  for (const [id, name] of [
    [one, 'One'],
    [other, 'Other'],
  ])
    await insertRow(db, 'accounts', { id, name });
  const secret = { hash: randomBytes(32), hint: 'hint', scopes: [] };
  await insertRow(db, 'api_keys', { id: key, account_id: one, name: 'a key', ...secret });
  await insertRow(db, 'users', { id: person, email: 'ada@example.com', is_operator: false });
  const rows: readonly Readonly<Record<string, unknown>>[] = [
    { model: 'n', param: param('a red boat') },
    { key_id: key, state: 'queuing' },
    { user_id: person, ...success },
    { key_id: unnamedKey, ...failedAgo(0, 'timeout'), param: param('a red car') },
    { ...failedAgo(0, 'cancelled') },
    { ...failedAgo(0, 'media_invalid') },
    { model: 'n', state: 'generating', param: param('a red boat') },
    { ...failedAgo(0, 'timeout') },
  ];
  for (const [index, row] of rows.entries())
    await insertTask(db, index < 6 ? one : other, {
      id: ids[index],
      created_at: ago((index === 3 ? 2 : index) * 1_000),
      ...row,
    });
  for (const [number, provider] of [
    [1, 'studio'],
    [1, 'studio'],
    [1, 'backup'],
    [7, 'studio'],
  ] as const) {
    const [{ next } = { next: 1 }] = await db.run<{ next: number }>(
      {
        name: 'test-next-ordinal',
        text: 'select 1 + count(*)::int as next from provider_jobs where task_id = $1',
      },
      [ids[number - 1]],
    );
    await insertRow(db, 'provider_jobs', { task_id: ids[number - 1], ordinal: next, provider });
  }
}

async function timeOf(db: StatementRunner, number: number): Promise<number> {
  return (await findTask(db, ids[number - 1] ?? ''))?.createdAt ?? assert.fail();
}

const searchFor = (text: string, searchesPrompts = true) => ({ search: parseTaskSearch(text, { searchesPrompts }) });

/** Filters of lists and of counts, and the numbers of the tasks that they find; of equal ages the greater id comes first. */
const found: readonly (readonly [CountFilter, readonly number[]])[] = [
  [{}, [1, 2, 4, 3, 5, 6, 7, 8]],
  [{ accountId: one }, [1, 2, 4, 3, 5, 6]],
  [{ accountId: other }, [7, 8]],
  [{ model: 'n' }, [1, 7]],
  [{ model: 'n', accountId: one }, [1]],
  [{ createdBy: key }, [2]],
  [{ createdBy: person }, [3]],
  [{ createdBy: one }, []],
  [{ provider: 'studio' }, [1, 7]],
  [{ provider: 'backup' }, [1]],
  [{ provider: 'none' }, []],
  [searchFor(uuid(3)), [3]],
  [{ ...searchFor(uuid(3)), accountId: other }, []],
  [searchFor('cafe'), [7]],
  [{ ...searchFor('cafe'), accountId: one }, []],
  [searchFor('0000'), [1, 2, 4, 3, 5, 6, 7, 8]],
  [{ ...searchFor('red boa'), accountId: one }, [1]],
  [{ ...searchFor('RED'), accountId: one }, [1, 4]],
  [{ ...searchFor('red'), accountId: other }, [7]],
  [{ ...searchFor('red'), accountId: one, model: 'm' }, [4]],
  [{ ...searchFor('red', false), accountId: one }, []],
  [searchFor('red'), []],
];

const numbersOf = (tasks: readonly { readonly taskId: string }[]) => tasks.map(({ taskId }) => 1 + ids.indexOf(taskId));

test('tasks are listed and counted by each filter, the newest first', () =>
  rolledBack(database.db, async (db) => {
    await addTasks(db);
    const list = async (filter: TaskFilter) => numbersOf(await listTasks(db, { ...filter, limit: 100 }));
    const total = async (filter: CountFilter) =>
      Object.values(await countTasksByGroup(db, filter)).reduce((sum, { tasks }) => sum + tasks, 0);
    for (const [filter, numbers] of found) {
      assert.deepEqual(await list(filter), numbers, JSON.stringify(filter));
      assert.equal(await total(filter), numbers.length, JSON.stringify(filter));
    }
    const [fourth, fifth] = [await timeOf(db, 4), await timeOf(db, 5)];
    for (const [filter, numbers] of [
      [{ fromMs: fourth - 500 }, [1, 2, 4, 3]],
      [{ toMs: fourth - 500 }, [5, 6, 7, 8]],
      [{ fromMs: fifth - 500, toMs: fourth - 500 }, [5]],
      [{ fromMs: fourth - 500, ...searchFor('0000') }, [1, 2, 4, 3]],
    ] as const) {
      assert.deepEqual(await list(filter), numbers);
      assert.equal(await total(filter), numbers.length);
    }
    for (const [filter, numbers] of [
      [{ state: 'waiting' }, [1]],
      [{ state: 'success' }, [3]],
      [{ state: 'fail' }, [4, 5, 6, 8]],
      [{ failCodes: ['timeout'] }, [4, 8]],
      [{ failCodes: ['timeout', 'cancelled'], accountId: one }, [4, 5]],
      [{ failCodes: ['timeout'], state: 'success' }, []],
      [{ failCodes: [] }, []],
    ] as const)
      assert.deepEqual(await list(filter), numbers, JSON.stringify(filter));
  }));

test('the bounds of the time of creation are from, which is included, to, which is not', () =>
  rolledBack(database.db, async (db) => {
    await insertRow(db, 'accounts', { id: one, name: 'One' });
    const noon = Date.parse('2026-01-05T12:00:00Z');
    for (const number of [1, 2, 3, 4])
      await insertTask(db, one, { id: ids[number - 1], created_at: new Date(noon + number), ...success });
    const filter = { fromMs: noon + 2, toMs: noon + 4 };
    assert.deepEqual(numbersOf(await listTasks(db, { ...filter, limit: 9 })), [3, 2]);
    assert.deepEqual(numbersOf(await listTasks(db, { ...filter, after: ids[3], limit: 9 })), [3, 2]);
    assert.equal((await countTasksByGroup(db, filter)).success.tasks, 2);
  }));

test('a page begins behind its cursor, and a cursor of another account gives no task', () =>
  rolledBack(database.db, async (db) => {
    await addTasks(db);
    const page = async (filter: TaskFilter, last: number | undefined, limit: number) =>
      numbersOf(await listTasks(db, { ...filter, after: last === undefined ? undefined : ids[last - 1], limit }));
    assert.deepEqual(await page({}, undefined, 3), [1, 2, 4]);
    assert.deepEqual(await page({}, 4, 3), [3, 5, 6]);
    assert.deepEqual(await page({}, 6, 3), [7, 8]);
    assert.deepEqual(await page({}, 8, 3), []);
    assert.deepEqual(await page({ accountId: one }, 4, 10), [3, 5, 6]);
    assert.deepEqual(await page({ accountId: other }, 4, 10), []);
    assert.deepEqual(await page({ toMs: (await timeOf(db, 5)) + 500 }, 1, 10), [5, 6, 7, 8]);
  }));

test('a listed task has its whole record, the name of its account, and who created it', () =>
  rolledBack(database.db, async (db) => {
    await addTasks(db);
    const creators = [
      undefined,
      { kind: 'key', id: key, name: 'a key' },
      { kind: 'person', id: person, name: 'ada@example.com' },
      { kind: 'key', id: unnamedKey, name: null },
    ];
    const listed = await listTasks(db, { accountId: one, limit: 4 });
    const expected = [1, 2, 4, 3].map(async (number) => ({
      ...(await findTask(db, ids[number - 1] ?? '')),
      createdBy: creators[number - 1],
      accountName: 'One',
    }));
    assert.deepEqual(listed, await Promise.all(expected));
    assert.equal((await listTasks(db, { accountId: other, limit: 1 }))[0]?.accountName, 'Other');
  }));
