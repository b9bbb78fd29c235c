import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { listOperatorActions } from '../../../src/accounts/operators/audit-log.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { ago, failedAgo, insertRow, insertTask } from '../../support/database/rolled-back.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { createTestOperator, dataOf, type TestOperator } from '../../support/service/operator-key.ts';

let service: HttpService;
let operator: TestOperator;
let accountId: string;
before(async () => {
  service = await startHttpService();
  operator = await createTestOperator(service);
  accountId = await createAccount(service.database.db, { name: 'waits', credits: 0 });
});
after(() => service.close());

const post = (path: string, body: object) => operator.ask('POST', `/api/admin/v1/${path}`, { body });
const dueMs = 4_000_000_000_000;

/** A task in the queue of a pool. */
async function wait(pool: string, ticket: number, taskRow: object = {}): Promise<string> {
  const { db } = service.database;
  const taskId = await insertTask(db, accountId, { state: 'queuing', created_at: ago(3_600_000 - ticket), ...taskRow });
  const due = { due_at: new Date(dueMs), queued_at: ago(0) };
  await insertRow(db, 'slot_waits', { pool, task_id: taskId, account_id: accountId, ticket, ...due });
  return taskId;
}

test('200 a retry of a provider ends the pause of each of its waiting tasks, in their order, and of no other task', async () => {
  const { db } = service.database;
  await insertRow(db, 'provider_pools', { pool: 'preview/a', provider: 'preview' });
  await insertRow(db, 'provider_pools', { pool: 'other/a', provider: 'other' });
  const [third, first, second] = [await wait('preview/a', 3), await wait('preview/a', 1), await wait('preview/a', 2)];
  const other = await wait('other/a', 1);
  const earlier = service.retried.length;
  const reason = 'it works again';
  assert.deepEqual(await dataOf(post('providers/retry', { provider: 'preview', reason })), { tasks: 3 });
  assert.deepEqual(service.retried.slice(earlier), [first, second, third]);
  const unknown = await post('providers/retry', { provider: 'unknown', reason });
  assert.deepEqual([unknown.status, unknown.json.error], [422, 'invalid_request']);
  assert.deepEqual(await dataOf(post('providers/retry', { provider: 'other', reason })), { tasks: 1 });
  assert.deepEqual(service.retried.slice(earlier + 3), [other]);
  const actions = await listOperatorActions(db, { limit: 10 });
  assert.deepEqual(
    actions.map(({ action, details }) => [action, details]),
    [
      ['tasks.retry', { provider: 'other', tasks: 1, reason }],
      ['tasks.retry', { provider: 'preview', tasks: 3, reason }],
    ],
  );
});

test('200 a retry of a task ends its pause, but not that of a task that has ended; 404 an unknown one', async () => {
  const { db } = service.database;
  const [taskId, ended] = [await insertTask(db, accountId), await insertTask(db, accountId, failedAgo(0))];
  const earlier = service.retried.length;
  const reason = 'a test';
  assert.deepEqual(await dataOf(post('tasks/retry', { taskId: ended, reason })), { isRetried: false });
  assert.equal((await post('tasks/retry', { taskId: randomUUID(), reason })).json.error, 'task_not_found');
  assert.deepEqual(service.retried.slice(earlier), []);
  assert.deepEqual(await dataOf(post('tasks/retry', { taskId, reason })), { isRetried: true });
  assert.deepEqual(service.retried.slice(earlier), [taskId]);
});

test('200 what waits is listed by its reason and pool, by its account, and by task, the oldest first', async (t) => {
  const apart = await startHttpService();
  t.after(() => apart.close());
  const { db } = apart.database;
  const { ask } = await createTestOperator(apart);
  const [one, two] = [
    await createAccount(db, { name: 'one', credits: 0 }),
    await createAccount(db, { name: 'two', credits: 0 }),
  ];
  const cooling = { failures: 2, cooling_until: ago(-1), cooling_reason: 'busy' };
  await insertRow(db, 'provider_pools', { pool: 'cooling/a', provider: 'cooling', ...cooling });
  await insertRow(db, 'provider_pools', { pool: 'full/a', provider: 'full' });
  const queue = async (pool: string, of: string, model: string, ageMs: number) => {
    const taskId = await insertTask(db, of, { state: 'queuing', model, created_at: ago(ageMs) });
    const at = { ticket: 1, queued_at: ago(0), due_at: new Date(dueMs) };
    await insertRow(db, 'slot_waits', { pool, task_id: taskId, account_id: of, ...at });
    return taskId;
  };
  const hour = 3_600_000;
  const second = await queue('cooling/a', one, 'm1', 2 * hour);
  const first = await queue('full/a', two, 'm2', 3 * hour);
  const third = await queue('cooling/a', two, 'm3', hour);
  const fourth = await insertTask(db, two, { created_at: ago(hour / 2) });
  await insertTask(db, one, failedAgo(0));
  const ages: number[] = [];
  // A test that runs slowly sees older tasks, so ages are compared by their whole hours.
  const withoutAges = (rows: unknown) =>
    (rows as Readonly<Record<string, unknown>>[]).map(({ ageMs, oldestMs, ...row }) => {
      ages.push(Math.floor(Number(ageMs ?? oldestMs) / hour));
      return row;
    });
  const { groups, accounts, tasks, ...rest } = await dataOf(ask('GET', '/api/admin/v1/waiting'));
  assert.deepEqual(rest, {});
  const busy = { reason: 'provider_cooldown', provider: 'cooling', pool: 'cooling/a', coolingReason: 'busy' };
  const full = { reason: 'provider_limit', provider: 'full', pool: 'full/a', coolingReason: null };
  const start = { reason: 'start', provider: null, pool: null, coolingReason: null, nextTime: null };
  assert.deepEqual(withoutAges(groups), [
    { ...busy, nextTime: dueMs, tasks: 2 },
    { ...full, nextTime: dueMs, tasks: 1 },
    { ...start, tasks: 1 },
  ]);
  assert.deepEqual(withoutAges(accounts), [
    { accountId: two, accountName: 'two', tasks: 3 },
    { accountId: one, accountName: 'one', tasks: 1 },
  ]);
  const ofOne = { accountId: one, accountName: 'one' };
  const ofTwo = { accountId: two, accountName: 'two' };
  assert.deepEqual(withoutAges(tasks), [
    { taskId: first, ...ofTwo, model: 'm2', ...full, nextTime: dueMs },
    { taskId: second, ...ofOne, model: 'm1', ...busy, nextTime: dueMs },
    { taskId: third, ...ofTwo, model: 'm3', ...busy, nextTime: dueMs },
    { taskId: fourth, ...ofTwo, model: 'm', ...start },
  ]);
  assert.deepEqual(ages, [2, 3, 0, 3, 2, 3, 2, 1, 0]);
});
