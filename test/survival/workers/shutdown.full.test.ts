import type { Client } from '@temporalio/client';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Environment } from '../../../src/run/config/config.ts';
import { createInstallation, type Installation } from '../../support/service/test-installation.ts';
import { waitForEnd } from '../../support/tasks/tasks.ts';
import { waitFor } from '../../support/wait-for.ts';
import { makeCurrent } from '../../support/service/make-version-current.ts';

/** Tasks that wait for the one slot of generation. */
const backlog = 20;

test('a worker that shuts down in the middle of a generation drains without waiting for it, and the next one goes on with the same job', () =>
  withInstallation(async ({ db, upstream, startWorker, startGenerating }) => {
    const first = await startWorker();
    const taskId = await startGenerating();
    await startWorker();
    // The generation ends only below, so a worker that waited for it would never be closed.
    await first.close();
    upstream.finish(taskId);
    assert.equal((await waitForEnd(db, taskId)).state, 'success');
    const states = upstream.jobs.map(({ state }) => state);
    assert.deepEqual(states, ['done'], 'one job, which was not cancelled');
  }));

test('a generation that a shutdown interrupted does not queue behind tasks that have only waited', () =>
  withInstallation(
    async ({ db, upstream, engine, startWorker, start, startGenerating }) => {
      const local = { catalogue: { isRemote: false } };
      const first = await startWorker(local);
      const taskId = await startGenerating();
      const waiting = await Promise.all(Array.from({ length: backlog }, () => start()));
      for (const queued of waiting) {
        await waitFor('it to queue', async () => {
          const { pendingActivities } = await engine.describeTask(queued);
          return pendingActivities.includes('generateVideo') ? true : undefined;
        });
      }
      await first.close();
      await startWorker(local);
      await upstream.whileFinishing(async () => {
        for (const one of [taskId, ...waiting]) await waitForEnd(db, one);
      });
      const text = `
select count(*)::int as overtook from tasks
where id = any($2::uuid[]) and generation_started_at < (select completed_at from tasks where id = $1)`;
      const [row] = await db.run<{ overtook: number }>({ name: 'test-overtook', text }, [taskId, waiting]);
      assert.ok(
        row !== undefined && row.overtook < backlog / 2,
        `${row?.overtook} of ${backlog} began before it ended`,
      );
    },
    { GENERATION_CONCURRENCY: '1' },
  ));

test('two versions of the worker side by side: each task stays with the version that began it', () =>
  withInstallation(async (installation) => {
    const { db, upstream, client, startWorker, startGenerating } = installation;
    await startWorker({ settings: { workerVersion: '1.0.0' } });
    await makeCurrent(client, installation, '1.0.0');
    const began = await startGenerating();
    await startWorker({ settings: { workerVersion: '2.0.0' } });
    await makeCurrent(client, installation, '2.0.0');
    const beganLater = await startGenerating();
    upstream.finish();
    for (const taskId of [began, beganLater]) assert.equal((await waitForEnd(db, taskId)).state, 'success');
    assert.deepEqual([await versionsOf(client, began), await versionsOf(client, beganLater)], [['1.0.0'], ['2.0.0']]);
  }));

test('a task of a worker without a version continues on the first version that becomes current', () =>
  withInstallation(async (installation) => {
    const { db, upstream, client, startWorker, startGenerating } = installation;
    const unversioned = await startWorker();
    const began = await startGenerating();
    await startWorker({ settings: { workerVersion: '1.0.0' } });
    await makeCurrent(client, installation, '1.0.0');
    // Temporal may send it the next step of the workflow that it has cached until it has learned of the change.
    await unversioned.close();
    upstream.finish();
    assert.equal((await waitForEnd(db, began)).state, 'success');
    assert.deepEqual(await versionsOf(client, began), ['1.0.0']);
  }));

async function withInstallation(story: (one: Installation) => Promise<void>, extra: Environment = {}): Promise<void> {
  const installation = await createInstallation(extra);
  try {
    await story(installation);
  } finally {
    await installation.close();
  }
}

/** The build ids of the workers that ran steps of a workflow, each once. */
async function versionsOf(client: Client, taskId: string): Promise<readonly string[]> {
  const handle = client.workflow.getHandle(taskId);
  await handle.result();
  const { events } = await handle.fetchHistory();
  const versions = events?.flatMap(
    (event) => event.workflowTaskCompletedEventAttributes?.deploymentVersion?.buildId ?? [],
  );
  return [...new Set(versions)];
}
