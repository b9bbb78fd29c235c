import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { taskQueuesOf } from '../../src/domain/task-queues.ts';
import { auditLedger } from '../../src/stores/ledger-audit.ts';
import { listTaskEntries } from '../../src/stores/credits.ts';
import { listProviderJobs } from '../../src/stores/provider-jobs.ts';
import { findTask } from '../../src/stores/tasks.ts';
import { connectTemporal } from '../../src/temporal/connect.ts';
import { createEngine } from '../../src/temporal/engine.ts';
import { paidProviderName, paidProviderSettings } from '../chaos/paid-provider.ts';
import { type PaidUpstream, startPaidUpstream } from '../chaos/paid-upstream.ts';
import { paidVideo, sha256Of } from '../chaos/paid-video.ts';
import { mannerWord } from '../chaos/upstream-manners.ts';
import { endOf, endPrograms, startProgram } from '../support/programs.ts';
import { createTestAccount, createTestEnvironment, type TestEnvironment } from '../support/service.ts';
import { acceptTestTask, taskParam, waitForEnd } from '../support/tasks.ts';
import { waitFor } from '../support/wait-for.ts';

const model = 'videogen-2.0-fast';

// The polls of a frozen worker stay open at the server for a minute, and each may be handed one task more: a workflow
// task is given up after 10 s, a generation after the 30 s of its heartbeat. Usually it takes 35 s.
const attemptElsewhereMs = 240_000;

// The upstream serves other bytes each time, so that whoever fetches a video a second time would be found out.
test('a worker that is frozen for longer than its heartbeat timeout, and comes back, changes no result and pays for no second job', () =>
  withStack(async ({ environment, upstream, start, accept, generatesOn }) => {
    const frozen = start();
    const [endsMeanwhile, endsAfterwards] = [await accept(), await accept()];
    frozen.kill('SIGSTOP');
    const other = start();
    for (const taskId of [endsMeanwhile, endsAfterwards]) {
      const goesOnElsewhere = async () => (await generatesOn(taskId)) === identityOf(other) || undefined;
      await waitFor('an attempt on the other worker', goesOnElsewhere, attemptElsewhereMs);
    }
    upstream.finish(endsMeanwhile);
    await waitForEnd(environment.database.db, endsMeanwhile);
    // From here both workers follow the other job.
    frozen.kill('SIGCONT');
    upstream.finish(endsAfterwards);
    await waitForEnd(environment.database.db, endsAfterwards);
    // Drained, so that whatever its attempts still wanted to do is done.
    for (const worker of [frozen, other]) {
      worker.kill('SIGTERM');
      assert.deepEqual(await endOf(worker), { code: 0, signal: null });
    }

    assert.equal(await judge(environment, upstream, endsMeanwhile), 'the first video');
    await judge(environment, upstream, endsAfterwards);
    assert.deepEqual(await auditLedger(environment.database.db), []);
  }));

/** One charge, one job, one result, and the stored video is the one in the record. */
async function judge({ database, settings }: TestEnvironment, upstream: PaidUpstream, taskId: string): Promise<string> {
  const task = await findTask(database.db, taskId);
  assert.ok(task?.result, task?.failure?.failMsg);
  const jobs = upstream.jobs.filter((job) => job.taskId === taskId);
  assert.deepEqual(
    [jobs.length, (await listProviderJobs(database.db, taskId)).map(({ outcome }) => outcome)],
    [1, ['success']],
  );
  assert.deepEqual(
    (await listTaskEntries(database.db, taskId)).map(({ kind }) => kind),
    ['charge'],
  );
  const stored = sha256Of(await readFile(join(settings.dataFolder, 'results', task.result.videoKey)));
  assert.equal(stored, task.result.sha256);
  return stored === sha256Of(paidVideo(String(jobs[0]?.jobId), 1)) ? 'the first video' : 'another video';
}

type Story = {
  readonly environment: TestEnvironment;
  readonly upstream: PaidUpstream;
  readonly start: () => ChildProcess;
  /** Accepts a task and waits until its job runs upstream. */
  readonly accept: () => Promise<string>;
  /** The identity of the worker on which its generation runs now, as Temporal has it. */
  readonly generatesOn: (taskId: string) => Promise<string | undefined>;
};

async function withStack(story: (story: Story) => Promise<void>): Promise<void> {
  const upstream = await startPaidUpstream({ waitsToBeTold: true });
  const environment = await createTestEnvironment();
  const modelsFile = join(environment.settings.dataFolder, 'models.json');
  const prices = [{ creditsPerSecond: 33 }];
  await writeFile(
    modelsFile,
    JSON.stringify({
      providers: { [paidProviderName]: paidProviderSettings },
      models: [{ model, title: model, prices, providers: [paidProviderName] }],
    }),
  );
  const temporal = connectTemporal(environment.settings.temporal);
  const engine = createEngine(temporal.client, taskQueuesOf(environment.settings.taskQueue));
  const { accountId } = await createTestAccount(environment.database);
  const start = () => {
    const breaker = { VIDEOGEN_MODELS: modelsFile, CHAOS_UPSTREAM: upstream.baseUrl };
    return startProgram('../chaos/worker.js', [], { env: { ...environment.environment, ...breaker } });
  };
  const accept = async () => {
    const param = taskParam(mannerWord('serves a video twice, with other bytes'));
    const taskId = await acceptTestTask(environment.database.db, accountId, param);
    await engine.startTask({ taskId, accountId, model });
    await waitFor('its job', async () => {
      const [job] = await listProviderJobs(environment.database.db, taskId);
      return job?.jobId;
    });
    return taskId;
  };
  const generatesOn = async (taskId: string) => {
    const { raw } = await temporal.client.workflow.getHandle(taskId).describe();
    // 2 is "started", of the states of a pending activity in Temporal's API.
    const running = raw.pendingActivities?.find(({ state }) => Number(state) === 2);
    return running?.lastWorkerIdentity ?? undefined;
  };
  try {
    await story({ environment, upstream, start, accept, generatesOn });
  } finally {
    await endPrograms();
    await temporal.close();
    await upstream.close();
    await environment.close();
  }
}

/** What a worker calls itself at Temporal, as the SDK chooses it. */
const identityOf = (worker: ChildProcess) => `${worker.pid}@${hostname()}`;
