import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { callbackWorkflowId, taskWorkflowId } from '../../src/temporal/connection/queue-names-and-workflow-ids.ts';
import { requestRedelivery, listDeliveryAttempts } from '../../src/tasks/callbacks/deliveries.ts';
import { markMediaDeleted } from '../../src/tasks/end/expired-media-rows.ts';
import { type Api, createdTask, post, recordInfo } from '../support/service/call-api.ts';
import { type CallbackReceiver, startCallbackReceiver } from '../support/servers/callback-receiver.ts';
import { connectEngine, type EngineClient } from '../support/service/test-installation.ts';
import { owedCallback, waitForAttempts, waitForDelivery } from '../support/tasks/owed-callback.ts';
import {
  createTestAccount,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service/test-service.ts';
import { waitFor } from '../support/wait-for.ts';

describe('callbacks', () => {
  let service: TestService;
  let account: TestAccount;
  let api: Api;
  let temporal: EngineClient;
  let receiver: CallbackReceiver;
  const statuses = new Map<string, number[]>();
  /** Paths whose responses wait. */
  const held = new Map<string, Promise<void>>();
  before(async () => {
    service = await startTestService();
    account = await createTestAccount(service.database, 100_000);
    api = { baseUrl: service.baseUrl, key: account.key };
    temporal = connectEngine(service);
    // A path returns its statuses one after the other, and 204 from then on.
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
    await temporal.engine.startDelivery(delivery);
    await waitForDelivery(service.database.db, delivery.taskId, 'delivered');
    return delivery.taskId;
  };
  const redeliver = async (taskId: string) => {
    const { status, body } = await post(api, '/api/v1/callbacks/redeliver', { taskId });
    assert.equal(status, 200, body.msg);
  };
  /** The ends of the pauses of a delivery, from its history. */
  const pausesOf = async (taskId: string) => {
    const { events } = await temporal.client.workflow.getHandle(callbackWorkflowId(taskId)).fetchHistory();
    return (events ?? []).filter((event) => event.timerStartedEventAttributes).length;
  };
  const endsOfPauses = async (taskId: string) => {
    const { events } = await temporal.client.workflow.getHandle(callbackWorkflowId(taskId)).fetchHistory();
    return (events ?? []).flatMap((event) => {
      if (event.timerCanceledEventAttributes) return ['interrupted'];
      return event.timerFiredEventAttributes ? ['over'] : [];
    });
  };
  test('the body is the response of recordInfo, envelope included', async () => {
    const taskId = await delivered('/body');
    const [callback] = await receiver.waitForCallbacks('/body', 1);
    assert.deepEqual(JSON.parse(callback?.body ?? ''), (await recordInfo(api, taskId)).body);
    assert.equal(callback?.headers['content-type'], 'application/json');
  });

  test('a failed attempt is followed by another after five seconds: same webhook-id, fresh timestamp, each recorded', async () => {
    statuses.set('/flaky', [500]);
    const { taskId } = await owed('/flaky');
    await temporal.engine.startDelivery({ deliveryId: taskId, accountId: account.accountId });
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
    await temporal.engine.startDelivery({ deliveryId: taskId, accountId: account.accountId });
    await temporal.client.workflow.getHandle(callbackWorkflowId(taskId)).result();
    assert.equal((await receiver.waitForCallbacks('/once', 1)).length, 1);
    assert.equal((await listDeliveryAttempts(service.database.db, taskId)).length, 1);
  });

  test('redelivery sends again with the same webhook-id, also when the media is long deleted', async () => {
    const delivery = await owed('/years', 'success');
    await temporal.engine.startDelivery(delivery);
    await waitForDelivery(service.database.db, delivery.taskId, 'delivered');
    await markMediaDeleted(service.database.db, delivery.taskId);
    await temporal.client.workflow.getHandle(callbackWorkflowId(delivery.taskId)).result();
    await redeliver(delivery.taskId);
    const [first, second] = await receiver.waitForCallbacks('/years', 2);
    assert.equal(second?.headers['webhook-id'], first?.headers['webhook-id']);
    assert.deepEqual(JSON.parse(second?.body ?? ''), (await recordInfo(api, delivery.taskId)).body);
    await waitForDelivery(service.database.db, delivery.taskId, 'delivered');
  });

  test('reconcile starts a callback that was never started, once it is overdue', async () => {
    const { taskId } = await owed('/crashed');
    const text = `update callback_deliveries set due_at = now() - interval '2 minutes' where task_id = $1`;
    await service.database.db.run({ name: 'test-overdue', text }, [taskId]);
    await temporal.trigger('reconcile');
    await receiver.waitForCallbacks('/crashed', 1);
    await waitForDelivery(service.database.db, taskId, 'delivered');
  });

  test('reconcile sends a redelivery whose signal was lost, although the schedule pauses for minutes', async () => {
    statuses.set('/unheard', [500, 500]);
    const { taskId, accountId } = await owed('/unheard');
    await temporal.engine.startDelivery({ deliveryId: taskId, accountId });
    await waitForAttempts(service.database.db, taskId, 2);
    await waitFor('the second pause', async () => ((await pausesOf(taskId)) === 2 ? true : undefined));
    await requestRedelivery(service.database.db, taskId);
    const text = `update callback_deliveries set due_at = now() - interval '2 minutes' where task_id = $1`;
    await service.database.db.run({ name: 'test-overdue', text }, [taskId]);
    await temporal.trigger('reconcile');
    await receiver.waitForCallbacks('/unheard', 3);
    await waitForDelivery(service.database.db, taskId, 'delivered');
    assert.deepEqual(await endsOfPauses(taskId), ['over', 'interrupted'], 'the schedule had a pause of five minutes');
  });

  test('a task that is canceled while it is generated has one callback, however slow the receiver is', async () => {
    let release = () => {};
    held.set('/cancelled', new Promise((resolve) => (release = resolve)));
    const taskId = await createdTask(api, 'cancelled [[hang]]', { callBackUrl: `${receiver.url}/cancelled` });
    await waitFor('the generation', async () =>
      (await recordInfo(api, taskId)).body.data['state'] === 'generating' ? true : undefined,
    );
    assert.equal((await post(api, '/api/v1/jobs/cancelTask', { taskId })).body.data['cancelled'], true);
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
});
