import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { recordDeliveryAttempt } from '../../../src/tasks/callbacks/deliveries.ts';
import { assertRefused } from '../../support/service/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { createTestOperator, dataOf, type TestOperator } from '../../support/service/operator-key.ts';
import { owedCallback } from '../../support/tasks/owed-callback.ts';

let service: HttpService;
let operator: TestOperator;
before(async () => {
  service = await startHttpService();
  operator = await createTestOperator(service);
});
after(() => service.close());

const admin = '/api/admin/v1';
const newTask = async (key: string, extra: object = {}) =>
  String((await service.create(key, { ...plainRequest, ...extra })).json.data['taskId']);

type Failed = { readonly callbacks: readonly { taskId: string; state: string }[]; readonly nextCursor: string | null };

test('200 callbacks that failed are listed over all accounts, and redelivering one does not disturb the pages', async () => {
  const { db } = service.database;
  const ids: string[] = [];
  for (const state of ['failed', 'rejected', 'failed', 'delivered', 'failed'] as const) {
    const { accountId } = await service.newAccount(1_000);
    const { taskId } = await owedCallback(db, accountId, 'http://receiver.test/');
    const attempt = { startedAt: 0, durationMs: 1, status: 500, error: undefined, responseHead: undefined };
    await recordDeliveryAttempt(db, {
      delivery: { deliveryId: taskId, redeliveries: 0 },
      attempt,
      newState: { state, dueAt: 0 },
    });
    if (state !== 'delivered') ids.unshift(taskId);
  }
  const seen: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const query = { limit: '2', ...(cursor !== undefined && { cursor }) };
    const page = (await dataOf(operator.ask('GET', `${admin}/callbacks/failed`, { query }))) as Failed;
    for (const { taskId } of page.callbacks) {
      seen.push(taskId);
      const again = await dataOf(operator.ask('POST', `${admin}/callbacks/redeliver`, { body: { taskId } }));
      assert.equal(again['state'], 'pending');
      assert.equal((again['operator'] as { redeliveries: number }).redeliveries, 1);
    }
    cursor = page.nextCursor;
  }
  assert.deepEqual(seen, ids);
  assert.deepEqual(
    service.redelivered.map(({ deliveryId }) => deliveryId),
    ids,
  );
  const left = (await dataOf(operator.ask('GET', `${admin}/callbacks/failed`))) as Failed;
  assert.deepEqual(left.callbacks, []);
});

test('200 events that failed are listed with their type, also those about no task', async () => {
  const { db } = service.database;
  const { accountId, key } = await service.newAccount(1_000);
  const taskId = await newTask(key);
  const text = `
insert into callback_deliveries (account_id, event, url, details, task_id, state, finished_at)
values ($1, 'balance.low', 'http://events.test/', '{}', null, 'failed', now() + interval '1 hour'),
  ($1, 'task.failed', 'http://events.test/', null, $2, 'rejected', now() + interval '2 hours')`;
  await db.run({ name: 'test-failed-events', text }, [accountId, taskId]);
  const page = (await dataOf(operator.ask('GET', `${admin}/callbacks/failed`, { query: { limit: '2' } }))) as {
    readonly callbacks: readonly { readonly taskId: string | null; readonly event: string | null }[];
  };
  assert.deepEqual(
    page.callbacks.map(({ taskId: about, event }) => [about, event]),
    [
      [taskId, 'task.failed'],
      [null, 'balance.low'],
    ],
  );
});

test('409 and 422 no callback is sent before the end of its task, nor for a task without one', async () => {
  const { key } = await service.newAccount(1_000);
  const redeliver = (taskId: string) => operator.ask('POST', `${admin}/callbacks/redeliver`, { body: { taskId } });
  const running = await newTask(key, { callBackUrl: 'http://receiver.test/' });
  assertRefused(await redeliver(running), 409, /has not ended/);
  assert.equal((await redeliver(await newTask(key))).status, 422);
});

for (const cursor of ['x', '1', '1_x', `-1_${randomUUID()}`, `1_${randomUUID()}'`]) {
  test(`422 failed callbacks after ${cursor.slice(0, 4)}`, async () => {
    assert.equal((await operator.ask('GET', `${admin}/callbacks/failed`, { query: { cursor } })).status, 422);
  });
}
