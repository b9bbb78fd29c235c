import type { Client } from '@temporalio/client';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Environment } from '../../src/config.ts';
import { taskQueuesOf } from '../../src/domain/task-queues.ts';
import type { RunningPart } from '../../src/main/settings.ts';
import { auditLedger } from '../../src/stores/ledger-audit.ts';
import { connectTemporal } from '../../src/temporal/connect.ts';
import type { Engine } from '../../src/domain/ports.ts';
import { createEngine } from '../../src/temporal/engine.ts';
import type { FakeCatalogue } from '../support/fake-providers.ts';
import { createFakeUpstream, type FakeUpstream } from '../support/fake-upstream.ts';
import { createTestAccount, createTestEnvironment, type TestEnvironment } from '../support/service.ts';
import { acceptTestTask, taskParam, waitForEnd } from '../support/tasks.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWorkerWith } from '../support/worker-with.ts';

type Deploy = {
  readonly environment: TestEnvironment;
  readonly upstream: FakeUpstream;
  readonly client: Client;
  readonly engine: Engine;
  /** Starts a worker, of a version when one is given. */
  readonly worker: (version?: string) => Promise<RunningPart>;
  /** Starts a task and waits until its job runs upstream. */
  readonly generating: () => Promise<string>;
  /** Starts a task and leaves it to itself. */
  readonly accepted: () => Promise<string>;
};

/** Tasks that wait for the one place of generation. */
const backlog = 20;

test('a worker that shuts down in the middle of a generation drains without waiting for it, and the next one goes on with the same job', () =>
  withDeploy(async ({ environment, upstream, worker, generating }) => {
    const first = await worker();
    const taskId = await generating();
    await worker();
    // The generation ends only below, so a worker that waited for it would never be closed.
    await first.close();
    upstream.finish(taskId);
    assert.equal((await waitForEnd(environment.database.db, taskId)).state, 'success');
    assert.deepEqual(
      upstream.jobs.map(({ state }) => state),
      ['done'],
      'one job, which nobody cancelled',
    );
  }));

test('a generation that a shutdown broke off is not put behind what has only waited', () =>
  withDeploy(
    async ({ environment, upstream, engine, worker, accepted, generating }) => {
      const first = await worker();
      const taskId = await generating();
      const waiting = await Promise.all(Array.from({ length: backlog }, accepted));
      for (const waits of waiting) {
        await waitFor('it to queue', async () => {
          const { pendingActivities } = await engine.describeTask(waits);
          return pendingActivities.includes('generateVideo') ? true : undefined;
        });
      }
      await first.close();
      await worker();
      const overtook = await upstream.whileFinishing(async () => {
        await waitForEnd(environment.database.db, taskId);
        const asked = upstream.asked.length - 1;
        for (const waits of waiting) await waitForEnd(environment.database.db, waits);
        return asked;
      });
      assert.ok(overtook < backlog / 2, `${overtook} of ${backlog} had been asked for before it ended`);
    },
    { GENERATION_CONCURRENCY: '1' },
    { isRemote: false },
  ));

test('two versions of the worker side by side: each task stays with the version that began it', () =>
  withDeploy(async ({ environment, upstream, client, worker, generating }) => {
    await worker('1.0.0');
    await makeCurrent(client, environment, '1.0.0');
    const began = await generating();
    await worker('2.0.0');
    await makeCurrent(client, environment, '2.0.0');
    const beganLater = await generating();
    upstream.finish();
    for (const taskId of [began, beganLater]) {
      assert.equal((await waitForEnd(environment.database.db, taskId)).state, 'success');
    }
    assert.deepEqual([await versionsOf(client, began), await versionsOf(client, beganLater)], [['1.0.0'], ['2.0.0']]);
  }));

async function withDeploy(
  story: (deploy: Deploy) => Promise<void>,
  extra: Environment = {},
  catalogue: FakeCatalogue = {},
): Promise<void> {
  const environment = await createTestEnvironment(extra);
  const { db } = environment.database;
  const upstream = createFakeUpstream({ instant: false });
  const temporal = connectTemporal(environment.settings.temporal);
  const engine = createEngine(temporal.client, taskQueuesOf(environment.settings.taskQueue));
  const { accountId } = await createTestAccount(environment.database);
  const workers: RunningPart[] = [];
  const worker = async (workerVersion?: string) => {
    const started = await startWorkerWith({ ...environment.settings, workerVersion }, upstream, catalogue);
    workers.push(started);
    return started;
  };
  const accepted = async () => {
    const taskId = await acceptTestTask(db, accountId, taskParam('deployed'));
    await engine.startTask({ taskId, accountId, model: 'videogen-2.0-fast' });
    return taskId;
  };
  const generating = async () => {
    const taskId = await accepted();
    await waitFor('a job', () => (upstream.jobs.some((job) => job.taskId === taskId) ? true : undefined));
    return taskId;
  };
  try {
    await story({ environment, upstream, client: temporal.client, engine, worker, accepted, generating });
    assert.deepEqual(await auditLedger(db), []);
  } finally {
    // Also those that the story has closed already, of which one may complain.
    await Promise.allSettled(workers.map((started) => started.close()));
    await temporal.close();
    await environment.close();
  }
}

/** What `temporal worker deployment set-current-version` does; it takes a moment until Temporal has heard of a new version. */
async function makeCurrent(client: Client, { settings }: TestEnvironment, buildId: string): Promise<void> {
  await waitFor(`version ${buildId}`, async () => {
    try {
      await client.workflowService.setWorkerDeploymentCurrentVersion({
        namespace: settings.temporal.namespace,
        deploymentName: settings.taskQueue,
        buildId,
        identity: 'a test',
      });
      return true;
    } catch {
      return undefined;
    }
  });
}

/** Build ids of the workers that carried a workflow on, each once. */
async function versionsOf(client: Client, taskId: string): Promise<readonly string[]> {
  const handle = client.workflow.getHandle(taskId);
  await handle.result();
  const { events } = await handle.fetchHistory();
  const versions = events?.flatMap(
    (event) => event.workflowTaskCompletedEventAttributes?.deploymentVersion?.buildId ?? [],
  );
  return [...new Set(versions)];
}
