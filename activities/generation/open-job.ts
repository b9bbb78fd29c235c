import { v5 as uuidv5 } from 'uuid';
import type { CatalogueModel } from '../../src/domain/catalogue/models.ts';
import { routesOf } from '../../src/domain/catalogue/route.ts';
import { effectiveRules } from '../../src/domain/catalogue/rules.ts';
import type { Task, TaskFailure } from '../../src/domain/task.ts';
import { reserveSlot } from '../../src/stores/slots.ts';
import type { ProviderJob } from '../../src/stores/provider-jobs.ts';
import { readTiers } from '../../src/stores/task-tiers.ts';
import type { ActivityDeps } from '../deps.ts';
import { faultOf, type NewCall, waits, providerFailures } from './attempt.ts';

// What a task's rows say that is to be done next: a call that has been decided, one that goes on, or a new one, and where.

export type OpenedTask = Pick<Task, 'taskId' | 'accountId' | 'param'> & {
  /** The providers that the catalogue named when the task was accepted. */
  readonly providers?: readonly string[] | undefined;
};

export type Opened = (
  | { readonly kind: 'resumed'; readonly job: ProviderJob }
  | { readonly kind: 'new'; readonly call: NewCall }
) & {
  /** Those of the task, oldest first. */
  readonly calls: readonly ProviderJob[];
};

/**
 * The call that an earlier attempt has made and that is not over, else the next provider that may be asked, with a place there.
 * Throws what was decided before, the reason why the task has failed, or that it has to wait for a place.
 */
export async function openJob(deps: ActivityDeps, task: OpenedTask, jobs: readonly ProviderJob[]): Promise<Opened> {
  const decided = jobs.find((job) => job.failure !== undefined)?.failure;
  // An attempt whose answer was lost had come to this end; another provider is not asked for what was decided.
  if (decided !== undefined) throw faultOf(decided);
  const calls = jobs.filter(({ isIntended }) => isIntended);
  const job = calls.find(({ outcome }) => outcome === undefined || outcome === 'success');
  if (job !== undefined) return { kind: 'resumed', job, calls };
  // A row whose call was not made is used again.
  const ordinal = jobs.find(isUnused)?.ordinal ?? (jobs.at(-1)?.ordinal ?? 0) + 1;
  return { kind: 'new', call: await nextCall(deps, task, calls, ordinal), calls };
}

/** How often a task of our own machine checks whether the operator has enabled it again. */
const switchedOffPauseMs = 5_000;

/** Throws that the task has to wait while our own machine takes no tasks. */
export async function requireOwnMachine({ switches }: ActivityDeps): Promise<void> {
  if (await switches.isDisabled('preview')) throw waits('provider disabled', switchedOffPauseMs);
}

type Tiers = CatalogueModel['tiers'];

/** Calls for a job that a task may make; each of them but the last was refused without creating a job. */
const maxCalls = 20;

async function nextCall(
  deps: ActivityDeps,
  task: OpenedTask,
  calls: readonly ProviderJob[],
  ordinal: number,
): Promise<NewCall> {
  const last = calls.at(-1);
  if (last?.outcome === 'abandoned' && deps.providers.ofJob(last)?.terms.onLostAnswer !== 'resubmit')
    throw faultOf(providerFailures.unavailable, 'a job was made after its call had been given up');
  if (calls.length >= maxCalls) throw faultOf(providerFailures.unavailable, `${maxCalls} calls made no job`);
  let pauseMs = Infinity;
  for (const tier of await candidates(deps, task, calls)) {
    let isFull = false;
    for (const entry of tier) {
      const open = deps.providers.ofEntry(entry);
      if (open === undefined) continue;
      const call = { taskId: task.taskId, ordinal, jobKey: jobKeyOf(task.taskId, entry.provider, calls), open, entry };
      if (open.provider.runs === 'here') {
        if (!(await deps.switches.isDisabled(entry.provider))) return { ...call, pool: undefined };
        pauseMs = Math.min(pauseMs, switchedOffPauseMs);
        continue;
      }
      const { pool, provider, limit } = entry;
      const { taskId, accountId } = task;
      const admission = await reserveSlot(deps.db, { taskId, ordinal, accountId, pool, provider, limit });
      if (admission.kind === 'granted') return { ...call, pool };
      isFull ||= admission.kind === 'full';
      pauseMs = Math.min(pauseMs, admission.againInMs);
    }
    // Our own limit is a queue: it does not send tasks to the next tier.
    if (isFull) break;
  }
  if (pauseMs < Infinity) throw waits('no place at any provider', pauseMs);
  throw faultOf(failureAfter(last), 'no provider is left to ask');
}

function failureAfter(last: ProviderJob | undefined): TaskFailure {
  if (last?.outcome === 'refused') return providerFailures.rejected;
  return last?.outcome === 'fail' ? providerFailures.failed : providerFailures.unavailable;
}

function isUnused({ isIntended, outcome }: ProviderJob): boolean {
  return !isIntended && outcome === undefined;
}

/** Each provider has one job of a task at most, but for one that its operator lets try again after a lost one. */
async function candidates(deps: ActivityDeps, task: OpenedTask, calls: readonly ProviderJob[]): Promise<Tiers> {
  const { taskId } = task;
  const { model, input } = task.param;
  const last = calls.at(-1);
  const isResubmitted = last?.outcome === 'abandoned';
  const spent = new Set(calls.filter(({ outcome }) => outcome !== 'not_created').map(({ provider }) => provider));
  if (isResubmitted) spent.delete(last.provider);
  const routes = routesOf({ model, tiers: await tiersOf(deps, task) }, { taskId, input, spent });
  return isResubmitted ? routes.map((tier) => tier.filter(({ provider }) => provider === last.provider)) : routes;
}

/** Today's order counts, so that an operator can move waiting tasks to another provider; a task of a removed model keeps its own. */
async function tiersOf(deps: ActivityDeps, { taskId, param, providers = [] }: OpenedTask): Promise<Tiers> {
  const known = deps.models.get(param.model)?.tiers ?? (await readTiers(deps.db, taskId));
  if (known !== undefined) return known;
  const plain = { upstreamModel: param.model, weight: 1, limit: 1, parameters: {}, rules: effectiveRules([]) };
  const entries = providers.map((provider) => ({ ...plain, provider, pool: provider }));
  return entries.filter((entry) => deps.providers.ofEntry(entry)?.provider.runs === 'here').map((entry) => [entry]);
}

/**
 * The job's name. A create that was not accepted is repeated under the same name: if it arrives late after all, both mean the same
 * job. The first provider's first job is named like the task, which operators know.
 */
export function jobKeyOf(taskId: string, provider: string, earlier: readonly ProviderJob[]): string {
  const ended = earlier.filter((job) => job.provider === provider && hadJob(job)).length;
  const isFirst = (earlier[0]?.provider ?? provider) === provider && ended === 0;
  return isFirst ? taskId : uuidv5(`${provider}/${ended}`, taskId);
}

function hadJob({ outcome }: ProviderJob): boolean {
  return outcome === 'fail' || outcome === 'abandoned';
}
