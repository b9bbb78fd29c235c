import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listProviderJobs } from '../../../src/tasks/jobs/provider-jobs.ts';
import { createInstallation, model } from '../../support/service/test-installation.ts';
import { endOf, endPrograms, startProgram } from '../../support/processes/programs.ts';
import { acceptTestTask, entryKinds, taskParam, waitForEnd } from '../../support/tasks/tasks.ts';

// every-window.test.ts covers every call of every activity without processes. Here real processes die, one in each activity, with the
// engine's own timeouts. Then one more worker finishes what they left.
const deaths = [
  ['after', 'mark-queuing'],
  ['after', 'intend-provider-job'],
  ['after', 'put'],
  ['before', 'inspectVideo'],
  ['before', 'end-task-in-success'],
  ['after', 'end-task-in-success'],
] as const;

test('workers that are killed in each activity leave no task unfinished, unpaid or paid twice', async () => {
  const { db, accountId, engine, environment: env, close } = await createInstallation();
  try {
    const taskIds: string[] = [];
    for (const [when, name] of deaths) {
      const taskId = await acceptTestTask(db, accountId, taskParam(`[[instant]] killed ${when} ${name}`));
      taskIds.push(taskId);
      await engine.startTask({ taskId, accountId, model });
      const { signal } = await endOf(startProgram('./killed-worker.js', [when, name], { env }));
      assert.equal(signal, 'SIGKILL', `it died ${when} ${name}`);
    }
    startProgram('../../../src/run/main/worker.js', [], { env });
    for (const taskId of taskIds) {
      const task = await waitForEnd(db, taskId);
      assert.equal(task.state, 'success', task.failure?.failMsg);
      assert.deepEqual(await entryKinds(db, taskId), ['charge']);
      const outcomes = (await listProviderJobs(db, taskId)).map(({ outcome }) => outcome);
      assert.deepEqual(outcomes, ['success']);
    }
  } finally {
    await endPrograms();
    await close();
  }
});
