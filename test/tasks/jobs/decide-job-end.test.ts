import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { openProvider } from '../../../src/providers/registry.ts';
import { endLostJob } from '../../../src/tasks/jobs/decide-job-end.ts';
import { recordEvents } from '../../support/service/metric-event-sinks.ts';
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
  const open = openProvider(provider, { ...provider.config, failedJobs: 'free', onLostJob: 'resubmit' });
  const events = recordEvents('job_ended', 'provider_resubmission');
  const deps = { db: stage.db, log: pino({ level: 'silent' }), events };
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
