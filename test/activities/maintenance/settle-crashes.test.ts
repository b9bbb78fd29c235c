import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobStatus, PolledProvider } from '../../../src/providers/provider-contract.ts';
import { listProviderJobs } from '../../../src/tasks/jobs/provider-jobs.ts';
import { providersOf } from '../../support/tasks/fake-providers.ts';
import { type DeathPoint, interruptedParts, Killed } from '../../support/processes/dying-worker-parts.ts';
import {
  activities,
  agedIntent,
  database,
  failedWithJob,
  prepareReconciles,
  run,
  upstream,
  worldOf,
} from './reconcile-stage.ts';

prepareReconciles();

const cost = { micros: 70_000, currency: 'USD', basis: 'reported' } as const;
const succeeded = { state: 'succeeded', cost } as const satisfies JobStatus;
const failed = {
  state: 'failed',
  error: { kind: 'upstream', detail: 'out of memory' },
  cost,
} as const satisfies JobStatus;

for (const [what, hasResponse, end] of [
  ['a running job', true, undefined],
  ['a job whose create was lost', false, undefined],
  ['a job that succeeded too late', true, succeeded],
  ['a lost job that succeeded too late', false, succeeded],
  ['a job that failed too late', true, failed],
] as const) {
  test(`a worker that dies at any call of the settlement of ${what}: the next one settles it, with its cost`, async () => {
    const status: PolledProvider['status'] = async (jobs, signal) =>
      end === undefined
        ? await upstream.provider.status(jobs, signal)
        : new Map(jobs.map(({ jobKey }) => [jobKey, end]));
    const world = { ...worldOf(), providers: providersOf([{ ...upstream.provider, status }]) };
    const settle = async (death?: DeathPoint) => {
      const taskId = await failedWithJob({ hasResponse });
      await agedIntent(taskId);
      const { parts, calls } = interruptedParts(world, death);
      await run(activities(parts).settleProviderJobs).catch((error: unknown) => {
        if (!(error instanceof Killed)) throw error;
      });
      return { taskId, calls };
    };
    const expected = {
      outcome: end?.state === 'succeeded' ? 'late_success' : 'abandoned',
      costMicros: end?.cost.micros,
      costBasis: end?.cost.basis ?? 'unknown',
    };
    const { calls } = await settle();
    assert.ok(calls.includes('cancelWorkflow') && calls.includes('status'), calls.join(', '));
    for (const call of calls.keys()) {
      for (const when of ['before', 'after'] as const) {
        const { taskId } = await settle({ call, when });
        await run(activities(world).settleProviderJobs);
        const ends = (await listProviderJobs(database.db, taskId)).map(({ outcome, costMicros, costBasis }) => {
          return { outcome, costMicros, costBasis };
        });
        assert.deepEqual(ends, [expected], `${when} call ${call} of ${calls.join(', ')}`);
        const isRunning = upstream.jobs.some(({ state }) => state === 'running');
        assert.equal(isRunning, end !== undefined, `a job runs, ${when} call ${call} of ${calls.join(', ')}`);
      }
    }
  });
}
