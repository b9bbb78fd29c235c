import type { TaskResult } from '../../src/catalogue/tasks/task.ts';
import type { GeneratedVideoFile, RunOutcome } from '../../src/providers/provider-contract.ts';
import { submitOutcomeLabelOf } from '../../src/providers/provider-events.ts';
import { incrementLostRuns } from '../../src/tasks/jobs/job-creates.ts';
import { closeBreaker } from '../../src/tasks/jobs/provider-pools-and-switches.ts';
import {
  type GenerationAttempt,
  hasDeadlinePassed,
  attemptEndAfterAbort,
  markGenerating,
  type StepOutcome,
} from './attempt-at-generation.ts';
import { providerFailures } from '../../src/tasks/jobs/task-failures-of-jobs.ts';
import { finalTaskFailureOf } from '../../src/catalogue/tasks/task-error.ts';
import { succeedJob } from './fetch-and-stage-video.ts';
import type { JobInState, AttemptEndWithoutVideo } from '../../src/tasks/jobs/job-of-attempt-types.ts';
import {
  coolDown,
  endJobAndRecordTaskFailure,
  recordUpstreamEndAndCost,
  endFailedJob,
} from '../../src/tasks/jobs/end-job-and-decide-next.ts';
import { endJobDeclinedUpstream } from './end-declined-or-stop-cancelled-job.ts';
import { storeIfNothingToConvert, usablePosterPath } from '../convert-and-store-video.ts';
import { stagingKeysOf } from '../task-file-keys-and-deletion.ts';
import { jobRequestFor } from './submit-job.ts';

/** Runs a job that lives in the attempt and ends with it: on this machine, or in a connection to the upstream. */
export async function runJobInRequest(attempt: GenerationAttempt, job: JobInState<'in_request'>): Promise<StepOutcome> {
  const { deps } = attempt;
  const { pool, provider } = job;
  if (provider.runs === 'here') await markGenerating(attempt);
  const submittedAt = Date.now();
  const end = await runToEnd(attempt, job);
  if (end.kind === 'interrupted') return await endInterruptedRun(attempt, job, end.error);
  if (pool !== undefined)
    deps.events.emit({ kind: 'provider_call', provider: provider.name, outcome: submitOutcomeLabelOf(end) });
  switch (end.kind) {
    case 'video':
      await markGenerating(attempt, Date.now() - submittedAt);
      if (pool !== undefined) {
        await recordUpstreamEndAndCost(attempt, { ...job, submittedAt }, end.cost);
        await closeBreaker(deps.db, pool);
      }
      return await succeedJob(attempt, await storeOrStage(attempt, end.video));
    case 'failed':
      return await endFailedJob(attempt, { ...job, submittedAt }, end);
    case 'not_accepted':
    case 'refused':
      return await endJobDeclinedUpstream(attempt, job, end);
    case 'lost':
      break;
  }
  return await endLostRun(attempt, job, end.detail);
}

async function runToEnd(
  attempt: GenerationAttempt,
  job: JobInState<'in_request'>,
): Promise<RunOutcome | { readonly kind: 'interrupted'; readonly error: unknown }> {
  const { deps, signal, report, workFolder } = attempt;
  const begunAt = performance.now();
  const onStarted = () => {
    markGenerating(attempt, performance.now() - begunAt).catch((err: unknown) =>
      deps.log.warn({ taskId: job.taskId, err }, 'task not marked as generating'),
    );
  };
  try {
    signal.throwIfAborted();
    return await job.provider.run(jobRequestFor(attempt, job), report, { workFolder, signal, onStarted });
  } catch (error) {
    return { kind: 'interrupted', error };
  }
}

/** Stores a video of the preview, which comes with its poster; stages all others, and those that cannot be stored now. */
async function storeOrStage(
  { deps, task, form }: GenerationAttempt,
  video: GeneratedVideoFile,
): Promise<TaskResult | undefined> {
  const { taskId } = task;
  const result = form === undefined ? await storeIfNothingToConvert(deps, taskId, video) : undefined;
  if (result !== undefined) return result;
  const { video: videoKey, poster: posterKey } = stagingKeysOf(taskId);
  const poster = await usablePosterPath(video.posterPath);
  await Promise.all([
    deps.media.put(videoKey, video.path),
    poster === undefined ? undefined : deps.media.put(posterKey, poster),
  ]);
  return undefined;
}

/** The job has ended with its request, so nothing must be stopped. */
const ended = { outcome: 'abandoned', isSettled: true } as const;

async function endInterruptedRun(
  attempt: GenerationAttempt,
  job: JobInState<'in_request'>,
  error: unknown,
): Promise<AttemptEndWithoutVideo> {
  if (hasDeadlinePassed(attempt))
    return await endJobAndRecordTaskFailure(attempt, job, providerFailures.timeout, ended);
  if (attempt.signal.aborted) {
    const stop = attemptEndAfterAbort(attempt);
    if (stop.kind === 'cancelled') await endJobAndRecordTaskFailure(attempt, job, providerFailures.cancelled, ended);
    return stop;
  }
  const failure = finalTaskFailureOf(error);
  if (failure === undefined) throw error;
  return await endJobAndRecordTaskFailure(attempt, job, failure, { outcome: 'fail' });
}

/** Each lost run may have used the upstream's machine to its end. */
const maxLostRuns = 3;

async function endLostRun(
  attempt: GenerationAttempt,
  job: JobInState<'in_request'>,
  detail: string,
): Promise<AttemptEndWithoutVideo> {
  await coolDown(attempt.deps, job, { reason: 'unknown' });
  const { lostRuns } = await incrementLostRuns(attempt.deps.db, job);
  // The next attempt runs the same job again, under the same name.
  if (lostRuns < maxLostRuns) return { kind: 'undecided', detail };
  return await endJobAndRecordTaskFailure(attempt, job, providerFailures.unavailable, {
    ...ended,
    detail,
    cost: 'unknown',
  });
}
