import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { resultKeysOf } from '../../../activities/task-file-keys-and-deletion.ts';
import { setEventEndpoint } from '../../../src/tasks/callbacks/event-endpoint.ts';
import { setLowBalanceThreshold } from '../../../src/credits/ledger/balance-and-low-balance-threshold.ts';
import { eventTypes } from '../../../src/tasks/callbacks/account-event-types-and-body.ts';
import { taskEventId } from '../../../src/tasks/end/task-end-event-and-delivery-ids.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { interruptedParts, Killed } from '../../support/processes/dying-worker-parts.ts';
import { acceptTestTask, madeUpMeasures, taskParam } from '../../support/tasks/tasks.ts';
import {
  accepted,
  accountId,
  activities,
  calls,
  database,
  events,
  execute,
  failure,
  prepareReconciles,
  run,
  terminated,
  workflows,
  worldOf,
} from './reconcile-stage.ts';

prepareReconciles();

before(() => setEndpoint(null));

async function setEndpoint(lowBalance: number | null): Promise<void> {
  await setEventEndpoint(database.db, accountId, { url: 'http://receiver.test/', types: eventTypes });
  await setLowBalanceThreshold(database.db, accountId, lowBalance);
}

/** Deliveries that were started, by any call. */
const started = () => calls.flatMap((call) => /^(?:deliver|wake) (.+)$/.exec(call)?.[1] ?? []);
const overdue = `update callback_deliveries set due_at = due_at - interval '61 s' where state = 'pending'`;
const delivered = `update callback_deliveries set state = 'delivered', finished_at = now() where state = 'pending'`;
const countOf = async (taskId: string) =>
  (await execute(`select event from callback_deliveries where task_id = '${taskId}' order by event nulls first`)).map(
    ({ event }) => event,
  );

test('an event about no task is started by the next run, and that of a task only when its own workflow is late', async () => {
  const [{ balance = 0 } = {}] = await execute(`select balance from accounts where id = '${accountId}'`);
  await setEndpoint(Number(balance));
  const taskId = await accepted(terminated);
  const [low] = await execute(`select id from callback_deliveries where event = 'balance.low'`);
  await run(activities().startOwedCallbacks);
  assert.deepEqual(started(), [low?.['id']], 'the row was committed with the charge');
  await setEndpoint(null);
  await execute(delivered);
  calls.length = 0;
  // Its worker dies right after the commit.
  await failAndRefund(database.db, taskId, failure('internal'));
  assert.deepEqual(await countOf(taskId), ['task.failed']);
  await run(activities().startOwedCallbacks);
  assert.deepEqual([started(), events.seen], [[], []]);
  await execute(overdue);
  await run(activities().startOwedCallbacks);
  assert.deepEqual(started(), [taskEventId(taskId)]);
  assert.deepEqual(events.seen, [{ kind: 'reconcile_finding', finding: 'callback_owed' }]);
});

test('a run that dies anywhere at an ended workflow leaves one callback and one event, which are started by a later run', async () => {
  await execute(delivered);
  for (let call = 0, hasDied = true; hasDied; call += 1) {
    for (const when of ['before', 'after'] as const) {
      const taskId = await accepted(terminated, 'http://own.test/');
      calls.length = 0;
      const dying = interruptedParts(worldOf(), { call, when });
      await run(activities(dying.parts).reconcileTasks).catch((error: unknown) => assert.ok(error instanceof Killed));
      hasDied = dying.calls.length > call;
      await run(activities().reconcileTasks);
      await execute(overdue);
      await run(activities().startOwedCallbacks);
      assert.deepEqual(await countOf(taskId), [null, 'task.failed']);
      assert.deepEqual([...new Set(started())].toSorted(), [taskId, taskEventId(taskId)].toSorted());
      await execute(delivered);
    }
  }
});

test('a worker that dies anywhere while it ends a task leaves one event, and the repeated step still reports it', async () => {
  for (let call = 0, hasDied = true; hasDied; call += 1) {
    for (const when of ['before', 'after'] as const) {
      const taskId = await acceptTestTask(database.db, accountId, taskParam('ended'));
      const { video: videoKey, poster: posterKey } = resultKeysOf(taskId, madeUpMeasures.sha256);
      const end = { taskId, result: { ...madeUpMeasures, videoKey, posterKey } };
      const dying = interruptedParts(worldOf(), { call, when });
      await run(() => activities(dying.parts).completeTask(end)).catch(() => undefined);
      hasDied = dying.calls.length > call;
      assert.deepEqual(await run(() => activities().completeTask(end)), {
        state: 'success',
        failCode: undefined,
        hasCallback: false,
        hasEvent: true,
      });
      assert.deepEqual(await countOf(taskId), ['task.succeeded']);
    }
  }
  assert.equal(workflows.size, 0);
});
