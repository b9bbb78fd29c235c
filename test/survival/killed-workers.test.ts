import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { taskQueuesOf } from '../../src/domain/task-queues.ts';
import { auditLedger } from '../../src/stores/ledger-audit.ts';
import { listTaskEntries } from '../../src/stores/ledger.ts';
import { listProviderJobs } from '../../src/stores/provider-jobs.ts';
import { connectTemporal } from '../../src/temporal/connect.ts';
import { createEngine } from '../../src/temporal/engine.ts';
import { createTestAccount, createTestEnvironment, type TestEnvironment } from '../support/service.ts';
import { acceptTestTask, taskParam, waitForEnd } from '../support/tasks.ts';

// Every window of every activity is in every-window.test.ts, without processes; here real ones die, with the engine's own
// timeouts, one in each activity. Then one worker that lives has to finish what they left.
const deaths = [
  ['after', 'mark-queuing'],
  ['after', 'intend-provider-job'],
  ['before', 'inspectVideo'],
  ['before', 'end-task-in-success'],
  ['after', 'end-task-in-success'],
] as const;

test('workers that are killed in each activity leave no task unfinished, unpaid or paid twice', async () => {
  const environment = await createTestEnvironment();
  const { db } = environment.database;
  const temporal = connectTemporal(environment.settings.temporal);
  const engine = createEngine(temporal.client, taskQueuesOf(environment.settings.taskQueue));
  const workers: ChildProcess[] = [];
  try {
    const { accountId } = await createTestAccount(environment.database);
    const taskIds: string[] = [];
    for (const [when, name] of deaths) {
      const taskId = await acceptTestTask(db, accountId, taskParam(`[[instant]] killed ${when} ${name}`));
      taskIds.push(taskId);
      await engine.startTask({ taskId, accountId, model: 'videogen-2.0-fast' });
      const worker = startProgram('../support/killed-worker.js', [when, name], environment);
      workers.push(worker);
      const [, signal] = (await once(worker, 'exit')) as [number | null, string | null]; // what 'exit' carries
      assert.equal(signal, 'SIGKILL', `it died ${when} ${name}`);
    }
    workers.push(startProgram('../../src/worker.js', [], environment));
    for (const taskId of taskIds) {
      const task = await waitForEnd(db, taskId, 60_000);
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
    for (const worker of workers) worker.kill('SIGKILL');
    await temporal.close();
    await environment.close();
  }
});

function startProgram(file: string, args: readonly string[], { environment }: TestEnvironment): ChildProcess {
  const path = fileURLToPath(new URL(file, import.meta.url));
  return spawn(process.execPath, [path, ...args], { env: environment, stdio: 'inherit' });
}
