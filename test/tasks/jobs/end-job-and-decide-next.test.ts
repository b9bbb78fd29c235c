import assert from 'node:assert/strict';
import { test } from 'node:test';
import { providerWithTermsAndPoller } from '../../../src/providers/open-providers.ts';
import type { Cost, UpstreamErrorReason } from '../../../src/providers/provider-contract.ts';
import {
  coolDown,
  jobEndAfterCancel,
  endFailedJob,
  endAndCountJob,
  endJobAndRecordTaskFailure,
  endLostJob,
} from '../../../src/tasks/jobs/end-job-and-decide-next.ts';
import { taskFailureFor, providerFailures } from '../../../src/tasks/jobs/task-failures-of-jobs.ts';
import { listProviderJobs } from '../../../src/tasks/jobs/provider-jobs.ts';
import { insertRow, rolledBack } from '../../support/database/rolled-back.ts';
import { recordLog } from '../../support/log-lines.ts';
import { recordEvents, silentEvents } from '../../support/service/metric-event-sinks.ts';
import type { FakeTerms } from '../../support/tasks/fake-providers.ts';
import { createFakeUpstream } from '../../support/tasks/fake-upstream.ts';
import { taskParam } from '../../support/tasks/tasks.ts';
import { poolStage, provider as name } from './pool-stage.ts';

const stage = poolStage();

test('the end of a lost job and its resubmission are counted once, by the attempt that commits them', async () => {
  const waiter = await stage.newTask(await stage.newAccount());
  await stage.reserve(waiter, 1);
  await stage.intend(waiter);
  const { taskId } = waiter;
  const { pool } = stage;
  const { provider } = createFakeUpstream({ name });
  const open = providerWithTermsAndPoller(provider, { ...provider.config, failedJobs: 'free', onLostJob: 'resubmit' });
  const events = recordEvents('job_ended', 'provider_resubmission');
  const deps = { db: stage.db, log: recordLog().log, events };
  const attempt = { deps, task: { taskId, param: taskParam('lost') } };
  const job = { taskId, ordinal: 1, jobKey: taskId, pool, open, resubmissions: 0 };
  for (let attempts = 0; attempts < 2; attempts += 1)
    assert.deepEqual(await endLostJob(attempt, job, { why: 'it is lost', detail: 'no list' }), { kind: 'next' });
  const unpriced = { costMicros: undefined, costCurrency: undefined, costBasis: 'unknown' };
  assert.deepEqual(events.seen, [
    { kind: 'job_ended', job: { provider: name, pool, outcome: 'abandoned', ...unpriced, runMs: undefined } },
    { kind: 'provider_resubmission', provider: name },
  ]);
});

/** A job that runs upstream on these terms, and the attempt that follows it. */
async function runningJob(terms: FakeTerms) {
  const waiter = await stage.newTask(await stage.newAccount());
  await stage.reserve(waiter, 100);
  await stage.intend(waiter);
  const { taskId } = waiter;
  const { provider } = createFakeUpstream({ name });
  const open = providerWithTermsAndPoller(provider, {
    ...provider.config,
    failedJobs: 'free',
    onLostJob: 'fail',
    ...terms,
  });
  const param = taskParam('a boat');
  const { log, lines } = recordLog();
  const attempt = { deps: { db: stage.db, log, events: silentEvents }, task: { taskId, param } };
  const job = { taskId, ordinal: 1, jobKey: taskId, pool: stage.pool, open, resubmissions: 0 };
  const rows = async () =>
    (await listProviderJobs(stage.db, taskId)).map(({ outcome, failure, isRepeatable, costBasis, costMicros }) => {
      return { outcome, failCode: failure?.failCode, isRepeatable, cost: [costBasis, costMicros] };
    });
  const about = { taskId, ordinal: 1, provider: name };
  return { waiter, attempt, job, rows, input: param.input, lines, about };
}

const upstream: UpstreamErrorReason = { kind: 'upstream', detail: 'out of memory' };
const content = (about: NonNullable<UpstreamErrorReason['about']>): UpstreamErrorReason => ({
  kind: 'content',
  about,
  detail: 'a face',
});
const reported = (micros: number): Cost => ({ micros, currency: 'USD', basis: 'reported' });
const resubmit = { onRefusedOutput: 'resubmit' } as const;
const free = ['estimated', undefined];

/** The terms of a job, its error, and its end: the failure of its task, whether another one may be made there, and the cost. */
for (const [title, terms, error, cost, end] of [
  ['a free job', {}, upstream, undefined, [undefined, false, free]],
  ['a free job whose cost is reported as none', {}, upstream, reported(0), [undefined, false, ['reported', 0]]],
  ['a free job with a cost', {}, upstream, reported(5), ['provider_rejected', false, ['reported', 5]]],
  ['a billed job', { failedJobs: 'billed' }, upstream, undefined, ['provider_rejected', false, ['unknown', undefined]]],
  ['a refused prompt', resubmit, content('prompt'), undefined, ['content_rejected', false, free]],
  ['a refused video', {}, content('output'), undefined, ['content_rejected', false, free]],
  ['a refused video that may be made again', resubmit, content('output'), undefined, [undefined, true, free]],
  ['a refused sound that may be made again', resubmit, content('sound'), undefined, [undefined, true, free]],
  [
    'a refused video with a cost',
    resubmit,
    content('output'),
    reported(5),
    ['content_rejected', false, ['reported', 5]],
  ],
  ['an error about the video', resubmit, { ...upstream, about: 'output' }, undefined, [undefined, false, free]],
] as const) {
  test(`${title} ends its task, or leads to another job`, async () => {
    const { attempt, job, rows, input, lines, about } = await runningJob(terms);
    const next = await endFailedJob(attempt, job, { error, ...(cost && { cost }) });
    const [failCode, isRepeatable, costOfEnd] = end;
    const failure = taskFailureFor(error, input) ?? providerFailures.failed;
    assert.deepEqual(
      next,
      failCode === undefined ? { kind: 'next' } : { kind: 'task_failed', failure, detail: error.detail },
    );
    assert.deepEqual(await rows(), [{ outcome: 'fail', failCode, isRepeatable, cost: costOfEnd }]);
    const info = { level: 30, ...about };
    const repeated = { ...info, msg: 'job repeated after its output was refused' };
    assert.deepEqual(lines, [{ ...info, error, msg: 'provider job failed' }, ...(isRepeatable ? [repeated] : [])]);
  });
}

test('a refused video is made again once in a task', async () => {
  const { waiter, attempt, job, rows } = await runningJob(resubmit);
  const refused = { error: { ...content('output'), code: 'E7' } };
  assert.deepEqual(await endFailedJob(attempt, job, refused), { kind: 'next' });
  await stage.reserve(waiter, 100, 2);
  await stage.intend(waiter, 2);
  const next = await endFailedJob(attempt, { ...job, ordinal: 2 }, refused);
  assert.deepEqual([next.kind, 'detail' in next && next.detail], ['task_failed', 'E7: a face']);
  assert.deepEqual(
    (await rows()).map(({ failCode, isRepeatable }) => [failCode, isRepeatable]),
    [
      [undefined, true],
      ['content_rejected', false],
    ],
  );
});

for (const [onLostJob, resubmissions, failCode] of [
  ['fail', 0, 'provider_unavailable'],
  ['resubmit', 1, undefined],
  ['resubmit', 2, 'provider_unavailable'],
] as const) {
  test(`a job that is lost after ${resubmissions} others ends its task, or not, by onLostJob: ${onLostJob}`, async () => {
    const { attempt, job, rows, lines, about } = await runningJob({ onLostJob });
    const next = await endLostJob(attempt, { ...job, resubmissions }, { why: 'it is lost', detail: 'no list' });
    assert.equal(next.kind, failCode === undefined ? 'next' : 'task_failed');
    const cost = ['unknown', undefined];
    assert.deepEqual(await rows(), [{ outcome: 'abandoned', failCode, isRepeatable: false, cost }]);
    const lost = { ...about, detail: 'no list' };
    const again = { level: 40, ...lost, why: 'it is lost', msg: 'job resubmitted' };
    assert.deepEqual(lines, [failCode === undefined ? again : { level: 50, ...lost, msg: 'it is lost' }]);
  });
}

test('of two ends of a job the first one counts', async () => {
  const [decided, open] = [await runningJob({}), await runningJob({})];
  const { failed, timeout } = providerFailures;
  const fail = { outcome: 'fail', detail: 'first' } as const;
  const late = { outcome: 'abandoned', detail: 'second' } as const;
  const first = await endJobAndRecordTaskFailure(decided.attempt, decided.job, failed, fail);
  assert.deepEqual(first, { kind: 'task_failed', failure: failed, detail: 'first' });
  const second = await endJobAndRecordTaskFailure(decided.attempt, decided.job, timeout, late);
  assert.deepEqual(second, { kind: 'task_failed', failure: failed });
  assert.equal(await endAndCountJob(open.attempt.deps, open.job, fail), true);
  assert.equal(await endAndCountJob(open.attempt.deps, open.job, late), false);
  assert.equal((await endJobAndRecordTaskFailure(open.attempt, open.job, timeout, late)).kind, 'undecided');
});

test('a job that was canceled is settled if it has stopped, and its cost stays if it is known', () => {
  const end = (isSettled: boolean, cost: 'unknown' | undefined) => ({ outcome: 'abandoned', cost, isSettled });
  assert.deepEqual(jobEndAfterCancel('cancelled', { hasCost: false }), end(true, 'unknown'));
  assert.deepEqual(jobEndAfterCancel('ended', { hasCost: true }), end(true, undefined));
  assert.deepEqual(jobEndAfterCancel(undefined, { hasCost: false }), end(false, 'unknown'));
});

const [secondMs, hourMs] = [1_000, 3_600_000];
for (const [reason, failures, retryAfterMs, coolingMs] of [
  ['busy', 0, undefined, 5 * secondMs],
  ['unknown', 1, 0, 10 * secondMs],
  ['unreachable', 16, 0, 300 * secondMs],
  ['overloaded', 0, 4 * secondMs, 5 * secondMs],
  ['overloaded', 1, 7 * secondMs, 14 * secondMs],
  ['busy', 0, hourMs, hourMs],
  ['operator', 0, 0, hourMs],
  ['operator', 16, 0, 24 * hourMs],
  ['operator', 16, 25 * hourMs, 25 * hourMs],
] as const) {
  const asked = retryAfterMs === undefined ? '' : `, asked for ${retryAfterMs} ms,`;
  test(`a pool that failed ${failures} times before${asked} cools down for ${coolingMs} ms: ${reason}`, async () => {
    const { attempt, job, lines } = await runningJob({});
    await rolledBack(stage.db, async (db) => {
      const [own, sibling, other] = [`${stage.pool}/a`, `${stage.pool}/b`, `${stage.pool}/c`];
      const pools = [own, sibling, other];
      for (const pool of pools)
        await insertRow(db, 'provider_pools', { pool, provider: pool === other ? 'other' : name, failures });
      const deps = { ...attempt.deps, db };
      await coolDown(deps, { ...job, pool: undefined }, { reason });
      const text = `
select (extract(epoch from cooling_until - now()) * 1000)::float8 as ms, cooling_reason as reason
from provider_pools where pool = any($1) order by pool`;
      const read = () => db.run({ name: 'test-cooling-pools', text }, [pools]);
      const none = { ms: null, reason: null };
      assert.deepEqual(await read(), [none, none, none], 'our own machine has no pool');
      const cooldown = { reason, ...(retryAfterMs !== undefined && { retryAfterMs }) };
      await coolDown(deps, { ...job, pool: own }, cooldown);
      const cools = { ms: coolingMs, reason };
      assert.deepEqual(await read(), [cools, reason === 'operator' ? cools : none, none]);
      const msg = 'provider credentials or quota rejected';
      assert.deepEqual(lines, reason === 'operator' ? [{ level: 50, provider: name, pool: own, msg }] : []);
    });
  });
}
