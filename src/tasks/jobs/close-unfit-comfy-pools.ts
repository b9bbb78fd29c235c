import type { Catalogue } from '../../catalogue/file/catalogue-schema-and-types.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log/log.ts';
import { createSharedPoll } from '../../platform/timing/shared-poll.ts';
import {
  compareGivenWorkflows,
  type WorkflowCheckDeps,
  workflowsIn,
} from '../../providers/comfy/compare-workflows-with-servers.ts';
import { endCooldown, holdPoolForOperator, listPools, listProviderSwitches } from './provider-pools-and-switches.ts';

// Closes the pools of ComfyUI workflows that their servers cannot run.

const [checkEveryMs, holdMs] = [30_000, 90_000];

type WatchDeps = Pick<WorkflowCheckDeps, 'readSecret' | 'own'> & {
  readonly catalogue: () => Catalogue;
  readonly db: Database;
  readonly log: Pick<Log, 'error' | 'warn'>;
};

/**
 * Compares each workflow until it fits, at the start and when the catalogue has changed, and again while its pool cools down because
 * its server was unreachable. The pool of one that cannot run takes no task meanwhile; a server that is down only makes a warning.
 */
export function watchComfyGraphs({ catalogue, db, log, ...deps }: WatchDeps) {
  const fitting = new Set<string>();
  const logged = new Map<string, string>();
  const stopping = new AbortController();
  const compareAll = async () => {
    if (stopping.signal.aborted) return;
    const workflows = workflowsIn(catalogue());
    if (workflows.length === 0) return;
    const unreachable = await listUnreachable(db);
    const open = workflows.filter(({ key, pool }) => !fitting.has(key) || unreachable.has(pool));
    if (open.length === 0) return;
    const switches = await listProviderSwitches(db);
    const isOff = (name: string) => switches.some(({ provider, state }) => provider === name && state === 'off');
    for (const { key, found } of await compareGivenWorkflows(open, { ...deps, isOff, signal: stopping.signal })) {
      const { provider, pool, problems, warnings, unchecked } = found;
      if (problems.length > 0) await holdPoolForOperator(db, pool, provider, holdMs);
      else if (unchecked === undefined) {
        // A server that answers is reachable, and one whose workflow fits at last needs no operator any more.
        const reasons = fitting.has(key) ? (['unreachable'] as const) : (['unreachable', 'operator'] as const);
        await endCooldown(db, pool, reasons);
        fitting.add(key);
      }
      const isNew = logged.get(key) !== JSON.stringify(found);
      logged.set(key, JSON.stringify(found));
      if (!isNew || stopping.signal.aborted) continue;
      if (problems.length > 0)
        log.error(found, 'ComfyUI cannot run this workflow; its pool takes no tasks until it is corrected');
      else if (unchecked !== undefined) log.warn(found, 'workflow not checked: ComfyUI did not list its nodes');
      else if (warnings.length > 0) log.warn(found, 'workflow may not fit ComfyUI');
    }
  };
  const onError = (error: unknown) => {
    if (!stopping.signal.aborted) log.warn({ err: error }, 'workflows not compared with ComfyUI');
  };
  const checks = createSharedPoll({ everyMs: checkEveryMs, poll: compareAll, onError });
  const stop = checks.watch('this worker');
  void checks.run().catch(() => {});
  return {
    /** Compares the workflows that have not been found to fit. */
    check: checks.run,
    close: async () => {
      stop();
      stopping.abort();
      await checks.run().catch(() => {});
    },
  };
}

async function listUnreachable(db: Database): Promise<ReadonlySet<string>> {
  const pools = await listPools(db);
  return new Set(pools.filter(({ coolingReason }) => coolingReason === 'unreachable').map(({ pool }) => pool));
}
