import { readFileSync } from 'node:fs';
import { collectDefaultMetrics, Gauge } from 'prom-client';
import { z } from 'zod';
import type { DescribedMetric } from './metric-declaration.ts';
import type { Metrics } from './create-metrics-registry.ts';

export const buildInfoMetric = {
  name: 'videogen_build_info',
  help: 'Always 1; revision names the sources that this build was made from',
  labels: ['version', 'node', 'revision'],
  process: 'both',
  actWhen: 'several revisions run for 2 hours ([runbook](runbooks.md#videogenbuildsmixed))',
} as const satisfies DescribedMetric;

/** Exports the build of this process, and Node's own metrics of memory, processor time and the event loop. Call it once. */
export function exportProcessMetrics({ registry }: Metrics): void {
  collectDefaultMetrics({ register: registry });
  // These are sums of other gauges, with the names of counters.
  for (const of of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${of}_total`);
  const { name, help, labels } = buildInfoMetric;
  const info = new Gauge({ name, help, labelNames: labels, registers: [registry] });
  info.set({ ...readBuild(), node: process.versions.node }, 1);
}

export function buildVersion(): string {
  return readBuild().version;
}

/**
 * Reads the version and a hash of the sources, which the build leaves in dist.
 * The paths start at dist/src/run/metrics, the folder of the compiled file.
 */
function readBuild(): { readonly version: string; readonly revision: string } {
  const { version = 'unknown' } = readJson('../../../../package.json');
  const { state = 'unknown' } = readJson('../../../build.json');
  return { version, revision: state.slice(0, 12) };
}

const build = z.object({ version: z.string().optional(), state: z.string().optional() });

function readJson(path: string): z.output<typeof build> {
  try {
    return build.parse(JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')));
  } catch {
    return {};
  }
}
