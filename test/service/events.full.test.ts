import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { verifyCallback } from '../../clients/typescript/src/verify-callback.ts';
import { createKeyWithinAllLimits } from '../../src/accounts/keys/keys.ts';
import { ensureSigningSecrets } from '../../src/tasks/callbacks/signing-secrets.ts';
import { setEventEndpoint } from '../../src/tasks/callbacks/event-endpoint.ts';
import { setLowBalanceThreshold } from '../../src/credits/ledger/balance-and-low-balance-threshold.ts';
import { eventTypes } from '../../src/tasks/callbacks/account-event-types-and-body.ts';
import { createSecretBox } from '../../src/platform/secrets/secret-box.ts';
import { taskEventId } from '../../src/tasks/end/task-end-event-and-delivery-ids.ts';
import { callbackWorkflowId } from '../../src/temporal/connection/queue-names-and-workflow-ids.ts';
import { awayFromMidnight } from '../support/away-from-midnight.ts';
import { type Api, createdTask, post, recordInfo, waitForRecord } from '../support/service/call-api.ts';
import { type CallbackReceiver, startCallbackReceiver } from '../support/servers/callback-receiver.ts';
import { connectEngine, type EngineClient } from '../support/service/test-installation.ts';
import { owedCallback, waitForDelivery } from '../support/tasks/owed-callback.ts';
import { createTestAccount, startTestService, type TestService } from '../support/service/test-service.ts';
import { waitFor } from '../support/wait-for.ts';

describe('events of an account', () => {
  let service: TestService;
  let temporal: EngineClient;
  let receiver: CallbackReceiver;
  const statuses = new Map<string, number[]>();
  before(async () => {
    service = await startTestService();
    temporal = connectEngine(service);
    // A path returns its statuses one after the other, and 204 from then on.
    receiver = await startCallbackReceiver({ answer: ({ path }) => statuses.get(path)?.shift() ?? 204 });
  });
  after(async () => {
    await receiver.close();
    await temporal.close();
    await service.close();
  });

  async function subscriber(
    path: string,
    { credits = 100_000, lowBalance }: { credits?: number; lowBalance?: number },
  ) {
    const { db } = service.database;
    const { accountId, key } = await createTestAccount(service.database, credits);
    await setEventEndpoint(db, accountId, { url: receiver.url + path, types: eventTypes });
    await setLowBalanceThreshold(db, accountId, lowBalance ?? null);
    const secrets = await ensureSigningSecrets(db, createSecretBox(service.settings.secret), accountId, 'event');
    const api: Api = { baseUrl: service.baseUrl, key };
    return { accountId, api, secrets };
  }

  /** Verifies events as a receiver does, and returns their types and data. */
  async function verified(path: string, secrets: readonly string[], count = 1) {
    const received = await receiver.waitForCallbacks(path, count);
    return Promise.all(
      received.map(async ({ body, headers }) => {
        const { webhookId } = await verifyCallback({ body, headers, secrets });
        const { eventId, type, data } = JSON.parse(body) as Record<string, unknown>; // a JSON object
        assert.equal(webhookId, `msg_${String(eventId).replaceAll('-', '')}`);
        return { type, data: data as Record<string, unknown>, webhookId }; // the data of any event is an object
      }),
    );
  }

  test('the end of a task is sent to the endpoint and to its own callback, with the same record and an id and signature of its own', async () => {
    const { api, secrets } = await subscriber('/both', {});
    const taskId = await createdTask(api, '[[instant]] both', { callBackUrl: `${receiver.url}/own` });
    await waitForRecord(api, taskId);
    const [event] = await verified('/both', secrets);
    const [own] = await receiver.waitForCallbacks('/own', 1);
    assert.equal(event?.type, 'task.succeeded');
    assert.equal(event.webhookId, `msg_${taskEventId(taskId).replaceAll('-', '')}`);
    assert.notEqual(own?.headers['webhook-id'], event.webhookId);
    const { resultJson, ...record } = event.data;
    const { resultJson: _links, ...recordOfCallback } = (JSON.parse(own?.body ?? '') as { data: typeof record }).data;
    assert.deepEqual(record, recordOfCallback);
    assert.ok(typeof resultJson === 'object');
    await assert.rejects(
      verifyCallback({ body: own?.body ?? '', headers: own?.headers ?? {}, secrets }),
      /no signature/,
    );
  });

  test('a task without a callback that is cancelled before its workflow starts is an event, and a failed attempt is retried', async () => {
    statuses.set('/retry', [500]);
    const { api, accountId, secrets } = await subscriber('/retry', {});
    const { db } = service.database;
    const { taskId } = await owedCallback(db, accountId, `${receiver.url}/own-retry`);
    await temporal.engine.startDelivery({ deliveryId: taskEventId(taskId), accountId });
    const [first, second] = await verified('/retry', secrets, 2);
    assert.deepEqual([first?.type, second?.type], ['task.cancelled', 'task.cancelled']);
    assert.equal(first?.webhookId, second?.webhookId);
    await waitForDelivery(db, taskEventId(taskId), 'delivered');
    const { status, body } = await post(api, '/api/v1/events/redeliver', { eventId: taskEventId(taskId) });
    assert.equal(status, 200, body.msg);
    const again = await verified('/retry', secrets, 3);
    assert.equal(again[2]?.webhookId, first?.webhookId);
    assert.deepEqual(again[2]?.data, (await recordInfo(api, taskId)).body.data);
  });

  test('an event whose workflow was never started is started by reconcile; so are a low balance and a reached cap, once each', async () => {
    await awayFromMidnight();
    const { api, accountId, secrets } = await subscriber('/crossings', { credits: 300, lowBalance: 200 });
    const { db } = service.database;
    const made = await createKeyWithinAllLimits(db, {
      accountId,
      name: 'capped',
      scopes: ['tasks:write', 'tasks:read'],
      caps: { day: 132 },
    });
    assert.ok(made.kind === 'made');
    const capped: Api = { ...api, key: made.key };
    const request = { model: 'videogen-2.0-fast', input: { prompt: '[[instant]] crossing', duration: 4 } };
    assert.equal((await post(capped, '/api/v1/jobs/createTask', request)).status, 200);
    assert.equal((await post(capped, '/api/v1/jobs/createTask', request)).status, 402);
    await temporal.trigger('reconcile');
    const events = await verified('/crossings', secrets, 3);
    const types = events.map(({ type }) => String(type)).toSorted();
    assert.deepEqual(types, ['balance.low', 'key.cap_reached', 'task.succeeded']);
    const dataOf = (name: string) => events.find(({ type }) => type === name)?.data;
    assert.deepEqual(dataOf('balance.low'), { balance: 168, lowBalance: 200 });
    const { subject, subjectId, period, cap, spent } = dataOf('key.cap_reached') ?? assert.fail();
    assert.deepEqual([subject, subjectId, period, cap, spent], ['key', made.apiKey.keyId, 'day', 132, 132]);
    const { body } = await post(api, '/api/v1/jobs/createTask', request);
    assert.equal(body.code, 200);
    await waitForRecord(api, String(body.data['taskId']));
    const pending = `select from callback_deliveries where account_id = $1 and state = 'pending'`;
    await waitFor('the end of all deliveries', async () =>
      (await db.run({ name: 'test-pending', text: pending }, [accountId])).length === 0 ? true : undefined,
    );
    await temporal.trigger('reconcile');
    const later = await verified('/crossings', secrets, 4);
    assert.deepEqual(
      later.slice(3).map(({ type }) => type),
      ['task.succeeded'],
    );
    const late = await owedCallback(db, accountId, `${receiver.url}/late`).catch(() => undefined);
    assert.equal(late, undefined, 'the balance is used up');
  });

  test('a worker that was killed between the commit and the start of the delivery: the sweep sends the event once', async () => {
    const { accountId, secrets } = await subscriber('/killed', {});
    const { db } = service.database;
    const { taskId } = await owedCallback(db, accountId, `${receiver.url}/own-killed`);
    const text = `update callback_deliveries set due_at = now() - interval '2 minutes' where task_id = $1`;
    await db.run({ name: 'test-overdue', text }, [taskId]);
    await temporal.trigger('reconcile');
    const [event] = await verified('/killed', secrets);
    assert.equal(event?.type, 'task.cancelled');
    await waitForDelivery(db, taskEventId(taskId), 'delivered');
    await temporal.client.workflow.getHandle(callbackWorkflowId(taskEventId(taskId))).result();
    await temporal.engine.startDelivery({ deliveryId: taskEventId(taskId), accountId });
    await temporal.client.workflow.getHandle(callbackWorkflowId(taskEventId(taskId))).result();
    assert.equal((await verified('/killed', secrets)).length, 1);
  });
});
