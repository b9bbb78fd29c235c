import { v5 as uuidv5 } from 'uuid';
import type { JobTerms, UpstreamError } from '../../providers/contract.ts';
import type { Database } from '../../platform/database/database.ts';
import type { TaskInput } from '../task-input.ts';
import type { TaskFailure } from '../task.ts';
import { failureFor, providerFailures } from './job-failures.ts';
import { listProviderJobs, type ProviderJob } from './provider-jobs.ts';

// The rows of a task's earlier jobs determine whether another job may follow, at which provider, and its name.

/** True once in a task: another sample of a model often passes where the first one was refused. */
export async function mayRepeatRefused(
  db: Database,
  taskId: string,
  { onRefusedOutput }: Pick<JobTerms, 'onRefusedOutput'>,
  { kind, about }: UpstreamError,
): Promise<boolean> {
  if (kind !== 'content' || !isOutput(about) || onRefusedOutput !== 'resubmit') return false;
  return !(await listProviderJobs(db, taskId)).some(({ isRepeatable }) => isRepeatable);
}

function isOutput(about: UpstreamError['about']): boolean {
  return about === 'output' || about === 'sound';
}

/**
 * The job after which its provider makes one more: a lost one, or one whose video was refused. It stays so while the next create is not
 * accepted. After a lost job also a refused create leads to no other provider, because that one might be paid for a second job; a refused
 * video has cost nothing.
 */
export function repeatedJob(jobs: readonly ProviderJob[]): ProviderJob | undefined {
  const made = lastMade(jobs);
  if (made?.outcome === 'abandoned') return made;
  return made?.isRepeatable === true && jobs.at(-1)?.outcome !== 'refused' ? made : undefined;
}

export function isRefusedAfter(jobs: readonly ProviderJob[], { provider, ordinal }: ProviderJob): boolean {
  return jobs.some((job) => job.outcome === 'refused' && job.provider === provider && job.ordinal > ordinal);
}

/** The last job that may exist, or undefined if none was created. */
export function lastMade(jobs: readonly ProviderJob[]): ProviderJob | undefined {
  return jobs.findLast(({ outcome }) => outcome !== 'not_created' && outcome !== 'refused');
}

/** The failure of a task when no provider is left after its last job. */
export function failureAfter(last: ProviderJob | undefined, input: TaskInput): TaskFailure {
  const refused = failureFor({ kind: 'content', about: 'output', detail: '' }, input);
  if (last?.isRepeatable === true && refused !== undefined) return refused;
  if (last?.outcome === 'refused') return providerFailures.rejected;
  return last?.outcome === 'fail' ? providerFailures.failed : providerFailures.unavailable;
}

/** Counts the jobs after which another one was made, because they were lost. */
export function countLost(jobs: readonly ProviderJob[]): number {
  return jobs.filter(({ outcome }) => outcome === 'abandoned').length;
}

/**
 * Names a job. A create that was not accepted is repeated under the same name: if it arrives late after all, both mean the same
 * job. The first provider's first job has the task's id, under which operators find it.
 */
export function jobKeyOf(taskId: string, provider: string, earlier: readonly ProviderJob[]): string {
  const hadJob = ({ outcome }: ProviderJob) => outcome === 'fail' || outcome === 'abandoned';
  const ended = earlier.filter((job) => job.provider === provider && hadJob(job)).length;
  const isFirst = (earlier[0]?.provider ?? provider) === provider && ended === 0;
  return isFirst ? taskId : uuidv5(`${provider}/${ended}`, taskId);
}
