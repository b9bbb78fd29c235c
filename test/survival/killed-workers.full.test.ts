import assert from 'node:assert/strict';
import { test } from 'node:test';
import { taskQueuesOf } from '../../src/domain/task-queues.ts';
import { auditLedger } from '../../src/stores/ledger-audit.ts';
import { listTaskEntries } from '../../src/stores/credits.ts';
import { listProviderJobs } from '../../src/stores/provider-jobs.ts';
import { connectTemporal } from '../../src/temporal/connect.ts';
import { createEngine } from '../../src/temporal/engine.ts';
import { endOf, endPrograms, startProgram } from '../support/programs.ts';
import { createTestAccount, createTestEnvironment } from '../support/service.ts';
import { acceptTestTask, taskParam, waitForEnd } from '../support/tasks.ts';

// Every window of every activity is in every-window.test.ts, without processes; here real ones die, with the engine's own
// timeouts, one in each activity. Then one worker that lives has to finish what they left.
const deaths = [
  ['after', 'mark-queuing'],
  ['after', 'intend-provider-job'],
  ['after', 'put'],
  ['before', 'inspectVideo'],
  ['before', 'end-task-in-success'],
  ['after', 'end-task-in-success'],
] as const;

test('workers that are killed in each activity leave no task unfinished, unpaid or paid twice', async () => {
  const environment = await createTestEnvironment();
  const { db } = environment.database;
  const temporal = connectTemporal(environment.settings.temporal);
  const engine = createEngine(temporal.client, taskQueuesOf(environment.settings.taskQueue));
  const { environment: env } = environment;
  try {
    const { accountId } = await createTestAccount(environment.database);
    const taskIds: string[] = [];
    for (const [when, name] of deaths) {
      const taskId = await acceptTestTask(db, accountId, taskParam(`[[instant]] killed ${when} ${name}`));
      taskIds.push(taskId);
      await engine.startTask({ taskId, accountId, model: 'videogen-2.0-fast' });
      const { signal } = await endOf(startProgram('./killed-worker.js', [when, name], { env }));
      assert.equal(signal, 'SIGKILL', `it died ${when} ${name}`);
    }
    startProgram('../../src/main/worker.js', [], { env });
    for (const taskId of taskIds) {
      const task = await waitForEnd(db, taskId);
      assert.equal(task.state, 'success', task.failure?.failMsg);
      assert.deepEqual(
        (await listTaskEntries(db, taskId)).map(({ kind }) => kind),
        ['charge'],
      );
      assert.deepEqual(
        (await listProviderJobs(db, taskId)).map(({ outcome }) => outcome),
        ['success'],
      );
    }
    assert.deepEqual(await auditLedger(db), []);
  } finally {
    await endPrograms();
    await temporal.close();
    await environment.close();
  }
});
