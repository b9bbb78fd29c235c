import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { recordDeliveryAttempt } from '../../../src/tasks/callbacks/deliveries.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { askWith, createTestOperator, dataOf } from '../../support/service/operator-key.ts';
import { owedCallback } from '../../support/tasks/owed-callback.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

const url = 'https://receiver.example/hook';
const idOf = (taskId: string) => `msg_${taskId.replaceAll('-', '')}`;

async function ended(accountId: string, state: 'failed' | 'delivered' | 'rejected'): Promise<string> {
  const { taskId } = await owedCallback(service.database.db, accountId, url);
  await recordDeliveryAttempt(service.database.db, {
    delivery: { deliveryId: taskId, redeliveries: 0 },
    attempt: { startedAt: 1_790_000_000_123, durationMs: 77, status: 503, error: undefined, responseHead: undefined },
    newState: { state, dueAt: 1_790_000_005_000 },
  });
  return taskId;
}

const list = (key: string, query: Readonly<Record<string, string>> = {}) =>
  askWith(service, key)('GET', '/api/v1/callbacks', { query });
const idsOf = (rows: unknown) => (rows as readonly { readonly taskId: string }[]).map(({ taskId }) => taskId);
const post = (key: string, path: string, body: object) =>
  askWith(service, key)('POST', `/api/v1/callbacks/${path}`, { body });

test('200 callbacks of the account alone are listed, the newest first, in pages, and by their state', async () => {
  const [own, other] = [await service.newAccount(10_000), await service.newAccount(10_000)];
  const [first, second] = [await ended(own.accountId, 'failed'), await ended(own.accountId, 'delivered')];
  const third = await ended(own.accountId, 'failed');
  await ended(other.accountId, 'failed');
  const page = await dataOf(list(own.key, { limit: '2' }));
  assert.deepEqual(idsOf(page['callbacks']), [third, second]);
  const next = await dataOf(list(own.key, { limit: '2', cursor: String(page['nextCursor']) }));
  assert.deepEqual([idsOf(next['callbacks']), next['nextCursor']], [[first], null]);
  const failed = await dataOf(list(own.key, { state: 'failed', limit: '2' }));
  assert.deepEqual([idsOf(failed['callbacks']), failed['nextCursor']], [[third, first], null]);
  const [row, ...rest] = (await dataOf(list(own.key, { taskId: second })))['callbacks'] as readonly {
    readonly createTime: number; // the documented shape
    readonly completeTime: number;
  }[];
  assert.deepEqual(rest, []);
  const { createTime = 0, completeTime = 0, ...shown } = row ?? {};
  assert.ok(createTime > 0 && completeTime >= createTime);
  const attempt = { attempt: 1, startTime: 1_790_000_000_000, status: 503, durationMs: 77, error: null };
  const about = { taskId: second, webhookId: idOf(second), url, state: 'delivered' };
  assert.deepEqual(shown, { ...about, nextAttemptTime: null, attempts: [attempt] });
});

test('the callback of one task is listed after its end; 404 a task of another account; 422 with another filter', async () => {
  const [own, other] = [await service.newAccount(10_000), await service.newAccount(10_000)];
  const waits = await acceptTestTask(service.database.db, own.accountId, taskParam('waits', {}, url));
  assert.deepEqual(await dataOf(list(own.key, { taskId: waits })), { callbacks: [], nextCursor: null });
  const theirs = await ended(other.accountId, 'failed');
  for (const taskId of [theirs, randomUUID()])
    assert.equal((await list(own.key, { taskId })).json.error, 'task_not_found');
  const page = await dataOf(list(other.key, { limit: '1' }));
  assert.equal(page['nextCursor'], null);
  for (const more of [{ state: 'failed' }, { cursor: `1_${theirs}` }] as const) {
    const { status, json } = await list(other.key, { taskId: theirs, ...more });
    assert.deepEqual([status, json.error], [422, 'invalid_request']);
  }
});

test('200 a callback is sent again, and only that of an own task which has ended and has one', async () => {
  const [own, other] = [await service.newAccount(10_000), await service.newAccount(10_000)];
  const [taskId, theirs] = [await ended(own.accountId, 'rejected'), await ended(other.accountId, 'failed')];
  const { db } = service.database;
  const waits = await acceptTestTask(db, own.accountId, taskParam('waits', {}, url));
  const plain = await acceptTestTask(db, own.accountId, taskParam('plain'));
  const earlier = service.redelivered.length;
  const errorOf = async (id: string) => (await post(own.key, 'redeliver', { taskId: id })).json.error;
  for (const id of [theirs, randomUUID(), 'x']) assert.equal(await errorOf(id), 'task_not_found');
  assert.deepEqual([await errorOf(waits), await errorOf(plain)], ['task_not_finished', 'invalid_request']);
  assert.deepEqual(service.redelivered.slice(earlier), []);
  assert.deepEqual(await dataOf(post(own.key, 'redeliver', { taskId })), { taskId, webhookId: idOf(taskId) });
  assert.deepEqual(service.redelivered.slice(earlier), [{ deliveryId: taskId, accountId: own.accountId }]);
  const text = 'update tasks set content_deleted_at = now() where id = $1';
  await db.run({ name: 'test-delete-content', text }, [taskId]);
  assert.equal(await errorOf(taskId), 'content_deleted');
});

test('200 all failed callbacks of the account since a time are sent again; 200 an operator sends one of any account', async () => {
  const [own, other] = [await service.newAccount(10_000), await service.newAccount(10_000)];
  const [first, second] = [await ended(own.accountId, 'failed'), await ended(own.accountId, 'failed')];
  await ended(own.accountId, 'rejected');
  const theirs = await ended(other.accountId, 'failed');
  const earlier = service.redelivered.length;
  const later = await dataOf(post(own.key, 'redeliver-failed', { since: Date.now() + 3_600_000 }));
  assert.deepEqual(later, { redelivered: 0, hasMore: false });
  assert.deepEqual(await dataOf(post(own.key, 'redeliver-failed', { since: 0 })), { redelivered: 2, hasMore: false });
  const sent = service.redelivered.slice(earlier);
  assert.deepEqual(
    sent,
    [first, second].map((deliveryId) => ({ deliveryId, accountId: own.accountId })),
  );
  const { ask } = await createTestOperator(service);
  const answer = await dataOf(ask('POST', '/api/admin/v1/callbacks/redeliver', { body: { taskId: theirs } }));
  const { createTime, nextAttemptTime, attempts, ...shown } = answer;
  assert.ok(Number(createTime) > 0 && Number(nextAttemptTime) > 0);
  assert.equal((attempts as readonly object[]).length, 1);
  assert.deepEqual(shown, {
    taskId: theirs,
    event: null,
    webhookId: idOf(theirs),
    url,
    state: 'pending',
    completeTime: null,
    operator: { accountId: other.accountId, accountName: 'test', redeliveries: 1 },
  });
  assert.deepEqual(service.redelivered.at(-1), { deliveryId: theirs, accountId: other.accountId });
});

test('403 a key that may only create tasks lists no callbacks, and a key that may only read redelivers no callback', async () => {
  const writer = await service.newAccount(10_000, ['tasks:write']);
  const reader = await service.newAccount(10_000, ['tasks:read']);
  const taskId = await ended(reader.accountId, 'failed');
  const earlier = service.redelivered.length;
  for (const { status, json } of [
    await list(writer.key),
    await post(reader.key, 'redeliver', { taskId }),
    await post(reader.key, 'redeliver-failed', { since: 0 }),
  ])
    assert.deepEqual([status, json.error], [403, 'scope_missing']);
  assert.equal(service.redelivered.length, earlier);
});
