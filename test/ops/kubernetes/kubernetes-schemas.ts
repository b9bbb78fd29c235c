import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/** The kinds that the chart makes, in the spelling of the schemas' files. */
const kinds = ['deployment-apps-v1', 'service-v1', 'job-batch-v1', 'configmap-v1', 'secret-v1', 'serviceaccount-v1']
  .concat(['persistentvolumeclaim-v1', 'networkpolicy-networking-v1', 'ingress-networking-v1'])
  .concat(['poddisruptionbudget-policy-v1', 'pod-v1', 'horizontalpodautoscaler-autoscaling-v2']);

const definitionsSchema = z.object({ $defs: z.record(z.string(), z.unknown()) });

/**
 * Writes Kubernetes' schemas of one version as kubeconform reads them, each with all that it refers to, and answers the folder.
 * `source` has them as the Python package kubernetes-validate brings them, with references into one common file.
 */
export function writeKubernetesSchemas(source: string, version: string, target: string): string {
  const folder = join(source, `v${version}-local-strict`);
  const { $defs } = definitionsSchema.parse(JSON.parse(readFileSync(join(folder, '_definitions.json'), 'utf8')));
  const written = join(target, `v${version}-standalone-strict`);
  mkdirSync(written, { recursive: true });
  for (const kind of kinds) {
    const definitions: Record<string, unknown> = {};
    const resolve = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(resolve);
      if (value === null || typeof value !== 'object') return value;
      return Object.fromEntries(
        Object.entries(value).map(([key, inner]) => [key, isRef(key, inner) ?? resolve(inner)]),
      );
    };
    const isRef = (key: string, inner: unknown): string | undefined => {
      if (key !== '$ref' || typeof inner !== 'string') return undefined;
      const name = inner.split('/').at(-1) ?? '';
      if (!(name in definitions)) {
        // Before the definition is read, which may refer to itself.
        definitions[name] = {};
        definitions[name] = resolve($defs[name]);
      }
      return `#/definitions/${name}`;
    };
    const root = z
      .record(z.string(), z.unknown())
      .parse(JSON.parse(readFileSync(join(folder, `${kind}.json`), 'utf8')));
    const entries = Object.fromEntries(Object.entries(root).map(([key, value]) => [key, resolve(value)]));
    writeFileSync(join(written, `${kind}.json`), JSON.stringify({ ...entries, definitions }));
  }
  return target;
}
