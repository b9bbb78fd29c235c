import type { FollowOutcome } from '../../src/providers/jobs/shared-job-poller.ts';
import { touchGenerations } from '../../src/tasks/task-rows.ts';
import { type GenerationAttempt, hasDeadlinePassed, type StepOutcome } from './attempt-at-generation.ts';
import { providerFailures } from '../../src/tasks/jobs/task-failures-of-jobs.ts';
import { stageUploadOfLostJob } from './fetch-and-stage-video.ts';
import type { JobInState } from '../../src/tasks/jobs/job-of-attempt-types.ts';
import { waitForOpenProvider } from './resume-or-look-up-job.ts';
import {
  jobEndAfterCancel,
  endJobAndRecordTaskFailure,
  endFailedJob,
  endLostJob,
  recordUpstreamEndAndCost,
} from '../../src/tasks/jobs/end-job-and-decide-next.ts';
import { stopJobIfCancelled, withFinalRequestLimit } from './end-declined-or-stop-cancelled-job.ts';

export async function followJob(attempt: GenerationAttempt, job: JobInState<'running'>): Promise<StepOutcome> {
  for (;;) {
    const ended = await pollToEnd(attempt, job);
    switch (ended.state) {
      case 'succeeded':
        return { kind: 'job', job: { ...job, state: 'succeeded', success: ended } };
      case 'failed':
        return await endFailedJob(attempt, job, ended);
      case 'lost':
        return (
          (await stageUploadOfLostJob(attempt, job)) ??
          (await endLostJob(attempt, job, { ...missingJob, hasCost: job.upstreamEndedAt !== undefined }))
        );
      case 'interrupted':
        return hasDeadlinePassed(attempt) ? await endAtDeadline(attempt, job) : await stopJobIfCancelled(attempt, job);
      case 'provider_off': {
        const row = { ordinal: job.ordinal, provider: job.provider.name };
        const open = await waitForOpenProvider(attempt, row, () => job.open);
        if ('kind' in open) return open;
      }
    }
  }
}

const missingJob = {
  why: 'the provider has lost a job',
  detail: 'the upstream does not have the job',
  isSettled: true,
};

async function pollToEnd(
  attempt: GenerationAttempt,
  job: JobInState<'running'>,
): Promise<FollowOutcome | { readonly state: 'provider_off' | 'interrupted' }> {
  const { deps, report: onProgress } = attempt;
  // A job that has ended was in time; only its video is still to be fetched.
  const limit = job.upstreamEndedAt === undefined ? attempt.signal : attempt.signalWithoutDeadline;
  const off = deps.switches.watch(job.provider.name);
  const signal = AbortSignal.any([limit, off.signal]);
  try {
    return await job.open.poller.follow(job.upstream, {
      ageMs: Math.max(0, Date.now() - job.submittedAt),
      onProgress,
      signal,
    });
  } catch (error) {
    if (!signal.aborted) throw error;
    return { state: off.signal.aborted ? 'provider_off' : 'interrupted' };
  } finally {
    off.stop();
  }
}

/** Polls once more at the deadline, since a video that is ready is better than a refund. */
async function endAtDeadline(attempt: GenerationAttempt, job: JobInState<'running'>): Promise<StepOutcome> {
  const { provider, upstream } = job;
  const noResponse = () => undefined;
  const statuses = await withFinalRequestLimit((signal) => provider.status([upstream], signal)).catch(noResponse);
  const status = statuses?.get(job.jobKey);
  if (status?.state === 'succeeded') return { kind: 'job', job: { ...job, state: 'succeeded', success: status } };
  // Committed before the job is stopped, so that a repeated attempt finds the deadline passed, too.
  await touchGenerations(attempt.deps.db, [job.taskId]);
  // A job that has failed may be one that an earlier attempt has stopped.
  const failed = status?.state === 'failed' ? status : undefined;
  const hasCost = failed?.cost !== undefined;
  if (hasCost) await recordUpstreamEndAndCost(attempt, job, failed.cost);
  const cancel = () => withFinalRequestLimit((signal) => provider.cancel(upstream, signal)).catch(noResponse);
  const end = jobEndAfterCancel(failed === undefined ? await cancel() : 'ended', { hasCost });
  return await endJobAndRecordTaskFailure(attempt, job, providerFailures.timeout, end);
}
