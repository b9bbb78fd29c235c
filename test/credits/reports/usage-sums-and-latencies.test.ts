import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createAccount } from '../../../src/credits/open-account.ts';
import {
  addTasksToUsageSums,
  latencyBucketMiddleMs,
  listLatencyBuckets,
  usageQueriesByGroup,
} from '../../../src/credits/reports/usage-sums-and-latencies.ts';
import { ago, insertTask, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
let accountId: string;
let otherAccountId: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'uses', credits: 0 });
  otherAccountId = await createAccount(database.db, { name: 'others', credits: 0 });
});
after(() => database.close());

const from = Date.parse('2026-01-05T00:00:00Z');
const days = { from: '2026-01-05', to: '2026-01-06' };
const dayMs = 86_400_000;
/** A task that was created at this time of the first day and succeeded so much later. */
const took = (ms: number, at = from) => ({
  state: 'success',
  result: '{}',
  created_at: new Date(at),
  completed_at: new Date(at + ms),
});
const failed = (ms: number) => ({
  state: 'fail',
  fail_code: 'internal',
  fail_msg: 'It failed.',
  credits_refunded: 132,
  created_at: new Date(from),
  completed_at: new Date(from + ms),
});

test('the middle of a bucket is half a step above its lower bound', () => {
  assert.deepEqual([0, 1, 48, 100].map(latencyBucketMiddleMs), [1, 1, 102, 14_453]);
});

test('latencies are those of tasks that succeeded, by model and step of a tenth, before and after they are added up', () =>
  rolledBack(database.db, async (db) => {
    for (const row of [
      took(1),
      took(1),
      took(2_000),
      // A clock that was set back leaves a task that ends before it began.
      took(-5),
      took(2_000, from + 2 * dayMs - 1),
      { ...took(2_000), model: 'a model' },
      took(2_000, from - 1),
      took(2_000, from + 2 * dayMs),
      failed(2_000),
      { created_at: new Date(from) },
    ])
      await insertTask(db, accountId, row);
    await insertTask(db, otherAccountId, took(50));
    const list = (of = accountId, period: object = {}) => listLatencyBuckets(db, { accountId: of, ...days, ...period });
    const expected = [
      { model: 'a model', bucket: 79, tasks: 1 },
      { model: 'm', bucket: 0, tasks: 3 },
      { model: 'm', bucket: 79, tasks: 2 },
    ];
    const read = async () => [await list(), await list(accountId, { to: days.from }), await list(otherAccountId)];
    const ofFirstDay = [...expected.slice(0, 2), { model: 'm', bucket: 79, tasks: 1 }];
    const all = [expected, ofFirstDay, [{ model: 'm', bucket: 41, tasks: 1 }]];
    assert.deepEqual(await read(), all);
    assert.deepEqual(await addTasksToUsageSums(db, 2), { tasks: 2 });
    assert.deepEqual(await read(), all, 'one of the three short tasks is not added up yet');
    assert.deepEqual(await addTasksToUsageSums(db, 100), { tasks: 8 });
    assert.deepEqual(await addTasksToUsageSums(db, 100), { tasks: 0 });
    assert.deepEqual(await read(), all, 'all of the tasks are added up');
  }));

test('a task is added to the sums of its day, model, key and person once, a minute after its end', () =>
  rolledBack(database.db, async (db) => {
    const [keyId, userId] = [randomUUID(), randomUUID()];
    const end = { state: 'success', result: '{}', created_at: new Date(from) };
    await insertTask(db, accountId, { ...end, completed_at: ago(60_001), key_id: keyId });
    await insertTask(db, accountId, { ...end, completed_at: ago(60_000), key_id: keyId });
    await insertTask(db, accountId, { ...failed(1_000), user_id: userId });
    await insertTask(db, accountId, { ...took(1_000), credits_charged: 7, user_id: userId });
    await insertTask(db, accountId, { ...took(1_000), credits_charged: 8, user_id: userId });
    await insertTask(db, otherAccountId, took(1_000));
    const counts = { succeeded: 1, failed: 0 };
    const ofPerson = { tasks: 3, succeeded: 2, failed: 1, credits: 15, key_id: null, user_id: userId };
    const ofKey = { tasks: 1, ...counts, credits: 132, key_id: keyId, user_id: null };
    const ofOther = { tasks: 1, ...counts, credits: 132, key_id: null, user_id: null };
    const text = `
select account_id, to_char(day, 'YYYY-MM-DD') as day, model, key_id, user_id, tasks, succeeded, failed, credits
from usage_days order by account_id = $1, tasks`;
    const row = { account_id: accountId, day: days.from, model: 'm' };
    const sums = [
      { ...row, account_id: otherAccountId, ...ofOther },
      { ...row, ...ofKey },
      { ...row, ...ofPerson },
    ];
    for (const expected of [2, 2, 1, 0]) assert.deepEqual(await addTasksToUsageSums(db, 2), { tasks: expected });
    assert.deepEqual(await db.run({ name: 'test-sums', text }, [accountId]), sums);
    const byDay = await usageQueriesByGroup.model(db, { accountId, ...days, maxGroups: 9 });
    const total = { tasks: 5, succeeded: 4, failed: 1, credits: 279 };
    const group = { day: days.from, id: 'm', name: undefined, isRest: false };
    assert.deepEqual(byDay, [{ ...group, ...total }], 'with the task that is not added up yet');
  }));
