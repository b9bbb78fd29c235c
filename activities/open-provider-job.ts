import { TaskFault } from '../src/domain/task-fault.ts';
import type { Task } from '../src/domain/task.ts';
import type { GenerationRequest, Provider } from '../src/providers/provider.ts';
import {
  endProviderJob,
  intendProviderJob,
  listProviderJobs,
  type ProviderJob,
  recordProviderJob,
} from '../src/stores/provider-jobs.ts';
import type { ActivityDeps } from './deps.ts';

export type OpenJob = {
  readonly taskId: string;
  readonly ordinal: number;
  readonly provider: Provider;
  readonly jobId: string;
};

/**
 * The provider's job of this task: the one an earlier attempt began, else a new one from the first provider of the
 * model's list that takes it. A second job costs money, so an earlier call whose answer was lost is looked up first,
 * and the task fails rather than ask twice.
 */
export async function openProviderJob(
  deps: ActivityDeps,
  task: Task,
  request: GenerationRequest,
  signal: AbortSignal,
): Promise<OpenJob> {
  const jobs = await listProviderJobs(deps.db, task.taskId);
  const open = jobs.find((job) => job.outcome === undefined || job.outcome === 'success');
  const resumed = open === undefined ? undefined : await resumeJob(deps, open, request, signal);
  if (resumed !== undefined) return resumed;
  return submitToFirst(deps, task, request, { tried: jobs, signal });
}

async function resumeJob(
  deps: ActivityDeps,
  job: ProviderJob,
  request: GenerationRequest,
  signal: AbortSignal,
): Promise<OpenJob | undefined> {
  const provider = deps.providers.get(job.provider);
  if (provider === undefined) throw unavailable(`provider ${job.provider} is not configured on this worker`, true);
  const { taskId } = request;
  const { ordinal } = job;
  if (job.jobId !== undefined) return { taskId, ordinal, provider, jobId: job.jobId };
  const recovered = await provider.recover(request, signal);
  if (recovered.kind === 'found') {
    await recordProviderJob(deps.db, { taskId, ordinal, jobId: recovered.jobId });
    return { taskId, ordinal, provider, jobId: recovered.jobId };
  }
  await endProviderJob(deps.db, {
    taskId,
    ordinal,
    outcome: recovered.kind === 'unknown' ? 'abandoned' : 'not_created',
  });
  if (recovered.kind === 'unknown') throw unavailable(`the answer of ${job.provider} was lost`, false);
  return undefined;
}

/** Calls for a job that a task may make at most; each of them but the last was refused without a job being made. */
const maxJobs = 20;

async function submitToFirst(
  deps: ActivityDeps,
  task: Task,
  request: GenerationRequest,
  { tried, signal }: { tried: readonly ProviderJob[]; signal: AbortSignal },
): Promise<OpenJob> {
  // A bad image ends the task before anything is asked of a provider.
  await request.images();
  if (tried.length >= maxJobs) throw unavailable(`${maxJobs} calls made no job`, false);
  const spent = new Set(tried.filter((job) => job.outcome !== 'not_created').map((job) => job.provider));
  const candidates = providersOf(deps, task).filter((provider) => !spent.has(provider.name));
  let ordinal = tried.length;
  let lastFault = unavailable('no provider is left to ask', false);
  for (const provider of candidates) {
    ordinal += 1;
    try {
      return await submit(deps, { taskId: task.taskId, ordinal, provider }, request, signal);
    } catch (error) {
      if (!(error instanceof TaskFault) || error.failCode !== 'provider_unavailable') throw error;
      lastFault = error;
    }
  }
  throw lastFault;
}

function providersOf(deps: ActivityDeps, task: Task): readonly Provider[] {
  const names = deps.models.get(task.param.model)?.providers ?? [];
  return names.flatMap((name) => deps.providers.get(name) ?? []);
}

async function submit(
  deps: ActivityDeps,
  { taskId, ordinal, provider }: Omit<OpenJob, 'jobId'>,
  request: GenerationRequest,
  signal: AbortSignal,
): Promise<OpenJob> {
  const intended = await intendProviderJob(deps.db, { taskId, ordinal, provider: provider.name });
  if (!intended) throw unavailable('another attempt is asking the provider at this moment', true);
  try {
    const jobId = await provider.submit(request, signal);
    await recordProviderJob(deps.db, { taskId, ordinal, jobId });
    return { taskId, ordinal, provider, jobId };
  } catch (error) {
    // A TaskFault from submit is the provider's word that no job exists; any other error leaves the intent open, to be looked up.
    if (error instanceof TaskFault) await endProviderJob(deps.db, { taskId, ordinal, outcome: 'not_created' });
    throw error;
  }
}

function unavailable(detail: string, retryable: boolean): TaskFault {
  const message = 'The video provider is not available at the moment.';
  return new TaskFault('provider_unavailable', message, { retryable, cause: new Error(detail) });
}
