import { setTimeout as delay } from 'node:timers/promises';
import { detailOfAnswerOrError, isStorableJob } from '../../src/providers/classify-upstream-answers.ts';
import type { LostCreateToRecover, PolledProvider, RecoverOutcome } from '../../src/providers/provider-contract.ts';
import type { ProviderWithTermsAndPoller } from '../../src/providers/open-providers.ts';
import {
  lateCreateWindowMs,
  countOtherUnansweredCreates,
  findIdsTakenByOurJobs,
} from '../../src/tasks/jobs/job-creates.ts';
import type { ProviderJob } from '../../src/tasks/jobs/provider-jobs.ts';
import {
  type GenerationAttempt,
  type GenerationDeps,
  hasDeadlinePassed,
  attemptEndAfterAbort,
  markGenerating,
  withJobCreateGrace,
  type StepOutcome,
} from './attempt-at-generation.ts';
import { providerFailures } from '../../src/tasks/jobs/task-failures-of-jobs.ts';
import { endJobIfStaged } from './fetch-and-stage-video.ts';
import {
  type JobInState,
  asRunningJob,
  type AttemptEndWithoutVideo,
} from '../../src/tasks/jobs/job-of-attempt-types.ts';
import type { NextJob } from '../../src/tasks/jobs/next-job.ts';
import {
  endAndCountJob,
  endJobAndRecordTaskFailure,
  endLostJob,
} from '../../src/tasks/jobs/end-job-and-decide-next.ts';
import { recordAcceptedJob, inputWithSpelledReferences } from './submit-job.ts';

// An attempt that finds an intent continues its job: `findOpenOrReserveJob` (src/tasks/jobs/next-job.ts) reads the row, whose intent was committed before the create
// (submit-job.ts). A create whose response was lost may have made a job, which costs money, so no other create is sent before that is known,
// or, with `onLostJob: resubmit`, before the lookups have ended without a result (`endLostJob` in src/tasks/jobs/end-job-and-decide-next.ts).

/** Reads the state of a job whose intent was committed before, by an earlier attempt or by this one. */
export async function resumeJobFromRow(
  attempt: GenerationAttempt,
  resumed: Extract<NextJob, { kind: 'resumed' }>,
): Promise<StepOutcome> {
  const staged = await endJobIfStaged(attempt);
  if (staged !== undefined) return staged;
  const { deps, task } = attempt;
  const { row, jobKey, resubmissions } = resumed;
  const open = await waitForOpenProvider(attempt, row, () => deps.providers.ofJob(row));
  if ('kind' in open) return open;
  const { provider } = open;
  const { ordinal, pool, jobId: id, handle, intendedAt, ageMs, detail, submittedAt, upstreamEndedAt } = row;
  const job = { taskId: task.taskId, ordinal, jobKey, pool, open, resubmissions };
  if (provider.runs !== 'upstream') return { kind: 'job', job: { ...job, state: 'in_request', provider } };
  if (id === undefined)
    return { kind: 'job', job: { ...job, state: 'unanswered', provider, intendedAt, ageMs, detail } };
  // The attempt that recorded the job may have died before this.
  await markGenerating(attempt);
  return { kind: 'job', job: asRunningJob(task, job, { provider, id, handle, submittedAt, upstreamEndedAt }) };
}

const recheckMs = 10_000;
const logEveryMs = 300_000;

/**
 * Waits, until the deadline, while the provider of a job is off, or while `find` returns undefined because its name has left the
 * catalogue or stands for another upstream, whose statements about the job would be false.
 */
export async function waitForOpenProvider(
  attempt: GenerationAttempt,
  { ordinal, provider }: { readonly ordinal: number; readonly provider: string },
  find: () => ProviderWithTermsAndPoller | undefined,
): Promise<ProviderWithTermsAndPoller | AttemptEndWithoutVideo> {
  const { deps, signal } = attempt;
  const { taskId } = attempt.task;
  for (let loggedAt = -Infinity; ; await delay(recheckMs, undefined, { signal }).catch(() => undefined)) {
    const isOff = await deps.switches.isOff(provider);
    const found = isOff ? undefined : find();
    if (found !== undefined) return found;
    if (performance.now() - loggedAt >= logEveryMs) {
      const reason = isOff ? 'provider_off' : 'provider_changed';
      deps.log.error({ taskId, ordinal, provider, reason }, 'job polling paused');
      loggedAt = performance.now();
    }
    if (!signal.aborted) continue;
    if (!hasDeadlinePassed(attempt)) return attemptEndAfterAbort(attempt);
    const end = { outcome: 'abandoned', cost: 'unknown', detail: 'its provider was off, or another upstream' } as const;
    return await endJobAndRecordTaskFailure(attempt, { taskId, ordinal }, providerFailures.unavailable, end);
  }
}

/** After this the lookup of a lost create ends without a result. */
export const maxLostCreateLookUpMs = 10 * 60_000;
const pauseAfterErrorMs = 15_000;

/** Finds the job of a create whose response was lost. If the upstream does not have it, another one may be created. */
export async function recoverJobOfLostCreate(
  attempt: GenerationAttempt,
  job: JobInState<'unanswered'>,
): Promise<StepOutcome> {
  const { deps, task, signal, signalWithoutDeadline } = attempt;
  const { taskId, ordinal, jobKey, pool, provider, open, intendedAt, ageMs, detail: response } = job;
  const row = { ordinal, provider: provider.name, pool, intendedAt, ageMs };
  const { accountId, param, deadlineMs } = task;
  const lost = { taskId, accountId, jobKey, row, ...param, deadlineMs };
  const found = await lookUpLostCreate(deps, { provider, imageReference: open.imageReference }, lost, signal);
  // A job that was found is recorded also after an abort, so that it can be stopped.
  if (signal.aborted && found.kind !== 'found') return attemptEndAfterAbort(attempt);
  switch (found.kind) {
    case 'found':
      return await withJobCreateGrace(attempt, signalWithoutDeadline, (late) =>
        recordAcceptedJob(attempt, asRunningJob(task, job, { provider, submittedAt: intendedAt, ...found }), late),
      );
    case 'later':
      return { kind: 'waits', why: 'the job may still be found', pauseMs: found.afterMs };
    case 'not_created':
      await endAndCountJob(deps, job, { outcome: 'not_created', cost: 'free' });
      return { kind: 'next' };
    case 'unknown':
      break;
  }
  const detail = [response && `create: ${response}`, `lookup: ${found.detail}`].filter(Boolean).join('\n');
  return await endLostJob(attempt, job, { why: 'the response of the provider was lost', detail });
}

type LostRequest = Pick<LostCreateToRecover, 'taskId' | 'jobKey' | 'model' | 'input' | 'deadlineMs'> & {
  readonly accountId: string;
  readonly row: Pick<ProviderJob, 'ordinal' | 'provider' | 'pool' | 'intendedAt' | 'ageMs'>;
};

type LookUpDeps = Pick<GenerationDeps, 'db' | 'log' | 'events' | 'hashAccount'>;

type Recovering = Pick<ProviderWithTermsAndPoller, 'imageReference'> & { readonly provider: PolledProvider };

/**
 * Finds the job of a create whose response was lost; it creates none. A lookup that fails is repeated later, and so is one that finds no
 * job while the create may still be on its way, such as from a worker that Temporal has replaced.
 */
export async function lookUpLostCreate(
  deps: LookUpDeps,
  { provider, imageReference }: Recovering,
  { accountId, row, ...request }: LostRequest,
  signal: AbortSignal,
): Promise<RecoverOutcome> {
  const { ordinal, pool = '', intendedAt = Date.now() } = row;
  const { taskId } = request;
  const lost: LostCreateToRecover = {
    ...request,
    input: inputWithSpelledReferences({ imageReference }, request.input),
    ordinal,
    accountHashes: deps.hashAccount(accountId),
    intendedAt,
    claimed: (ids) => findIdsTakenByOurJobs(deps.db, row.provider, ids),
    countRivals: async () => (await countOtherUnansweredCreates(deps.db, { pool, taskId, ordinal, intendedAt })).rivals,
  };
  const found = await provider.recover(lost, signal).catch((error: unknown) => {
    deps.log.info({ taskId, provider: row.provider, detail: detailOfAnswerOrError({ error }) }, 'job lookup failed');
    return { kind: 'later', afterMs: pauseAfterErrorMs } as const;
  });
  const outcome = limitLookUp(found, row.ageMs, Math.max(lateCreateWindowMs, provider.submitTimeoutMs));
  deps.events.emit({ kind: 'provider_lookup', provider: provider.name, outcome: outcome.kind });
  return outcome;
}

/** Distrusts an early `not_created` and an id that cannot be stored, and ends the lookups after ten minutes. */
function limitLookUp(found: RecoverOutcome, ageMs: number, settledAfterMs: number): RecoverOutcome {
  if (found.kind === 'not_created' && ageMs < settledAfterMs)
    return { kind: 'later', afterMs: Math.min(pauseAfterErrorMs, settledAfterMs - ageMs) };
  if (found.kind === 'found' && !isStorableJob(found)) return { kind: 'unknown', detail: 'the job has no usable id' };
  if (found.kind === 'later' && ageMs >= maxLostCreateLookUpMs)
    return { kind: 'unknown', detail: 'no response in ten minutes' };
  return found;
}
