import { v5 as uuidv5 } from 'uuid';
import type { CatalogueModel } from '../../catalogue/file/catalogue-schema-and-types.ts';
import { untriedTiersForTask } from '../../catalogue/models/input-refusals-and-untried-tiers.ts';
import type { Database } from '../../platform/database/database.ts';
import type { OpenProviders } from '../../providers/open-providers.ts';
import type { TaskInput } from '../../catalogue/input/task-input.ts';
import type { Task, TaskFailure } from '../../catalogue/tasks/task.ts';
import type { JobBase, JobInState, AttemptEndWithoutVideo } from './job-of-attempt-types.ts';
import { taskFailureFor, providerFailures } from './task-failures-of-jobs.ts';
import type { ProviderJob } from './provider-jobs.ts';
import { reserveSlot } from './slots.ts';
import { readTaskTiers } from './stored-task-tiers.ts';

// The rows of a task determine the next step: its end, an open job, or a slot for a new one, and at which provider.

export type RoutingDeps = {
  readonly db: Database;
  /** The models of the catalogue in force. */
  readonly models: () => ReadonlyMap<string, CatalogueModel>;
  readonly providers: OpenProviders;
  readonly switches: {
    /** True while the provider takes no new task. */
    readonly isDisabled: (provider: string) => Promise<boolean>;
  };
};

type RoutedTask = Pick<Task, 'taskId' | 'accountId' | 'param'>;

export type NextJob =
  | { readonly kind: 'job'; readonly job: JobInState<'reserved'> }
  | ({ readonly kind: 'resumed'; readonly row: ProviderJob } & Pick<JobBase, 'jobKey' | 'resubmissions'>);

/** Returns the open job, else reserves a slot at the next provider that may make one. */
export async function findOpenOrReserveJob(
  deps: RoutingDeps,
  task: RoutedTask,
  rows: readonly ProviderJob[],
): Promise<NextJob | AttemptEndWithoutVideo> {
  // An earlier attempt came to this end, and its response was lost.
  const failure = rows.find((row) => row.failure !== undefined)?.failure;
  if (failure !== undefined) return { kind: 'task_failed', failure };
  const jobs = rows.filter(({ isIntended }) => isIntended);
  const open = jobs.find(({ outcome }) => outcome === undefined || outcome === 'success');
  if (open !== undefined) {
    const earlier = jobs.filter(({ ordinal }) => ordinal < open.ordinal);
    const jobKey = jobNameAtProvider(task.taskId, open.provider, earlier);
    return { kind: 'resumed', row: open, jobKey, resubmissions: countLost(earlier) };
  }
  // A row whose create was never sent is used again.
  const unused = rows.find(({ isIntended, outcome }) => !isIntended && outcome === undefined);
  return await reserveJob(deps, task, jobs, unused?.ordinal ?? (rows.at(-1)?.ordinal ?? 0) + 1);
}

/** The pause after which a task checks whether the operator has enabled our own machine again. */
const disabledPauseMs = 5_000;

/** Returns the pause of a task while our own machine is disabled. */
export async function findDisabledMachinePause({
  switches,
}: Pick<RoutingDeps, 'switches'>): Promise<AttemptEndWithoutVideo | undefined> {
  if (!(await switches.isDisabled('preview'))) return undefined;
  return { kind: 'waits', why: 'provider disabled', pauseMs: disabledPauseMs };
}

/** The most jobs of a task, over all providers. */
const maxJobs = 20;
/** The most creates of a task: more than the longest cooldown allows in the day that it may wait. */
const maxCreates = 400;

async function reserveJob(
  deps: RoutingDeps,
  task: RoutedTask,
  jobs: readonly ProviderJob[],
  ordinal: number,
): Promise<NextJob | AttemptEndWithoutVideo> {
  const { taskId, accountId } = task;
  const made = lastMade(jobs);
  if (made?.outcome === 'abandoned' && deps.providers.ofJob(made)?.terms.onLostJob !== 'resubmit')
    return noProvider(providerFailures.unavailable, 'a job was created after its request was abandoned');
  const declined = jobs.filter(({ outcome }) => outcome === 'not_created').length;
  if (jobs.length >= maxCreates || jobs.length - declined >= maxJobs)
    return noProvider(providerFailures.unavailable, `${jobs.length} creates led to no video`);
  let pauseMs = Infinity;
  for (const tier of await candidates(deps, task, jobs)) {
    let isFull = false;
    for (const entry of tier) {
      const { provider, limit, pool } = entry;
      const open = deps.providers.ofEntry(entry);
      if (open === undefined) continue;
      const jobKey = jobNameAtProvider(taskId, provider, jobs);
      const job = { state: 'reserved', taskId, ordinal, jobKey, open, entry, resubmissions: countLost(jobs) } as const;
      if (open.provider.runs === 'here') {
        if (!(await deps.switches.isDisabled(provider))) return { kind: 'job', job: { ...job, pool: undefined } };
        pauseMs = Math.min(pauseMs, disabledPauseMs);
        continue;
      }
      const admission = await reserveSlot(deps.db, { taskId, ordinal, accountId, pool, provider, limit });
      if (admission.kind === 'granted') return { kind: 'job', job: { ...job, pool } };
      isFull ||= admission.kind === 'full';
      pauseMs = Math.min(pauseMs, admission.againInMs);
    }
    // Our own limit is a queue: it does not send tasks to the next tier.
    if (isFull) break;
  }
  if (pauseMs < Infinity) return { kind: 'waits', why: 'no slot at any provider', pauseMs };
  return noProvider(failureAfter(jobs.at(-1), task.param.input), 'no provider is left');
}

function noProvider(failure: TaskFailure, detail: string): AttemptEndWithoutVideo {
  return { kind: 'task_failed', failure, detail };
}

type Tiers = CatalogueModel['tiers'];

/** Each provider has one job of a task at most, except where its operator allows another one after a lost or refused one. */
async function candidates(deps: RoutingDeps, task: RoutedTask, jobs: readonly ProviderJob[]): Promise<Tiers> {
  const { taskId } = task;
  const { model, input } = task.param;
  const again = repeatedJob(jobs);
  const used = new Set(jobs.filter(({ outcome }) => outcome !== 'not_created').map(({ provider }) => provider));
  if (again !== undefined && !isRefusedAfter(jobs, again)) used.delete(again.provider);
  const routes = untriedTiersForTask({ model, tiers: await tiersOf(deps, task) }, { taskId, input, used });
  return again === undefined
    ? routes
    : routes.map((tier) => tier.filter(({ provider }) => provider === again.provider));
}

/**
 * Returns the current tiers of the catalogue, so that an operator can move waiting tasks to another provider. If its model was removed, a
 * task of upstreams has stored its own, and one of our own machine has none.
 */
async function tiersOf(deps: RoutingDeps, { taskId, param }: RoutedTask): Promise<Tiers> {
  return deps.models().get(param.model)?.tiers ?? (await readTaskTiers(deps.db, taskId))?.tiers ?? [];
}

/**
 * The job after which its provider makes one more: a lost one, or one whose video was refused. It stays so while the next create is not
 * accepted. After a lost job also a refused create leads to no other provider, because that one might be paid for a second job; a refused
 * video has cost nothing.
 */
function repeatedJob(jobs: readonly ProviderJob[]): ProviderJob | undefined {
  const made = lastMade(jobs);
  if (made?.outcome === 'abandoned') return made;
  return made?.isRepeatable === true && jobs.at(-1)?.outcome !== 'refused' ? made : undefined;
}

function isRefusedAfter(jobs: readonly ProviderJob[], { provider, ordinal }: ProviderJob): boolean {
  return jobs.some((job) => job.outcome === 'refused' && job.provider === provider && job.ordinal > ordinal);
}

/** The last job that may exist, or undefined if none was created. */
function lastMade(jobs: readonly ProviderJob[]): ProviderJob | undefined {
  return jobs.findLast(({ outcome }) => outcome !== 'not_created' && outcome !== 'refused');
}

/** The failure of a task when no provider is left after its last job. */
function failureAfter(last: ProviderJob | undefined, input: TaskInput): TaskFailure {
  const refused = taskFailureFor({ kind: 'content', about: 'output', detail: '' }, input);
  if (last?.isRepeatable === true && refused !== undefined) return refused;
  if (last?.outcome === 'refused') return providerFailures.rejected;
  return last?.outcome === 'fail' ? providerFailures.failed : providerFailures.unavailable;
}

/** Counts the jobs after which another one was made, because they were lost. */
function countLost(jobs: readonly ProviderJob[]): number {
  return jobs.filter(({ outcome }) => outcome === 'abandoned').length;
}

/**
 * Names a job. A create that was not accepted is repeated under the same name: if it arrives late after all, both mean the same
 * job. The first provider's first job has the task's id, under which operators find it.
 */
export function jobNameAtProvider(taskId: string, provider: string, earlier: readonly ProviderJob[]): string {
  const hadJob = ({ outcome }: ProviderJob) => outcome === 'fail' || outcome === 'abandoned';
  const ended = earlier.filter((job) => job.provider === provider && hadJob(job)).length;
  const isFirst = (earlier[0]?.provider ?? provider) === provider && ended === 0;
  return isFirst ? taskId : uuidv5(`${provider}/${ended}`, taskId);
}
