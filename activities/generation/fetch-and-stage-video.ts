import { OutboundError } from '../../src/platform/outbound/outbound-error.ts';
import { maxVideoBytes } from '../../src/platform/outbound/resumable-download.ts';
import { type GeneratedVideoFile, VideoLostError } from '../../src/providers/provider-contract.ts';
import { succeedProviderJob } from '../../src/tasks/jobs/job-ends.ts';
import type { TaskResult } from '../../src/catalogue/tasks/task.ts';
import { findStoredVideo, upstreamUploadKeyOf, stagingKeysOf } from '../task-file-keys-and-deletion.ts';
import type { GenerationAttempt, GenerationDeps, StepOutcome } from './attempt-at-generation.ts';
import { providerFailures } from '../../src/tasks/jobs/task-failures-of-jobs.ts';
import type { JobInState, AttemptEndWithoutVideo } from '../../src/tasks/jobs/job-of-attempt-types.ts';
import {
  endJobAndRecordTaskFailure,
  recordUpstreamEndAndCost,
  endLostJob,
} from '../../src/tasks/jobs/end-job-and-decide-next.ts';
import { stopJobIfCancelled } from './end-declined-or-stop-cancelled-job.ts';

/** Fetches a video that is paid for, for as long again as the task's deadline, and stages it in our own store. */
export async function fetchVideoAndEndJob(
  attempt: GenerationAttempt,
  job: JobInState<'succeeded'>,
): Promise<StepOutcome> {
  const { upstreamEndedAt, success } = job;
  if (upstreamEndedAt === undefined) await recordUpstreamEndAndCost(attempt, job, success.cost);
  const spentMs = upstreamEndedAt === undefined ? 0 : Date.now() - upstreamEndedAt;
  const fetched = await fetchFile(attempt, job, Math.max(0, attempt.task.deadlineMs - spentMs));
  if (fetched === 'moved') return await succeedJob(attempt);
  if ('kind' in fetched) return fetched;
  await attempt.deps.media.put(stagingKeysOf(job.taskId).video, fetched.path);
  return await succeedJob(attempt);
}

async function fetchFile(
  attempt: GenerationAttempt,
  job: JobInState<'succeeded'>,
  limitMs: number,
): Promise<Pick<GeneratedVideoFile, 'path'> | 'moved' | Exclude<StepOutcome, { kind: 'video' }>> {
  const { deps, workFolder, signalWithoutDeadline } = attempt;
  const { taskId, provider, upstream, success } = job;
  const limit = deps.startDeadline(limitMs);
  const signal = AbortSignal.any([signalWithoutDeadline, limit.signal]);
  try {
    const upload = success.isUploaded === true ? await moveUpload(attempt, job) : undefined;
    if (upload !== undefined && upload !== 'missing') return upload;
    if (upload === 'missing')
      deps.log.warn({ taskId, provider: provider.name }, 'uploaded video not found; downloading it');
    return await provider.result(upstream, success.result, { workFolder, signal });
  } catch (error) {
    if (signalWithoutDeadline.aborted) return await stopJobIfCancelled(attempt, job);
    if (error instanceof OutboundError && error.kind === 'too_large')
      return await endJobAndRecordTaskFailure(attempt, job, providerFailures.tooLarge, { outcome: 'fail' });
    if (error instanceof VideoLostError) {
      const lost = provider.uploads === true ? await moveUpload(attempt, job) : 'missing';
      return lost === 'missing' ? await endLostJob(attempt, job, lostVideo) : lost;
    }
    if (error instanceof OutboundError && error.kind === 'blocked')
      return await endForbiddenResult(attempt, job, error);
    if (!limit.signal.aborted) throw error;
    deps.log.error({ taskId, err: error }, 'paid video not fetched');
    return await endJobAndRecordTaskFailure(attempt, job, providerFailures.timeout, { outcome: 'fail' });
  } finally {
    limit.stop();
  }
}

/** The upstream names a private address, which no later try may read either. */
async function endForbiddenResult(
  attempt: GenerationAttempt,
  job: JobInState<'succeeded'>,
  error: OutboundError,
): Promise<AttemptEndWithoutVideo> {
  const detail = `the result is at an address that is not allowed: ${error.detail}; IMAGE_ALLOW can allow it`;
  attempt.deps.log.error({ taskId: job.taskId, provider: job.provider.name, detail }, 'paid video not fetched');
  return await endJobAndRecordTaskFailure(attempt, job, providerFailures.unreachable, { outcome: 'fail', detail });
}

const lostVideo = {
  why: 'the provider has lost a video',
  detail: 'the upstream does not have the job any more',
  isSettled: true,
  hasCost: true,
};

/** Moves the upstream's own upload to a key that only we can write to, without transferring its bytes. */
async function moveUpload(
  attempt: GenerationAttempt,
  job: JobInState<'running' | 'succeeded'>,
): Promise<'moved' | 'missing' | AttemptEndWithoutVideo> {
  const { media } = attempt.deps;
  const incoming = upstreamUploadKeyOf(job.taskId, job.jobKey);
  const { video: staged } = stagingKeysOf(job.taskId);
  let upload = await checkUpload(media, incoming);
  if (upload !== 'too_large') {
    await media.move([{ from: incoming, to: staged }]);
    // The upstream could replace the file until the move.
    upload = await checkUpload(media, staged);
  }
  if (upload === 'too_large')
    return await endJobAndRecordTaskFailure(attempt, job, providerFailures.tooLarge, { outcome: 'fail' });
  return upload === 'fits' ? 'moved' : 'missing';
}

async function checkUpload(media: GenerationDeps['media'], key: string): Promise<'fits' | 'missing' | 'too_large'> {
  const sizeBytes = await media.sizeOf(key);
  if (sizeBytes === undefined) return 'missing';
  if (sizeBytes <= maxVideoBytes) return 'fits';
  await media.delete(key);
  return 'too_large';
}

/** Ends the job of a video that is in our own store. `result` is that of one that needs no `storeResult`. */
export async function succeedJob({ deps, task, form }: GenerationAttempt, result?: TaskResult): Promise<StepOutcome> {
  const ended = await succeedProviderJob(deps.db, task.taskId);
  if (ended !== undefined) deps.events.emit({ kind: 'job_ended', job: ended });
  return { kind: 'video', staged: { ...(form !== undefined && { form }), ...(result !== undefined && { result }) } };
}

/** Stages the video that the upstream wrote into our store before it lost the job. Returns undefined if it wrote no video. */
export async function stageUploadOfLostJob(
  attempt: GenerationAttempt,
  job: JobInState<'running'>,
): Promise<StepOutcome | undefined> {
  if (job.provider.uploads !== true) return undefined;
  const upload = await moveUpload(attempt, job);
  if (upload === 'missing') return undefined;
  if (upload !== 'moved') return upload;
  await recordUpstreamEndAndCost(attempt, job, undefined);
  return await succeedJob(attempt);
}

/** Ends the job in success if an earlier attempt has staged its video before its response was lost; nothing is generated twice. */
export async function endJobIfStaged(attempt: GenerationAttempt): Promise<StepOutcome | undefined> {
  const { media } = attempt.deps;
  const { taskId } = attempt.task;
  const isStaged = (await media.sizeOf(stagingKeysOf(taskId).video)) !== undefined;
  if (!isStaged && (await findStoredVideo(media, taskId)) === undefined) return undefined;
  return await succeedJob(attempt);
}
