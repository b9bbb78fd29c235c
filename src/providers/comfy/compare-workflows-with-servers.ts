import { hash } from 'node:crypto';
import { z } from 'zod';
import { messageOf } from '../../platform/setup-errors-and-error-messages.ts';
import type { Catalogue } from '../../catalogue/file/catalogue-schema-and-types.ts';
import type { SecretReader } from '../../catalogue/file/provider-schema.ts';
import type { OwnEndpoint } from '../../platform/outbound/guard/guard.ts';
import { createProviderClient } from '../../platform/outbound/provider-client.ts';
import { compareWorkflow, readNodeClasses, type WorkflowFindings } from './read-and-compare-node-classes.ts';

// Compares ComfyUI workflows with their servers before a task is charged for one that cannot run.

export type WorkflowCheckResult = WorkflowFindings & {
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
export function workflowsIn({ models, providers, files }: Catalogue) {
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
export async function compareWorkflowsWithServers(
  catalogue: Catalogue,
  deps: WorkflowCheckDeps,
): Promise<readonly WorkflowCheckResult[]> {
  return (await compareGivenWorkflows(workflowsIn(catalogue), deps)).map(({ found }) => found);
}

/** Compares each workflow with the node classes of its server; `key` is that of the workflow. */
export async function compareGivenWorkflows(workflows: readonly Workflow[], deps: WorkflowCheckDeps) {
  const classes = new Map<string, ReturnType<typeof classesOf>>();
  const enabled = workflows.filter(({ provider }) => !deps.isOff(provider));
  return await Promise.all(
    enabled.map(async ({ provider, settings, pool, workflow, graph, key }) => {
      const answer = classes.get(provider) ?? classesOf(settings, deps);
      classes.set(provider, answer);
      const where = { provider, pool, workflow };
      const found: WorkflowCheckResult = await answer.then(
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
