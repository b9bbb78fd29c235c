import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { recordedErrorKind, recordedError } from '../../../src/tasks/callbacks/receiver-error.ts';
import { ordinaryScopes } from '../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { type DeliveryAttempt, findDelivery, recordDeliveryAttempt } from '../../../src/tasks/callbacks/deliveries.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { assertSince } from '../../support/assert-since.ts';
import { type Answer, assertRefused } from '../../support/service/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';

let service: HttpService;
let account: { accountId: string; key: string };
before(async () => {
  service = await startHttpService();
  account = await service.newAccount(100_000, ordinaryScopes);
});
after(() => service.close());

const url = 'https://receiver.example/hook?token=1';

async function newTask(callBackUrl: string | null = url): Promise<string> {
  return String((await service.create(account.key, { ...plainRequest, callBackUrl })).json.data['taskId']);
}

async function endedTask(callBackUrl: string | null = url): Promise<string> {
  const taskId = await newTask(callBackUrl);
  await failAndRefund(service.database.db, taskId, { failCode: 'cancelled', failMsg: 'Cancelled.' });
  return taskId;
}

async function note(
  taskId: string,
  attempt: Partial<DeliveryAttempt>,
  state: 'pending' | 'failed' | 'delivered',
  dueAt = 4_000_000_020_123,
) {
  const plain = { startedAt: 1_790_000_000_123, durationMs: 77, responseHead: undefined };
  const made = {
    delivery: { deliveryId: taskId, redeliveries: 0 },
    attempt: { ...plain, status: undefined, error: undefined, ...attempt },
    newState: { state, dueAt },
  };
  await recordDeliveryAttempt(service.database.db, made);
}

function get(taskId: string, key = account.key): Promise<Answer> {
  return service.send('GET', `/api/v1/callbacks?taskId=${taskId}`, { headers: { authorization: `Bearer ${key}` } });
}

function post(path: string, body: unknown, key = account.key): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return service.send('POST', `/api/v1/callbacks${path}`, { headers, body: JSON.stringify(body) });
}

async function callbackOf(taskId: string): Promise<Record<string, unknown>> {
  const { callbacks } = (await get(taskId)).json.data as { callbacks: Record<string, unknown>[] };
  assert.equal(callbacks.length, 1);
  return callbacks[0] ?? {};
}

test('200 a task that runs, and one without callBackUrl, has no callbacks', async () => {
  for (const taskId of [await newTask(), await endedTask(null)]) {
    assert.deepEqual((await get(taskId)).json, {
      code: 200,
      msg: 'success',
      data: { callbacks: [], nextCursor: null },
    });
  }
});

test('200 a delivery is shown with its attempts, newest first, and without the response of the receiver', async () => {
  const sinceMs = Date.now();
  const taskId = await endedTask();
  await note(taskId, { status: 500, responseHead: Buffer.from('internal host 10.1.2.3') }, 'pending');
  const { createTime, ...pending } = await callbackOf(taskId);
  assertSince(sinceMs, Number(createTime));
  const attempt = { startTime: 1_790_000_000_000, error: null };
  assert.deepEqual(pending, {
    taskId,
    webhookId: `msg_${taskId.replaceAll('-', '')}`,
    url,
    state: 'pending',
    completeTime: null,
    nextAttemptTime: 4_000_000_020_000,
    attempts: [{ attempt: 1, ...attempt, status: 500, durationMs: 77 }],
  });
  await note(taskId, { status: 204 }, 'delivered');
  const delivered = await callbackOf(taskId);
  assert.deepEqual([delivered['state'], delivered['nextAttemptTime']], ['delivered', null]);
  assert.equal(typeof delivered['completeTime'], 'number');
  assert.doesNotMatch((await get(taskId)).bytes.toString(), /10\.1\.2\.3/);
});

test('200 every network error of a receiver that is not public is shown alike, byte for byte, regardless of its kind and duration', async () => {
  const answers = await Promise.all(
    ['blocked', 'dns', 'connect', 'tls', 'timeout', 'closed', 'protocol'].map(async (error, index) => {
      const taskId = await endedTask();
      await note(taskId, { error, durationMs: index * 1_000, startedAt: 1_790_000_000_000 + index }, 'failed');
      const { attempts } = await callbackOf(taskId);
      return JSON.stringify(attempts);
    }),
  );
  assert.deepEqual(
    [...new Set(answers)],
    ['[{"attempt":1,"startTime":1790000000000,"status":null,"durationMs":null,"error":"unreachable"}]'],
  );
});

test('200 of a public receiver, the account reads the kind and the duration', async () => {
  for (const [kind, error] of [
    ['connect', 'refused'],
    ['tls', 'tls'],
    ['timeout', 'timeout'],
    ['closed', 'closed'],
    ['protocol', 'closed'],
  ] as const) {
    const taskId = await endedTask();
    const recorded = recordedError({ kind, isPublic: true });
    await note(taskId, { error: recorded, durationMs: 41, startedAt: 1_790_000_000_000 }, 'failed');
    const { attempts } = await callbackOf(taskId);
    const [first] = attempts as readonly Record<string, unknown>[]; // or the next line fails
    assert.deepEqual([first?.['error'], first?.['durationMs']], [error, 41]);
    assert.equal(recordedErrorKind(recorded), kind);
  }
});

test('200 an attempt without a status is shown only after the longest possible attempt would have ended, and changes nothing before', async () => {
  for (const error of ['blocked', 'connect', 'timeout', 'protocol']) {
    for (const state of ['pending', 'failed'] as const) {
      const taskId = await endedTask();
      const underWay = await callbackOf(taskId);
      assert.deepEqual([underWay['state'], underWay['nextAttemptTime']], ['pending', null], 'it is due');
      // As by a clock that is ahead, so that the longest attempt does not end during the test.
      await note(taskId, { error, startedAt: Date.now() + 600_000 }, state);
      assert.deepEqual(await callbackOf(taskId), underWay);
    }
  }
});

test('200 the end of a delivery does not reveal how long its last attempt took', async () => {
  const taskId = await endedTask();
  const startedAt = Date.now() - 15_001;
  await note(taskId, { error: 'connect', durationMs: 3, startedAt }, 'failed', startedAt + 15_000);
  const { state, completeTime, attempts } = await callbackOf(taskId);
  const latestEnd = Math.floor((startedAt + 15_000) / 1_000) * 1_000;
  assert.deepEqual([state, completeTime, Array.isArray(attempts) && attempts.length], ['failed', latestEnd, 1]);
});

test('200 redelivery sends the callback again, with the same webhook-id', async () => {
  const taskId = await endedTask();
  await note(taskId, { status: 204 }, 'delivered');
  const answer = await post('/redeliver', { taskId });
  assert.deepEqual(answer.json.data, { taskId, webhookId: `msg_${taskId.replaceAll('-', '')}` });
  const delivery = await findDelivery(service.database.db, taskId);
  assert.deepEqual([delivery?.state, delivery?.redeliveries], ['pending', 1]);
  assert.deepEqual(service.redelivered.at(-1), { deliveryId: taskId, accountId: account.accountId });
});

async function listed(query: string, key: string) {
  const { status, json, bytes } = await service.send('GET', `/api/v1/callbacks?${query}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  assert.equal(status, 200, bytes.toString());
  // The service holds its answers against the schema of the endpoint.
  const { callbacks, nextCursor } = json.data as {
    callbacks: { taskId: string; state: string; attempts: unknown[] }[];
    nextCursor: string | null;
  };
  return { callbacks, ids: callbacks.map(({ taskId }) => taskId), nextCursor };
}

/** An account whose tasks have ended, with one callback in each state. */
async function withCallbacks() {
  const { key, accountId } = await service.newAccount(10_000);
  const ended = async () => {
    const { json } = await service.create(key, { ...plainRequest, callBackUrl: url });
    const taskId = String(json.data['taskId']);
    await failAndRefund(service.database.db, taskId, { failCode: 'cancelled', failMsg: 'Cancelled.' });
    return taskId;
  };
  const [pending, delivered, failed, hidden] = [await ended(), await ended(), await ended(), await ended()];
  await note(delivered, { status: 204 }, 'delivered');
  await note(failed, { status: 500 }, 'failed');
  await note(hidden, { error: 'blocked', startedAt: Date.now() + 600_000 }, 'failed');
  // It stays hidden for a minute after its end.
  const text = `update callback_deliveries set finished_at = finished_at + interval '1 hour' where id = $1`;
  await service.database.db.run({ name: 'test-keep-hidden', text }, [hidden]);
  return { key, accountId, pending, delivered, failed, hidden };
}

test('200 without a task the callbacks of the account are listed, newest first, by state and in pages', async () => {
  const { key, pending, delivered, failed, hidden } = await withCallbacks();
  const all = [hidden, failed, delivered, pending];
  assert.deepEqual((await listed('', key)).ids, all);
  assert.deepEqual((await listed('state=delivered', key)).ids, [delivered]);
  assert.deepEqual((await listed('state=failed', key)).ids, [failed]);
  assert.deepEqual((await listed('state=rejected', key)).ids, []);
  const { callbacks } = await listed('state=pending', key);
  assert.deepEqual(
    callbacks.map(({ taskId, state, attempts }) => [taskId, state, attempts.length]),
    [
      [hidden, 'pending', 0],
      [pending, 'pending', 0],
    ],
  );
  const first = await listed('limit=3', key);
  const second = await listed(`limit=3&cursor=${first.nextCursor}`, key);
  assert.deepEqual([...first.ids, ...second.ids, second.nextCursor], [...all, null]);
});

test("200 an account cannot list another account's callbacks, nor learn anything by a cursor of them", async () => {
  const { failed } = await withCallbacks();
  const { key } = await service.newAccount(0);
  assert.deepEqual((await listed('', key)).ids, []);
  assert.deepEqual((await listed(`cursor=8000000000000000_${failed}`, key)).ids, []);
});

test('200 the next page, also if the last callback of the page before was deleted meanwhile', async () => {
  const { key, pending, delivered, failed, hidden } = await withCallbacks();
  const first = await listed('limit=2', key);
  assert.deepEqual(first.ids, [hidden, failed]);
  for (const [table, column] of [
    ['callback_attempts', 'delivery_id'],
    ['callback_deliveries', 'id'],
  ] as const) {
    const text = `delete from ${table} where ${column} = $1`;
    await service.database.db.run({ name: `test-delete-${table}`, text }, [failed]);
  }
  assert.deepEqual((await listed(`limit=2&cursor=${first.nextCursor}`, key)).ids, [delivered, pending]);
});

test('200 all callbacks that failed since a time are sent again, and no others', async () => {
  const { key, accountId, failed, hidden } = await withCallbacks();
  const none = await post('/redeliver-failed', { since: Date.now() + 60_000 }, key);
  assert.deepEqual(none.json.data, { redelivered: 0, hasMore: false });
  const earlier = service.redelivered.length;
  const { json } = await post('/redeliver-failed', { since: Date.now() - 60_000 }, key);
  assert.deepEqual(json.data, { redelivered: 1, hasMore: false }, 'what counts as pending is left alone');
  assert.deepEqual(service.redelivered.slice(earlier), [{ deliveryId: failed, accountId }]);
  const delivery = await findDelivery(service.database.db, failed);
  assert.deepEqual([delivery?.state, delivery?.redeliveries], ['pending', 1]);
  assert.equal((await findDelivery(service.database.db, hidden))?.state, 'failed');
});

for (const query of ['state=lost', 'cursor=x', 'limit=0', `state=failed&taskId=${randomUUID()}`, 'task=1']) {
  test(`422 ?${query}`, async () => {
    const headers = { authorization: `Bearer ${account.key}` };
    assert.equal((await service.send('GET', `/api/v1/callbacks?${query}`, { headers })).status, 422);
  });
}

for (const body of [{}, { since: -1 }, { since: 'now' }, { since: 1, until: 2 }]) {
  test(`422 redeliver-failed ${JSON.stringify(body)}`, async () => {
    assert.equal((await post('/redeliver-failed', body)).status, 422);
  });
}

test('409 the callback of a task that runs cannot be redelivered', async () => {
  assertRefused(await post('/redeliver', { taskId: await newTask() }), 409, /has not ended/);
});

test('422 the callback of a task without callBackUrl cannot be redelivered', async () => {
  const errors = [{ path: 'taskId', message: 'this task was created without callBackUrl' }];
  assertRefused(await post('/redeliver', { taskId: await endedTask(null) }), 422, /without callBackUrl/, { errors });
});

test("404 another account's task, an unknown task and an invalid id get the same response, to read and to redeliver", async () => {
  const earlier = service.redelivered.length;
  const other = await service.newAccount(1_000);
  for (const taskId of [await endedTask(), randomUUID(), 'x']) {
    assertRefused(await get(taskId, other.key), 404, /^task not found$/);
    assertRefused(await post('/redeliver', { taskId }, other.key), 404, /^task not found$/);
  }
  assert.equal(service.redelivered.length, earlier);
});

for (const [body, path] of [
  [{}, 'taskId'],
  [{ taskId: 7 }, 'taskId'],
  [{ taskId: null }, 'taskId'],
] as const) {
  test(`422 redeliver ${JSON.stringify(body)}`, async () => {
    const answer = await post('/redeliver', body);
    assert.equal(answer.status, 422);
    assert.match(answer.json.msg, new RegExp(`^${path}: `));
  });
}

test('403 reading needs tasks:read, and redelivery tasks:write', async () => {
  const reader = await service.newAccount(0, ['tasks:read']);
  const writer = await service.newAccount(0, ['tasks:write']);
  assertRefused(await get(randomUUID(), writer.key), 403, /tasks:read/);
  for (const [path, body] of [
    ['/redeliver', { taskId: randomUUID() }],
    ['/redeliver-failed', { since: 0 }],
  ] as const) {
    assertRefused(await post(path, body, reader.key), 403, /tasks:write/);
  }
});
