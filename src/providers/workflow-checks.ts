import { hash } from 'node:crypto';
import { z } from 'zod';
import { messageOf } from '../platform/errors.ts';
import type { Catalogue } from '../models/catalogue/models.ts';
import type { SecretReader } from '../models/catalogue/providers.ts';
import { createSharedPoll } from '../platform/shared-poll.ts';
import type { Log } from '../platform/log.ts';
import type { OwnEndpoint } from '../outbound/guard.ts';
import { createProviderClient } from '../outbound/provider-client.ts';
import { compareWorkflow, readNodeClasses, type WorkflowFindings } from './comfy/node-classes.ts';
import type { Database } from '../platform/database/database.ts';
import { endCooldown, holdPool, listPools, listProviderSwitches } from './provider-pools.ts';

// Compares ComfyUI workflows with their servers before a task is charged for one that cannot run.

export type CheckedWorkflow = WorkflowFindings & {
  readonly provider: string;
  readonly pool: string;
  /** The file as named in the catalogue. */
  readonly workflow: string;
  /** The reason if the workflow could not be compared. */
  readonly unchecked?: string;
};

export type WorkflowCheckDeps = {
  readonly readSecret: SecretReader;
  readonly own: readonly OwnEndpoint[];
  /** Disabled providers receive no request. */
  readonly isOff: (provider: string) => boolean;
  readonly signal: AbortSignal;
};

const workflowName = z.object({ workflow: z.string() });

/** Lists the entries of tiers whose provider is a ComfyUI. A changed file has another `key`. */
function workflowsIn({ models, providers, files }: Catalogue) {
  const entries = [...models.values()].flatMap(({ tiers }) => tiers.flat());
  const found = entries.flatMap(({ provider, pool, parameters }) => {
    const settings = providers.get(provider);
    const file = workflowName.safeParse(parameters).data?.workflow;
    if (settings?.kind !== 'comfyui' || file === undefined) return [];
    const graph = z.record(z.string(), z.json()).parse(files.get(file) ?? {});
    const key = hash('sha256', JSON.stringify([pool, settings.baseUrl, file, graph]));
    return [{ provider, settings, pool, workflow: file, graph, key }];
  });
  return [...new Map(found.map((one) => [one.key, one])).values()];
}

type Workflow = ReturnType<typeof workflowsIn>[number];

/** Requests the node classes of each server once. An unavailable server is reported, and is not an error of the workflow. */
export async function checkWorkflows(
  catalogue: Catalogue,
  deps: WorkflowCheckDeps,
): Promise<readonly CheckedWorkflow[]> {
  return (await checkAll(workflowsIn(catalogue), deps)).map(({ found }) => found);
}

async function checkAll(workflows: readonly Workflow[], deps: WorkflowCheckDeps) {
  const classes = new Map<string, ReturnType<typeof classesOf>>();
  const enabled = workflows.filter(({ provider }) => !deps.isOff(provider));
  return await Promise.all(
    enabled.map(async ({ provider, settings, pool, workflow, graph, key }) => {
      const answer = classes.get(provider) ?? classesOf(settings, deps);
      classes.set(provider, answer);
      const where = { provider, pool, workflow };
      const found: CheckedWorkflow = await answer.then(
        (known) => ({ ...where, ...compareWorkflow(graph, known) }),
        (error: unknown) => ({ ...where, problems: [], warnings: [], unchecked: messageOf(error) }),
      );
      return { key, found };
    }),
  );
}

async function classesOf({ baseUrl, key }: Workflow['settings'], { readSecret, own, signal }: WorkflowCheckDeps) {
  const credentials = () => (key === undefined ? {} : { authorization: `Bearer ${readSecret(key)()}` });
  const client = createProviderClient({ baseUrl, credentials, own });
  try {
    return await readNodeClasses(client, signal);
  } finally {
    await client.close();
  }
}

const [checkEveryMs, holdMs] = [30_000, 90_000];

export type WorkflowWatch = {
  /** Compares the workflows that have not been found to fit. */
  check(): Promise<void>;
  close(): Promise<void>;
};

type WatchDeps = Pick<WorkflowCheckDeps, 'readSecret' | 'own'> & {
  readonly catalogue: () => Catalogue;
  readonly db: Database;
  readonly log: Pick<Log, 'error' | 'warn'>;
};

/**
 * Compares each workflow until it fits, at the start and when the catalogue has changed, and again while its pool cools down because
 * its server was unreachable. The pool of one that cannot run takes no task meanwhile; a server that is down only makes a warning.
 */
export function watchWorkflows({ catalogue, db, log, ...deps }: WatchDeps): WorkflowWatch {
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
    for (const { key, found } of await checkAll(open, { ...deps, isOff, signal: stopping.signal })) {
      const { provider, pool, problems, warnings, unchecked } = found;
      if (problems.length > 0) await holdPool(db, pool, provider, holdMs);
      else if (unchecked === undefined) {
        // A server that answers is reachable, and one whose workflow fits at
        // last needs no operator any more.
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
