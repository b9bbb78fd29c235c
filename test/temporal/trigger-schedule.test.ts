import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createMissingSchedule, readScheduleState, triggerSchedule } from '../../src/temporal/schedules/schedules.ts';
import { connectEngine, type EngineClient } from '../support/service/test-installation.ts';
import { createTestEnvironment, type TestEnvironment } from '../support/service/test-service.ts';
import { waitFor } from '../support/wait-for.ts';

let environment: TestEnvironment;
let temporal: EngineClient;
before(async () => {
  environment = await createTestEnvironment();
  temporal = connectEngine(environment);
});
after(async () => {
  await temporal.close();
  await environment.close();
});

/** Its interval, a day, adds no run of its own. */
const name = 'audit-full';

test('a schedule never runs beside itself: a trigger during a run is skipped', async () => {
  const { client, queues } = temporal;
  assert.ok(await createMissingSchedule(client, queues, name));
  const { id } = await readScheduleState(client, queues, name);
  const schedule = client.schedule.getHandle(id);
  // Its first run does not end, because no worker polls.
  await waitFor('its first run', async () => (await schedule.describe()).info.numActionsTaken === 1 || undefined);
  for (const triggers of [1, 2]) {
    await triggerSchedule(client, queues, name);
    // One at a time: of several triggers between two decisions, Temporal may count only the last.
    const { numActionsTaken, runningActions } = await waitFor('the decision about the trigger', async () => {
      const { info } = await schedule.describe();
      return info.numActionsTaken + info.numActionsSkippedOverlap > triggers ? info : undefined;
    });
    assert.deepEqual([numActionsTaken, runningActions.length], [1, 1]);
  }
  // Temporal lists a workflow some time after its start.
  const runs = await waitFor('its run to be listed', async () => {
    const found: string[] = [];
    for await (const { workflowId } of client.workflow.list({ query: `WorkflowId STARTS_WITH '${id}'` }))
      found.push(workflowId);
    return found.length > 0 ? found : undefined;
  });
  assert.equal(runs.length, 1);
  await schedule.delete();
});
