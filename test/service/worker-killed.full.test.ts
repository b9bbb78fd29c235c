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
  const startWorker = (extra: NodeJS.ProcessEnv) =>
    startProgram('../../src/main/worker.js', [], { env: { ...environment.environment, ...extra } });
  try {
    const { accountId } = await createTestAccount(environment.database);
    const taskId = await acceptTestTask(db, accountId, taskParam('[[slow 1s]] [[hang]] killed'));
    const engine = createEngine(temporal.client, taskQueuesOf(environment.settings.taskQueue));
    await engine.startTask({ taskId, accountId, model: 'videogen-2.0-fast' });

    // The prompt makes this one hang in the middle of the job. The next one takes the prompt for text, and renders the video.
    const first = startWorker({ PREVIEW_FAULTS: '1' });
    const progressOf = createTaskProgress(temporal.client);
    await waitFor('progress', async () => {
      const task = await findTask(db, taskId);
      return task !== undefined && (await progressOf(task)) > 0 ? true : undefined;
    });
    first.kill('SIGKILL');
    await endOf(first);
    const [job] = await listProviderJobs(db, taskId);
    assert.ok(job !== undefined && job.outcome === undefined);

    startWorker({ PREVIEW_FAULTS: '0' });
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
