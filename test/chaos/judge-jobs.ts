import type { Evidence, FinalTask } from './evidence.ts';
import type { PaidJob } from './paid-upstream.ts';
import { sha256Of, paidVideo } from './paid-video.ts';
import { manners } from './upstream-manners.ts';

/** A job may run on for so long after its task has ended: half a minute of grace, a run of `reconcile`, and a killed worker. */
const stopLimitMs = 120_000;
/** What is told a moment before a fault may not have been heard. */
const hearingMs = 5_000;

/** What must be true of the jobs that were paid for; answers a sentence for each breach. */
export function judgeJobs(evidence: Evidence): readonly string[] {
  const known = new Set(evidence.tasks.map(({ taskId }) => taskId));
  return [
    ...evidence.jobs.filter(({ taskId }) => !known.has(taskId)).map(({ jobId }) => `job ${jobId} was made for no task`),
    ...evidence.tasks.flatMap((task) => judgeTask(task, evidence)),
  ];
}

function judgeTask(task: FinalTask, evidence: Evidence): readonly string[] {
  const jobs = evidence.jobs.filter(({ taskId }) => taskId === task.taskId);
  const [job] = jobs;
  if (job === undefined) return [];
  return [
    ...(jobs.length === 1 ? [] : [`task ${task.taskId} paid for ${jobs.length} jobs (${job.manner})`]),
    ...jobs.flatMap((one) => judgeEnd(one, task, evidence)),
    ...(task.state === 'success' ? judgeBytes(job, task, evidence) : judgeLateness(job, task, evidence)),
  ];
}

/** Nobody lets a job run on whose task is over. */
function judgeEnd(job: PaidJob, { taskId, completedAt }: FinalTask, { damage }: Evidence): readonly string[] {
  if (completedAt === null) return [];
  const name = `job ${job.jobId} of task ${taskId} (${job.manner})`;
  if (job.state === 'running') return [`${name} still runs, and was asked to stop ${job.cancels} times`];
  const wasAsked = job.cancels > 0 || (job.endedAt ?? Infinity) <= completedAt + 1_000;
  if (!manners[job.manner].obeysCancel) return wasAsked ? [] : [`${name} was never asked to stop`];
  const lastHurtAt = Math.max(0, ...damage.hurts.map(({ untilMs }) => untilMs));
  const overMs = (job.endedAt ?? Infinity) - Math.max(completedAt, lastHurtAt);
  return overMs <= stopLimitMs ? [] : [`${name} ran on for ${overMs / 1_000} s after its task had ended`];
}

/** The first video that was told of is the one that is delivered, whatever the upstream says or serves later. */
function judgeBytes(job: PaidJob, { taskId, sha256, completedAt }: FinalTask, evidence: Evidence): readonly string[] {
  const served = job.served.map((one) => one.sha256);
  const first = sha256Of(paidVideo(job.jobId, 1));
  if (sha256 === first) return [];
  if (sha256 === null || !served.includes(sha256))
    return [`the video of task ${taskId} was never served by the upstream`];
  const [told] = job.told;
  return told !== undefined && wasHurt(evidence, told.atMs, completedAt)
    ? []
    : [`the video of task ${taskId} is not the first that the upstream told of (${job.manner})`];
}

/** A job that succeeded although its task had failed was paid for in vain: that has to be in our books. */
function judgeLateness(job: PaidJob, { taskId, failCode }: FinalTask, { bookedJobs }: Evidence): readonly string[] {
  const end = manners[job.manner].end;
  if (bookedJobs === undefined || job.state !== 'ended' || end === 'failure' || job.told.length === 0) return [];
  const booked = bookedJobs.find(({ jobId }) => jobId === job.jobId);
  const isBooked = booked !== undefined && booked.outcome !== null;
  return isBooked ? [] : [`job ${job.jobId} of task ${taskId} (${failCode}) ended, and our books do not say how`];
}

/** Whether anything was hurt from just before an instant until the task's end. */
export function wasHurt({ damage }: Pick<Evidence, 'damage'>, sinceMs: number, completedAt: number | null): boolean {
  return damage.hurts.some(
    ({ fromMs, untilMs }) => untilMs >= sinceMs - hearingMs && fromMs <= (completedAt ?? Infinity),
  );
}
