import { detailOf, isStorable } from '../../src/providers/answers.ts';
import type { LostCall, PolledProvider, RecoverOutcome } from '../../src/providers/contract.ts';
import type { OpenProvider } from '../../src/providers/registry.ts';
import { countRivals, listClaimedJobs } from '../../src/stores/lost-calls.ts';
import { callSettledAfterMs, type ProviderJob } from '../../src/stores/provider-jobs.ts';
import type { ActivityDeps } from '../deps.ts';
import { type Attempt, type Call, endCall, failTask, waits, providerFailures } from './attempt.ts';
import { type AcceptedJob, logged, recordAccepted, spelledInput } from './submit-job.ts';

// A call whose answer was lost: it may have made a job, which costs money, so nobody is asked for another one before that is known.

/** After this no answer is expected any more. */
const givenUpAfterMs = 10 * 60_000;
const pauseAfterErrorMs = 15_000;
/** Jobs that may be made again in a task, where the operator allows it. */
const maxResubmissions = 2;

/** Whose call it was, and what the provider has to know to find its job. */
export type Lost = Pick<LostCall, 'taskId' | 'model' | 'input' | 'deadlineMs'> & {
  readonly accountId: string;
  readonly row: Pick<ProviderJob, 'ordinal' | 'provider' | 'pool' | 'intendedAt' | 'ageMs'>;
};

/** The provider, and how prompts refer to images there. */
type Asked = Pick<OpenProvider, 'imageReference'> & { readonly provider: PolledProvider };

/** Asks the provider for the job of a lost call. An error of the look-up means that it is to be asked again. */
export async function lookUp(...asked: Parameters<typeof recoverOnce>): Promise<RecoverOutcome> {
  const [deps, { provider }] = asked;
  const outcome = await recoverOnce(...asked);
  deps.events.emit({ kind: 'provider_look_up', provider: provider.name, outcome: outcome.kind });
  return outcome;
}

async function recoverOnce(
  deps: ActivityDeps,
  { provider, imageReference }: Asked,
  { accountId, row, ...request }: Lost & { readonly jobKey: string },
  signal: AbortSignal,
): Promise<RecoverOutcome> {
  const { ordinal, pool = '', ageMs } = row;
  const intendedAt = row.intendedAt ?? Date.now();
  const call: LostCall = {
    ...request,
    input: spelledInput({ imageReference }, request.input),
    ordinal,
    accountHash: deps.hashAccount(accountId),
    intendedAt,
    claimed: (ids) => listClaimedJobs(deps.db, row.provider, ids),
    rivals: await countRivals(deps.db, { pool, taskId: request.taskId, ordinal, intendedAt }),
  };
  const found = await provider.recover(call, signal).catch((error: unknown) => {
    deps.log.info(
      { taskId: call.taskId, provider: row.provider, detail: detailOf({ error }) },
      'look-up of a job failed',
    );
    return { kind: 'later', afterMs: pauseAfterErrorMs } as const;
  });
  if (found.kind === 'found' && !isStorable(found)) return { kind: 'unknown', detail: 'the job has no usable id' };
  if (found.kind === 'later' && ageMs >= givenUpAfterMs) return { kind: 'unknown', detail: 'no answer in ten minutes' };
  return found;
}

/** The job of a lost call, recorded; undefined when there is none, or when another one may be made. */
export async function recoverJob(
  attempt: Attempt,
  call: Call & { readonly row: ProviderJob; readonly resubmissions: number },
  provider: PolledProvider,
): Promise<AcceptedJob | undefined> {
  const { deps, task, signal, deadlineMs } = attempt;
  const { row, taskId, ordinal, jobKey } = call;
  const { accountId, param } = task;
  const lost = { taskId, accountId, jobKey, row, ...param, deadlineMs };
  const found = await lookUp(deps, { provider, imageReference: call.open.imageReference }, lost, signal);
  signal.throwIfAborted();
  switch (found.kind) {
    case 'found':
      await recordAccepted(attempt, { ...call, pool: row.pool }, found);
      return found;
    case 'later':
      throw waits('the job is looked for', found.afterMs);
    case 'not_created':
      // The call may still be on its way, from a worker that was taken for dead.
      if (row.ageMs < callSettledAfterMs) throw waits('the call may be on its way', pauseAfterErrorMs);
      await endCall(deps, { taskId, ordinal, outcome: 'not_created', cost: 'free' });
      return undefined;
    case 'unknown':
      break;
  }
  await giveUp(attempt, call, { why: 'the answer of the provider was lost', detail: found.detail });
  return undefined;
}

/** A job that is lost ends the task, unless its operator has said that another one does no harm. */
export async function giveUp(
  attempt: Attempt,
  call: Call & { readonly resubmissions: number },
  { why, detail, isSettled = false }: { readonly why: string; readonly detail: string; readonly isSettled?: boolean },
): Promise<void> {
  const { deps } = attempt;
  const { taskId, ordinal, open, resubmissions } = call;
  const end = { outcome: 'abandoned', detail, cost: 'unknown' } as const;
  if (open.terms.onLostAnswer === 'fail' || resubmissions >= maxResubmissions) {
    deps.log.error({ ...logged(call), detail }, why);
    throw await failTask(attempt, call, providerFailures.unavailable, { ...end, isSettled });
  }
  deps.log.warn({ ...logged(call), detail, why }, 'job resubmitted');
  deps.events.emit({ kind: 'provider_resubmission', provider: open.provider.name });
  // Its place is given back, or the next job would wait for it.
  await endCall(deps, { taskId, ordinal, ...end, isSettled: true });
}
