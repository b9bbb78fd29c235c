import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { callbackWorkflowId, taskQueuesOf, taskWorkflowId } from '../../src/domain/task-queues.ts';
import { requestRedelivery, listDeliveryAttempts } from '../../src/stores/deliveries.ts';
import { markMediaDeleted } from '../../src/stores/task-list.ts';
import { connectTemporal, type TemporalConnection } from '../../src/temporal/connect.ts';
import type { Engine } from '../../src/domain/ports.ts';
import { createEngine } from '../../src/temporal/engine.ts';
import { triggerSchedule } from '../../src/temporal/schedules.ts';
import { type Answer, type Api, call, createTask, recordInfo } from '../support/api.ts';
import { type CallbackReceiver, type ReceivedCallback, startCallbackReceiver } from '../support/callback-receiver.ts';
import { owedCallback, waitForAttempts, waitForDelivery } from '../support/owed-callback.ts';
import { createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { waitFor } from '../support/wait-for.ts';

describe('callbacks', () => {
  let service: TestService;
  let account: TestAccount;
  let api: Api;
  let temporal: TemporalConnection;
  let engine: Engine;
  let receiver: CallbackReceiver;
  const statuses = new Map<string, number[]>();
  /** Paths whose answers wait. */
  const held = new Map<string, Promise<void>>();
  before(async () => {
    service = await startTestService();
    account = await createTestAccount(service.database, 100_000);
    api = { baseUrl: service.baseUrl, key: account.key };
    temporal = connectTemporal(service.settings.temporal);
    engine = createEngine(temporal.client, taskQueuesOf(service.settings.taskQueue));
    // A path answers what it was told to, one status after the other, and 204 from then on.
    receiver = await startCallbackReceiver({
      answer: async ({ path }) => {
        await held.get(path);
        return statuses.get(path)?.shift() ?? 204;
      },
    });
  });
  after(async () => {
    await receiver.close();
    await temporal.close();
    await service.close();
  });

  const owed = (path: string, state?: 'success' | 'fail') =>
    owedCallback(service.database.db, account.accountId, receiver.url + path, state);
  const delivered = async (path: string) => {
    const delivery = await owed(path);
    await engine.startDelivery(delivery);
    await waitForDelivery(service.database.db, delivery.taskId, 'delivered');
    return delivery.taskId;
  };
  const post = (path: string, body: unknown): Promise<Answer> =>
    call(api, path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const redeliver = async (taskId: string) => {
    const { status, body } = await post('/api/v1/callbacks/redeliver', { taskId });
    assert.equal(status, 200, body.msg);
  };
  const verifies = (secret: string, { body, headers }: ReceivedCallback) => {
    const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
    try {
      new Webhook(secret).verify(body, Object.fromEntries(names.map((name) => [name, String(headers[name])])));
      return true;
    } catch {
      return false;
    }
  };
  /** How the pauses of a delivery ended, from its history. */
  const endsOfPauses = async (taskId: string) => {
    const { events } = await temporal.client.workflow.getHandle(callbackWorkflowId(taskId)).fetchHistory();
    return (events ?? []).flatMap((event) => {
      if (event.timerCanceledEventAttributes) return ['interrupted'];
      return event.timerFiredEventAttributes ? ['over'] : [];
    });
  };
  const shownSecret = async (path: string, body: unknown) => String((await post(path, body)).body.data['secret']);

  test('the body is what recordInfo answers, envelope included', async () => {
    const taskId = await delivered('/body');
    const [callback] = await receiver.waitForCallbacks('/body', 1);
    assert.deepEqual(JSON.parse(callback?.body ?? ''), (await recordInfo(api, taskId)).body);
    assert.equal(callback?.headers['content-type'], 'application/json');
  });

  test('a failed attempt is followed by another after five seconds: same webhook-id, fresh timestamp, each recorded', async () => {
    statuses.set('/flaky', [500]);
    const { taskId } = await owed('/flaky');
    await engine.startDelivery({ taskId, accountId: account.accountId });
    const [first, second] = await receiver.waitForCallbacks('/flaky', 2);
    assert.ok(first !== undefined && second !== undefined);
    assert.equal(second.headers['webhook-id'], first.headers['webhook-id']);
    assert.ok(Number(second.headers['webhook-timestamp']) - Number(first.headers['webhook-timestamp']) >= 5);
    await waitForDelivery(service.database.db, taskId, 'delivered');
    const attempts = await waitForAttempts(service.database.db, taskId, 2);
    assert.deepEqual(
      attempts.map(({ status }) => status),
      [500, 204],
    );
    const pauseMs = Number(attempts[1]?.startedAt) - Number(attempts[0]?.startedAt);
    assert.ok(pauseMs >= 5_000, `${pauseMs} ms`);
  });

  test('starting a delivery again sends nothing twice', async () => {
    const taskId = await delivered('/once');
    await engine.startDelivery({ taskId, accountId: account.accountId });
    await temporal.client.workflow.getHandle(callbackWorkflowId(taskId)).result();
    assert.equal((await receiver.waitForCallbacks('/once', 1)).length, 1);
    assert.equal((await listDeliveryAttempts(service.database.db, taskId)).length, 1);
  });

  test('redelivery sends again with the same webhook-id, also when the media is long deleted', async () => {
    const delivery = await owed('/years', 'success');
    await engine.startDelivery(delivery);
    await waitForDelivery(service.database.db, delivery.taskId, 'delivered');
    await markMediaDeleted(service.database.db, delivery.taskId);
    await temporal.client.workflow.getHandle(callbackWorkflowId(delivery.taskId)).result();
    await redeliver(delivery.taskId);
    const [first, second] = await receiver.waitForCallbacks('/years', 2);
    assert.equal(second?.headers['webhook-id'], first?.headers['webhook-id']);
    assert.deepEqual(JSON.parse(second?.body ?? ''), (await recordInfo(api, delivery.taskId)).body);
    await waitForDelivery(service.database.db, delivery.taskId, 'delivered');
  });

  test('a callback that was never started is started by reconcile, once it is overdue', async () => {
    const { taskId } = await owed('/crashed');
    const text = `update callback_deliveries set due_at = now() - interval '2 minutes' where task_id = $1`;
    await service.database.db.run({ name: 'test-overdue', text }, [taskId]);
    await triggerSchedule(temporal.client, taskQueuesOf(service.settings.taskQueue), 'reconcile');
    await receiver.waitForCallbacks('/crashed', 1);
    await waitForDelivery(service.database.db, taskId, 'delivered');
  });

  test('a redelivery whose signal was lost is sent by reconcile, although the schedule pauses for minutes', async () => {
    statuses.set('/unheard', [500, 500]);
    const { taskId, accountId } = await owed('/unheard');
    await engine.startDelivery({ taskId, accountId });
    await waitForAttempts(service.database.db, taskId, 2);
    await requestRedelivery(service.database.db, taskId);
    const text = `update callback_deliveries set due_at = now() - interval '2 minutes' where task_id = $1`;
    await service.database.db.run({ name: 'test-overdue', text }, [taskId]);
    await triggerSchedule(temporal.client, taskQueuesOf(service.settings.taskQueue), 'reconcile');
    await receiver.waitForCallbacks('/unheard', 3);
    await waitForDelivery(service.database.db, taskId, 'delivered');
    assert.deepEqual(await endsOfPauses(taskId), ['over', 'interrupted'], 'the schedule had said five minutes');
  });

  test('a task that is cancelled while it is generated is told of once, however slow the receiver is', async () => {
    let release = () => {};
    held.set('/cancelled', new Promise((resolve) => (release = resolve)));
    const created = await createTask(api, {
      model: 'videogen-2.0-fast',
      input: { prompt: 'cancelled [[hang]]' },
      callBackUrl: `${receiver.url}/cancelled`,
    });
    assert.equal(created.status, 200, created.body.msg);
    const taskId = String(created.body.data['taskId']);
    await waitFor('the generation', async () =>
      (await recordInfo(api, taskId)).body.data['state'] === 'generating' ? true : undefined,
    );
    assert.equal((await post('/api/v1/jobs/cancelTask', { taskId })).body.data['cancelled'], true);
    await receiver.waitForCallbacks('/cancelled', 1);
    const handle = temporal.client.workflow.getHandle(taskWorkflowId(taskId));
    await waitFor('the cancellation of the workflow', async () => {
      const { events } = await handle.fetchHistory();
      return events?.find((event) => event.workflowExecutionCancelRequestedEventAttributes);
    });
    release();
    await waitForDelivery(service.database.db, taskId, 'delivered');
    await handle.result();
    assert.equal((await listDeliveryAttempts(service.database.db, taskId)).length, 1);
    assert.equal((await receiver.waitForCallbacks('/cancelled', 1)).length, 1);
  });

  test('the owner’s secret verifies; after a rotation both do for the overlap, then only the new one', async () => {
    const first = await shownSecret('/api/v1/callbacks/secret', {});
    await delivered('/signed');
    const second = await shownSecret('/api/v1/callbacks/secret/rotate', { overlapSeconds: 600 });
    await delivered('/rotated');
    const third = await shownSecret('/api/v1/callbacks/secret/rotate', { overlapSeconds: 0 });
    await delivered('/alone');
    const seen = async (path: string) => {
      const [callback] = await receiver.waitForCallbacks(path, 1);
      assert.ok(callback);
      return [first, second, third].map((secret) => verifies(secret, callback));
    };
    assert.deepEqual(await seen('/signed'), [true, false, false]);
    assert.deepEqual(await seen('/rotated'), [true, true, false]);
    assert.deepEqual(await seen('/alone'), [true, false, true], 'the first one is still in its own overlap');
  });
});
