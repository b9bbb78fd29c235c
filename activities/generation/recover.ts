import { detailOf, isStorable } from '../../src/providers/answers.ts';
import type { LostCreate, PolledProvider, RecoverOutcome } from '../../src/providers/contract.ts';
import type { OpenProvider } from '../../src/providers/registry.ts';
import { countRivals, listClaimedJobs } from '../../src/providers/lost-creates.ts';
import { callSettledAfterMs, type ProviderJob } from '../../src/providers/provider-jobs.ts';
import type { ActivityDeps } from '../deps.ts';
import { type Attempt, interrupted } from './attempt.ts';
import { type JobIn, type Outcome, runningJob } from './job.ts';
import { endJob, settleLost } from './settle.ts';
import { recordAccepted, spelledInput } from './submit.ts';

// A create whose response was lost may have made a job, which costs money, so no other create is sent before that is known.

/** After this no response is expected any more. */
const responseLimitMs = 10 * 60_000;
const pauseAfterErrorMs = 15_000;

/** Finds the job of a create whose response was lost. If the upstream does not have it, another one may be created. */
export async function recoverJob(attempt: Attempt, job: JobIn<'unanswered'>): Promise<Outcome> {
  const { deps, task, signal } = attempt;
  const { taskId, ordinal, jobKey, pool, provider, open, intendedAt, ageMs } = job;
  const row = { ordinal, provider: provider.name, pool, intendedAt, ageMs };
  const { accountId, param, deadlineMs } = task;
  const lost = { taskId, accountId, jobKey, row, ...param, deadlineMs };
  const found = await requestLostJob(deps, { provider, imageReference: open.imageReference }, lost, signal);
  if (signal.aborted) return interrupted(attempt);
  switch (found.kind) {
    case 'found':
      return await recordAccepted(attempt, runningJob(task, job, { provider, ...found }));
    case 'later':
      return { kind: 'waits', why: 'the job may still be found', pauseMs: found.afterMs };
    case 'not_created':
      // The create may still be on its way, from a worker that Temporal has replaced.
      if (ageMs < callSettledAfterMs)
        return { kind: 'waits', why: 'the create may be on its way', pauseMs: pauseAfterErrorMs };
      await endJob(deps, job, { outcome: 'not_created', cost: 'free' });
      return { kind: 'next' };
    case 'unknown':
      break;
  }
  return await settleLost(attempt, job, { why: 'the response of the provider was lost', detail: found.detail });
}

/** A create by its request and its row. */
export type LostRequest = Pick<LostCreate, 'taskId' | 'jobKey' | 'model' | 'input' | 'deadlineMs'> & {
  readonly accountId: string;
  readonly row: Pick<ProviderJob, 'ordinal' | 'provider' | 'pool' | 'intendedAt' | 'ageMs'>;
};

type Recovering = Pick<OpenProvider, 'imageReference'> & { readonly provider: PolledProvider };

/** Requests the job of a lost create. A request that fails is repeated later. */
export async function requestLostJob(
  deps: ActivityDeps,
  { provider, imageReference }: Recovering,
  { accountId, row, ...request }: LostRequest,
  signal: AbortSignal,
): Promise<RecoverOutcome> {
  const { ordinal, pool = '', intendedAt = Date.now() } = row;
  const { taskId } = request;
  const lost: LostCreate = {
    ...request,
    input: spelledInput({ imageReference }, request.input),
    ordinal,
    accountHash: deps.hashAccount(accountId),
    intendedAt,
    claimed: (ids) => listClaimedJobs(deps.db, row.provider, ids),
    ...(await countRivals(deps.db, { pool, taskId, ordinal, intendedAt })),
  };
  const found = await provider.recover(lost, signal).catch((error: unknown) => {
    deps.log.info({ taskId, provider: row.provider, detail: detailOf({ error }) }, 'job lookup failed');
    return { kind: 'later', afterMs: pauseAfterErrorMs } as const;
  });
  const outcome = decided(found, row.ageMs);
  deps.events.emit({ kind: 'provider_lookup', provider: provider.name, outcome: outcome.kind });
  return outcome;
}

function decided(found: RecoverOutcome, ageMs: number): RecoverOutcome {
  if (found.kind === 'found' && !isStorable(found)) return { kind: 'unknown', detail: 'the job has no usable id' };
  if (found.kind === 'later' && ageMs >= responseLimitMs)
    return { kind: 'unknown', detail: 'no response in ten minutes' };
  return found;
}
