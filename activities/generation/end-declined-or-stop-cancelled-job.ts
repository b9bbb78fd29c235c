import pTimeout from 'p-timeout';
import type { NotAccepted, Refused } from '../../src/providers/provider-contract.ts';
import {
  coolDown,
  jobEndAfterCancel,
  endAndCountJob,
  endJobAndRecordTaskFailure,
  jobLogFields,
} from '../../src/tasks/jobs/end-job-and-decide-next.ts';
import type { JobBase, JobInState, AttemptEndWithoutVideo } from '../../src/tasks/jobs/job-of-attempt-types.ts';
import { taskFailureFor, providerFailures } from '../../src/tasks/jobs/task-failures-of-jobs.ts';
import { mediaUrlsOf } from '../../src/catalogue/input/task-input.ts';
import {
  type GenerationAttempt,
  attemptEndAfterAbort,
  isAbortedByCancellation,
  type StepOutcome,
} from './attempt-at-generation.ts';

/** The upstream has certainly made no job: another provider may get the task, unless the task itself was refused. */
export async function endJobDeclinedUpstream(
  attempt: GenerationAttempt,
  job: JobBase,
  declined: NotAccepted | Refused,
): Promise<StepOutcome> {
  const { deps, signal, task } = attempt;
  if (declined.kind === 'not_accepted') {
    const { detail, reason } = declined;
    deps.log.info({ ...jobLogFields(job), reason, detail }, 'job not accepted');
    await endAndCountJob(deps, job, { outcome: 'not_created', detail, cost: 'free' });
    // A request that we canceled proves nothing about the provider.
    if (signal.aborted) return attemptEndAfterAbort(attempt);
    await coolDown(deps, job, declined);
    return { kind: 'next' };
  }
  const { error } = declined;
  deps.log.info({ ...jobLogFields(job), error }, 'job refused');
  const { input } = task.param;
  // Only the prompt can be refused for its content if the request has no media.
  const isPrompt = error.kind === 'content' && mediaUrlsOf(input).length === 0;
  const failure = taskFailureFor(isPrompt ? { ...error, about: 'prompt' } : error, input);
  const end = { detail: error.detail, cost: 'free' } as const;
  if (failure !== undefined)
    return await endJobAndRecordTaskFailure(attempt, job, failure, { outcome: 'fail', ...end });
  await endAndCountJob(deps, job, { outcome: 'refused', ...end });
  return { kind: 'next' };
}

/** Stops the job of a cancelled task. A worker that shuts down leaves its job to the next attempt. */
export async function stopJobIfCancelled(
  attempt: GenerationAttempt,
  job: JobInState<'running' | 'succeeded'>,
): Promise<AttemptEndWithoutVideo> {
  if (!isAbortedByCancellation(attempt)) return attemptEndAfterAbort(attempt);
  const outcome = await withFinalRequestLimit((signal) => job.provider.cancel(job.upstream, signal)).catch(
    () => undefined,
  );
  // `reconcile` stops the job if the provider does not respond.
  const hasCost = job.state === 'succeeded' || job.upstreamEndedAt !== undefined;
  if (outcome !== undefined)
    await endJobAndRecordTaskFailure(attempt, job, providerFailures.cancelled, jobEndAfterCancel(outcome, { hasCost }));
  return { kind: 'cancelled' };
}

export const finalRequestLimitMs = 15_000;

/** Sends one of the last requests about a job, which ends with an error after 15 seconds. */
export async function withFinalRequestLimit<T>(send: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const limit = {
    milliseconds: finalRequestLimitMs,
    message: `no response from the provider in ${finalRequestLimitMs / 1000} s`,
  };
  return await pTimeout(send(stop.signal), limit).finally(() => stop.abort());
}
