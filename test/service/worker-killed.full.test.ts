import assert from 'node:assert/strict';
import { test } from 'node:test';
import { taskQueuesOf } from '../../src/domain/task-queues.ts';
import { auditLedger } from '../../src/stores/ledger-audit.ts';
import { listTaskEntries } from '../../src/stores/credits.ts';
import { listProviderJobs } from '../../src/stores/provider-jobs.ts';
import { findTask } from '../../src/stores/tasks.ts';
import { connectTemporal } from '../../src/temporal/connect.ts';
import { createEngine } from '../../src/temporal/engine.ts';
import { createTaskProgress } from '../../src/temporal/task-progress.ts';
import { endOf, endPrograms, startProgram } from '../support/programs.ts';
import { createTestAccount, createTestEnvironment } from '../support/service.ts';
import { acceptTestTask, taskParam, waitForEnd } from '../support/tasks.ts';
import { waitFor } from '../support/wait-for.ts';

test('a task whose worker is killed in the middle of generation is finished by the next one, charged once', async () => {
  const environment = await createTestEnvironment();
  const { db } = environment.database;
  const temporal = connectTemporal(environment.settings.temporal);
  const startWorker = () => startProgram('../../src/main/worker.js', [], { env: environment.environment });
  try {
    const { accountId } = await createTestAccount(environment.database);
    const taskId = await acceptTestTask(db, accountId, taskParam('[[instant]] [[slow 6s]] killed'));
    const engine = createEngine(temporal.client, taskQueuesOf(environment.settings.taskQueue));
    await engine.startTask({ taskId, accountId, model: 'videogen-2.0-fast' });

    const first = startWorker();
    const progressOf = createTaskProgress(temporal.client);
    const progress = await waitFor('progress', async () => {
      const task = await findTask(db, taskId);
      const figure = task === undefined ? 0 : await progressOf(task);
      return figure >= 20 ? figure : undefined;
    });
    first.kill('SIGKILL');
    await endOf(first);
    assert.ok(progress < 90, `it was in the middle: ${progress}`);
    const [job] = await listProviderJobs(db, taskId);
    assert.ok(job);

    startWorker();
    const task = await waitForEnd(db, taskId);
    assert.equal(task.state, 'success', task.failure?.failMsg);
    assert.deepEqual(
      (await listTaskEntries(db, taskId)).map(({ kind }) => kind),
      ['charge'],
    );
    const [resumed, ...others] = await listProviderJobs(db, taskId);
    assert.deepEqual([resumed?.jobId, resumed?.outcome, others], [job.jobId, 'success', []], 'resumed, not made again');
    assert.deepEqual(await auditLedger(db), []);
  } finally {
    await endPrograms();
    await temporal.close();
    await environment.close();
  }
});
