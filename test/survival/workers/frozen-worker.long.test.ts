import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { listProviderJobs } from '../../../src/tasks/jobs/provider-jobs.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { catalogueOf, kinds, upstreamKey, writeKindFiles } from '../../fakes/provider-kinds.ts';
import { markedVideo, startOwnUpstream } from '../../fakes/own-upstream.ts';
import { createInstallation } from '../../support/service/test-installation.ts';
import { endOf, endPrograms, startProgram } from '../../support/processes/programs.ts';
import { acceptTestTask, entryKinds, taskParam, waitForEnd } from '../../support/tasks/tasks.ts';
import { waitFor } from '../../support/wait-for.ts';

const model = 'own';

// The polls of a frozen worker stay open at the server for a minute, and each may receive one more task. A workflow task times out
// after 10 s, a generation after the 30 s of its heartbeat. Usually this takes 35 s.
const attemptElsewhereMs = 240_000;

// The upstream serves other bytes with each download, so a result that was replaced would be noticed.
test('a worker that is frozen for longer than its heartbeat timeout, and comes back, changes no result and pays for no second job', async () => {
  const upstream = await startOwnUpstream({ key: upstreamKey, marksDownloads: true });
  const { db, settings, environment, accountId, engine, client, close } = await createInstallation();
  const [folder, kind] = [settings.dataFolder, kinds.get(model) ?? assert.fail()];
  const modelsFile = join(folder, 'models.json');
  await writeKindFiles(folder);
  const placed = { name: model, kind, baseUrl: `http://${upstream.address}`, limit: 10 };
  await writeFile(modelsFile, JSON.stringify(catalogueOf([placed])));
  // A mark would make the stored bytes differ from the ones that the upstream served.
  const env = { ...environment, VIDEOGEN_MODELS: modelsFile, MARK_VIDEOS: 'off' };
  const start = () => startProgram('../../../src/run/main/worker.js', [], { env });
  /** Starts a task, and waits until its job runs upstream. */
  const startGenerating = async () => {
    const taskId = await acceptTestTask(db, accountId, { ...taskParam('frozen'), model });
    await engine.startTask({ taskId, accountId, model });
    await waitFor('its job', async () => (await listProviderJobs(db, taskId))[0]?.jobId);
    return taskId;
  };
  /** The identity of the worker on which its generation runs now. */
  const workerOf = async (taskId: string) => {
    const { raw } = await client.workflow.getHandle(taskId).describe();
    // 2 is "started", of the states of a pending activity in Temporal's API.
    return raw.pendingActivities?.find(({ state }) => Number(state) === 2)?.lastWorkerIdentity ?? undefined;
  };
  /** One charge, one job, one result: the stored video is the one in the record. Returns its hash. */
  const checkResult = async (taskId: string) => {
    const task = await findTask(db, taskId);
    assert.ok(task?.result, task?.failure?.failMsg);
    assert.equal(upstream.bodies.length, 2, 'creates upstream');
    const outcomes = (await listProviderJobs(db, taskId)).map(({ outcome }) => outcome);
    assert.deepEqual(outcomes, ['success']);
    assert.deepEqual(await entryKinds(db, taskId), ['charge']);
    const stored = sha256Of(await readFile(join(folder, 'results', task.result.videoKey)));
    assert.equal(stored, task.result.sha256);
    return stored;
  };
  try {
    const frozen = start();
    const [endsMeanwhile, endsAfterwards] = [await startGenerating(), await startGenerating()];
    frozen.kill('SIGSTOP');
    const other = start();
    for (const taskId of [endsMeanwhile, endsAfterwards]) {
      const isElsewhere = async () => (await workerOf(taskId)) === identityOf(other) || undefined;
      await waitFor('an attempt on the other worker', isElsewhere, attemptElsewhereMs);
    }
    await upstream.books.end(endsMeanwhile, 'succeeded');
    await waitForEnd(db, endsMeanwhile);
    // From here on both workers follow the other job.
    frozen.kill('SIGCONT');
    await upstream.books.end(endsAfterwards, 'succeeded');
    await waitForEnd(db, endsAfterwards);
    // After a drain nothing of their attempts is left to happen.
    for (const worker of [frozen, other]) {
      worker.kill('SIGTERM');
      assert.deepEqual(await endOf(worker), { code: 0, signal: null });
    }
    assert.equal(await checkResult(endsMeanwhile), sha256Of(markedVideo(endsMeanwhile, 1)), 'the first video');
    await checkResult(endsAfterwards);
  } finally {
    await endPrograms();
    await upstream.close();
    await close();
  }
});

/** The identity that the SDK gives a worker at Temporal. */
const identityOf = (worker: ChildProcess) => `${worker.pid}@${hostname()}`;

function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
