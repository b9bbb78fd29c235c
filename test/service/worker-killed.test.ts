import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { taskQueuesOf } from '../../src/domain/task-queues.ts';
import { auditLedger } from '../../src/stores/ledger-audit.ts';
import { listTaskEntries } from '../../src/stores/ledger.ts';
import { listProviderJobs } from '../../src/stores/provider-jobs.ts';
import { findTask } from '../../src/stores/tasks.ts';
import { connectTemporal } from '../../src/temporal/connect.ts';
import { createEngine } from '../../src/temporal/engine.ts';
import { createTaskProgress } from '../../src/temporal/task-progress.ts';
import { createTestAccount, createTestEnvironment, type TestEnvironment } from '../support/service.ts';
import { acceptTestTask, taskParam, waitForEnd } from '../support/tasks.ts';
import { waitFor } from '../support/wait-for.ts';

test('a task whose worker is killed in the middle of generation is finished by the next one, charged once', async () => {
  const environment = await createTestEnvironment();
  const { db } = environment.database;
  const temporal = connectTemporal(environment.settings.temporal);
  const workers: ChildProcess[] = [];
  try {
    const { accountId } = await createTestAccount(environment.database);
    const taskId = await acceptTestTask(db, accountId, taskParam('[[instant]] [[slow 6s]] killed'));
    const engine = createEngine(temporal.client, taskQueuesOf(environment.settings.taskQueue));
    await engine.startTask({ taskId, accountId, model: 'videogen-2.0-fast' });

    const first = startWorker(environment);
    workers.push(first);
    const progressOf = createTaskProgress(temporal.client);
    const progress = await waitFor('progress', async () => {
      const task = await findTask(db, taskId);
      const figure = task === undefined ? 0 : await progressOf(task);
      return figure >= 20 ? figure : undefined;
    });
    first.kill('SIGKILL');
    await once(first, 'exit');
    assert.ok(progress < 90, `it was in the middle: ${progress}`);
    const [job] = await listProviderJobs(db, taskId);
    assert.ok(job);

    workers.push(startWorker(environment));
    const task = await waitForEnd(db, taskId, 90_000);
    assert.equal(task.state, 'success', task.failure?.failMsg);
    assert.deepEqual(
      (await listTaskEntries(db, taskId)).map(({ kind }) => kind),
      ['charge'],
    );
    const [resumed, ...others] = await listProviderJobs(db, taskId);
    assert.deepEqual([resumed?.jobId, resumed?.outcome, others], [job.jobId, 'success', []], 'resumed, not made again');
    assert.deepEqual(await auditLedger(db), []);
  } finally {
    for (const worker of workers) worker.kill('SIGKILL');
    await temporal.close();
    await environment.close();
  }
});

function startWorker({ environment }: TestEnvironment): ChildProcess {
  return spawn(process.execPath, [fileURLToPath(new URL('../../src/worker.js', import.meta.url))], {
    env: environment,
    stdio: 'inherit',
  });
}
