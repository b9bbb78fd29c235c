import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recoverJobOfLostCreate } from '../../../activities/generation/resume-or-look-up-job.ts';
import { findOpenOrReserveJob } from '../../../src/tasks/jobs/next-job.ts';
import { commitIntent, jobRequestFor, submitJob } from '../../../activities/generation/submit-job.ts';
import { costRuleSchema } from '../../../src/catalogue/prices/upstream-cost.ts';
import type { JobStatus, PolledProvider } from '../../../src/providers/provider-contract.ts';
import { deleteTaskContentInDatabase } from '../../../src/tasks/end/content-deletion-rows.ts';
import { listProviderJobs } from '../../../src/tasks/jobs/provider-jobs.ts';
import { recordCreatedJob } from '../../../src/tasks/jobs/job-creates.ts';
import { endProviderJob } from '../../../src/tasks/jobs/job-ends.ts';
import { activityDepsOf } from '../../../src/run/main/wire-activities.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { recordLog } from '../../support/log-lines.ts';
import { attemptAt } from '../../support/tasks/generation-attempt.ts';
import { providersOf } from '../../support/tasks/fake-providers.ts';
import { Killed } from '../../support/processes/dying-worker-parts.ts';
import {
  accepted,
  activities,
  agedIntent,
  database,
  events,
  execute,
  failedWithJob,
  failure,
  folder,
  prepareReconciles,
  run,
  upstream,
  worldOf,
} from './reconcile-stage.ts';

prepareReconciles();

test('the job of a failed task is stopped upstream once', async () => {
  const taskId = await failedWithJob();
  assert.deepEqual(await run(activities().settleProviderJobs), { stopped: 1, late: 0 });
  assert.equal(upstream.jobs[0]?.state, 'cancelled');
  assert.deepEqual(
    (await listProviderJobs(database.db, taskId)).map(({ outcome }) => outcome),
    ['abandoned'],
  );
  assert.deepEqual(await run(activities().settleProviderJobs), { stopped: 0, late: 0 });
  // The end of the job was counted when its attempt abandoned it.
  assert.deepEqual(events.seen, [{ kind: 'reconcile_finding', finding: 'provider_job_left' }]);
});

test('a video that arrives after the refund is counted as late, and neither delivered nor charged', async () => {
  const taskId = await failedWithJob();
  upstream.finish();
  const { log, lines } = recordLog();
  assert.deepEqual(await run(activities({ ...worldOf(), log }).settleProviderJobs), { stopped: 0, late: 1 });
  const job = { taskId, provider: upstream.provider.name, jobId: upstream.jobs[0]?.jobId };
  assert.deepEqual(lines, [{ level: 40, ...job, msg: 'video finished after the refund; not delivered' }]);
  assert.deepEqual(
    (await listProviderJobs(database.db, taskId)).map(({ outcome }) => outcome),
    ['late_success'],
  );
  assert.deepEqual(
    events.seen.map((event) => (event.kind === 'job_ended' ? [event.job.provider, event.job.outcome] : event)),
    [[upstream.provider.name, 'late_success'], { kind: 'reconcile_finding', finding: 'provider_job_left' }],
  );
  assert.equal((await findTask(database.db, taskId))?.state, 'fail');
});

test('the job of a task that ended before the response to its create is found upstream, and stopped', async () => {
  const taskId = await failedWithJob({ hasResponse: false });
  // The create may still be on its way.
  assert.deepEqual(await run(activities().settleProviderJobs), { stopped: 0, late: 0 });
  await agedIntent(taskId);
  assert.deepEqual(await run(activities().settleProviderJobs), { stopped: 1, late: 0 });
  assert.equal(upstream.jobs[0]?.state, 'cancelled');
});

test('a lookup that finds no job decides nothing while the create may still be on its way', async () => {
  const { provider } = upstream;
  const submitTimeoutMs = 300_000;
  let lookups = 0;
  const recover: PolledProvider['recover'] = async () => {
    lookups += 1;
    return { kind: 'not_created' };
  };
  const world = { ...worldOf(), providers: providersOf([{ ...provider, submitTimeoutMs, recover }]) };
  const settle = () => run(activities(world).settleProviderJobs);
  const taskId = await failedWithJob({ hasResponse: false });
  await agedIntent(taskId);
  assert.deepEqual([await settle(), lookups], [{ stopped: 0, late: 0 }, 1]);
  await agedIntent(taskId, 240);
  assert.deepEqual([await settle(), lookups], [{ stopped: 1, late: 0 }, 2]);
  const searches = events.seen.filter(({ kind }) => kind === 'provider_lookup');
  const counted = { kind: 'provider_lookup', provider: provider.name };
  assert.deepEqual(
    searches,
    ['later', 'not_created'].map((outcome) => ({ ...counted, outcome })),
  );
});

test('a job whose provider reports no state is checked again for a day, and then releases its slot', async () => {
  const taskId = await failedWithJob();
  const status: PolledProvider['status'] = () => Promise.reject(new Error('HTTP 403'));
  const { log, lines } = recordLog();
  const world = { ...worldOf(), log, providers: providersOf([{ ...upstream.provider, status }]) };
  const settle = () => run(activities(world).settleProviderJobs);
  assert.deepEqual(await settle(), { stopped: 0, late: 0 });
  lines.length = 0;
  await execute(`alter table tasks disable trigger final_tasks_never_change`);
  await execute(`update tasks set completed_at = completed_at - interval '25 hours' where id = '${taskId}'`);
  await execute(`alter table tasks enable trigger final_tasks_never_change`);
  assert.deepEqual(await settle(), { stopped: 1, late: 0 });
  const [job] = await listProviderJobs(database.db, taskId);
  assert.deepEqual([job?.outcome, job?.costBasis], ['abandoned', 'unknown']);
  const msg = 'provider job that no task waits for not found; it may still run upstream and cost money';
  assert.deepEqual(lines, [{ level: 50, taskId, ordinal: 1, provider: upstream.provider.name, msg }]);
});

for (const reported of [{ micros: 70_000, currency: 'USD', basis: 'reported' } as const, undefined]) {
  test(`the cost of a lost job that is found after its end is recorded: ${reported?.basis ?? 'estimated'}`, async () => {
    const taskId = await failedWithJob({ hasResponse: false });
    await agedIntent(taskId);
    upstream.finish();
    const end: JobStatus = { state: 'succeeded', ...(reported && { cost: reported }) };
    const status: PolledProvider['status'] = async (jobs) => new Map(jobs.map(({ jobKey }) => [jobKey, end]));
    const cost = costRuleSchema.parse({ perGpuSecond: '0.001' });
    const providers = providersOf([{ ...upstream.provider, status }], () => ({ cost }));
    const settled = await run(activities({ ...worldOf(), providers }).settleProviderJobs);
    assert.deepEqual(settled, { stopped: 0, late: 1 });
    const [job] = await listProviderJobs(database.db, taskId);
    assert.equal(job?.costBasis, reported?.basis ?? 'estimated');
    if (reported !== undefined) assert.equal(job?.costMicros, reported.micros);
    else assert.ok(Number(job?.costMicros) >= 60_000, 'from its create, a minute ago');
  });
}

test('the reported cost of a job that failed after its task is recorded, also where failures are free', async () => {
  const taskId = await failedWithJob();
  const cost = { micros: 70_000, currency: 'USD', basis: 'reported' } as const;
  const end: JobStatus = { state: 'failed', error: { kind: 'upstream', detail: 'out of memory' }, cost };
  const status: PolledProvider['status'] = async (jobs) => new Map(jobs.map(({ jobKey }) => [jobKey, end]));
  const providers = providersOf([{ ...upstream.provider, status }], () => ({ failedJobs: 'free' }));
  await run(activities({ ...worldOf(), providers }).settleProviderJobs);
  const [job] = await listProviderJobs(database.db, taskId);
  assert.deepEqual([job?.costMicros, job?.costBasis], [cost.micros, 'reported']);
});

test('the job of a lost create is found by its prompt, also after the content of its task was deleted', async () => {
  const taskId = await failedWithJob({ hasResponse: false });
  const task = await findTask(database.db, taskId);
  assert.ok(task);
  await deleteTaskContentInDatabase(database.db, task, []);
  await agedIntent(taskId);
  const prompts: string[] = [];
  const recover: PolledProvider['recover'] = async (lost, signal) => {
    prompts.push(lost.input.prompt);
    return await upstream.provider.recover(lost, signal);
  };
  const world = { ...worldOf(), providers: providersOf([{ ...upstream.provider, recover }]) };
  assert.deepEqual(await run(activities(world).settleProviderJobs), { stopped: 1, late: 0 });
  assert.deepEqual(prompts, [task.param.input.prompt]);
  const [job] = await listProviderJobs(database.db, taskId);
  assert.equal(job?.sentInput, undefined);
});

for (const dies of [false, true]) {
  test(`a job that a frozen worker creates after its task was settled is stopped${dies ? ' by the next run' : ''}`, async () => {
    const task = await findTask(database.db, await accepted());
    assert.ok(task);
    const { taskId } = task;
    const world = worldOf();
    const frozen: PolledProvider = {
      ...upstream.provider,
      submit: async (...request) => {
        await failAndRefund(database.db, taskId, failure('timeout'));
        await execute(`alter table tasks disable trigger final_tasks_never_change`);
        await execute(`update tasks set completed_at = completed_at - interval '1 hour' where id = '${taskId}'`);
        await execute(`alter table tasks enable trigger final_tasks_never_change`);
        await agedIntent(taskId);
        await run(activities().settleProviderJobs);
        return upstream.provider.submit(...request);
      },
      cancel: (...request) => (dies ? Promise.reject(new Killed()) : upstream.provider.cancel(...request)),
    };
    const attempt = attemptAt({ ...world, providers: providersOf([frozen]) }, task, folder);
    const next = await findOpenOrReserveJob(attempt.deps, task, []);
    assert.ok(next.kind === 'job');
    const submitting = submitJob(attempt, next.job);
    if (dies) await assert.rejects(submitting, Killed);
    else assert.equal((await submitting).kind, 'undecided');
    if (dies) assert.deepEqual(await run(activities().settleProviderJobs), { stopped: 1, late: 0 });
    assert.deepEqual(
      upstream.jobs.map(({ state }) => state),
      ['cancelled'],
    );
  });
}

for (const end of ['success', 'fail', undefined] as const) {
  test(`a worker that thaws does not change the outcome ${end ?? 'none'} of a job that another worker recovered`, async () => {
    const task = await findTask(database.db, await accepted());
    assert.ok(task);
    const { taskId } = task;
    const world = worldOf();
    const next = await findOpenOrReserveJob(activityDepsOf(world), task, []);
    assert.ok(next.kind === 'job');
    const { job } = next;
    const earlier = attemptAt(world, task, folder);
    assert.equal(await commitIntent(earlier, job), undefined);
    const submitted = await upstream.provider.submit(jobRequestFor(earlier, job), earlier.signal);
    assert.ok(submitted.kind === 'accepted');
    const { id: jobId } = submitted;
    const [row] = await listProviderJobs(database.db, taskId);
    assert.ok(row);
    const frozen: PolledProvider = {
      ...upstream.provider,
      recover: async () => {
        // Another worker has recovered the job meanwhile.
        await recordCreatedJob(database.db, { taskId, ordinal: 1, jobId });
        if (end !== undefined) await endProviderJob(database.db, { taskId, ordinal: 1, outcome: end });
        return { kind: 'found', id: jobId };
      },
    };
    const attempt = attemptAt({ ...world, providers: providersOf([frozen]) }, task, folder);
    const { intendedAt, ageMs } = row;
    const found = await recoverJobOfLostCreate(attempt, {
      ...job,
      state: 'unanswered',
      provider: frozen,
      intendedAt,
      ageMs,
    });
    assert.ok(found.kind === 'job' && found.job.state === 'running');
    assert.equal(found.job.upstream.id, jobId);
    const jobs = await listProviderJobs(database.db, taskId);
    assert.deepEqual(
      jobs.map(({ outcome }) => outcome),
      [end],
    );
    assert.deepEqual(
      upstream.jobs.map(({ state }) => state),
      ['running'],
    );
  });
}

test('a job whose provider has left the catalogue waits for the provider, for a day at most', async () => {
  const world = { ...worldOf(), providers: providersOf([]) };
  await failedWithJob();
  assert.deepEqual(await run(activities(world).settleProviderJobs), { stopped: 0, late: 0 });
  assert.deepEqual(await run(activities().settleProviderJobs), { stopped: 1, late: 0 });
  assert.equal(upstream.jobs[0]?.state, 'cancelled');
  const old = await failedWithJob();
  await execute(`alter table tasks disable trigger final_tasks_never_change`);
  await execute(`update tasks set completed_at = completed_at - interval '25 hours' where id = '${old}'`);
  await execute(`alter table tasks enable trigger final_tasks_never_change`);
  assert.deepEqual(await run(activities(world).settleProviderJobs), { stopped: 1, late: 0 });
});

test('a job whose provider does not respond is settled in the next run', async () => {
  await failedWithJob();
  const world = worldOf();
  const broken = { ...upstream.provider, status: () => Promise.reject(new Error('502')) };
  await run(activities({ ...world, providers: providersOf([broken]) }).settleProviderJobs);
  assert.deepEqual(await run(activities().settleProviderJobs), { stopped: 1, late: 0 });
});
