import { execFileSync } from 'node:child_process';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';

// The chart as the real helm renders it, with the sets of values in its folder `ci`.

export const chart = 'ops/helm/videogen';
export const valueSets = ['bucket', 'volume', 'trial', 'options'] as const;
export type ValueSet = (typeof valueSets)[number];
/** The oldest that the chart takes, and the newest that the schemas know. */
export const kubernetesVersions = ['1.29.0', '1.37.0'];

const envSchema = z.array(
  z.object({ name: z.string(), value: z.string().optional(), valueFrom: z.unknown().optional() }),
);
const probeSchema = z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) });
const containerSchema = z.object({
  args: z.array(z.string()),
  image: z.string(),
  env: envSchema,
  envFrom: z.unknown().optional(),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })).default([]),
  readinessProbe: probeSchema.optional(),
  livenessProbe: probeSchema.optional(),
  startupProbe: probeSchema.optional(),
  resources: z.object({ requests: z.object({ cpu: z.string(), memory: z.string() }).optional() }),
  securityContext: z.unknown(),
  volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })),
});
const podSchema = z.object({
  automountServiceAccountToken: z.boolean(),
  enableServiceLinks: z.boolean(),
  securityContext: z.record(z.string(), z.unknown()),
  terminationGracePeriodSeconds: z.number().optional(),
  initContainers: z.array(z.looseObject({ name: z.string() })).default([]),
  // Ours, then sidecars of the values.
  containers: z.tuple([containerSchema]).rest(z.looseObject({ name: z.string() })),
  volumes: z.array(z.looseObject({ name: z.string() })),
  tolerations: z.unknown().optional(),
  affinity: z.unknown().optional(),
  topologySpreadConstraints: z.unknown().optional(),
});
const workloadSchema = z.object({
  kind: z.enum(['Deployment', 'Job']),
  metadata: z.object({ name: z.string() }),
  spec: z.object({ replicas: z.number().optional(), template: z.object({ spec: podSchema }) }),
});
const objectSchema = z.looseObject({ kind: z.string(), metadata: z.looseObject({ name: z.string() }) });

export const helm = process.env['VIDEOGEN_TEST_HELM'];
export const noHelm = helm === undefined && 'VIDEOGEN_TEST_HELM names no helm here';

/** The values for a restore. */
export const maintenance = ['--set', 'maintenance=true'];

export const valuesOf = (name: ValueSet) => `${chart}/ci/${name}-values.yaml`;

export function templateArgs(name: ValueSet, more: readonly string[]): string[] {
  const version = more.includes('--kube-version') ? [] : ['--kube-version', kubernetesVersions[0] ?? ''];
  return ['template', 'shop', chart, '--namespace', 'shop', '--values', valuesOf(name), ...version, ...more];
}

export function runHelm(args: readonly string[]): string {
  return execFileSync(helm ?? '', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 180_000 });
}

/** Renderings by their arguments: tests look at one from several sides. */
const renderings = new Map<string, string>();

export function rendered(name: ValueSet, more: readonly string[] = []): string {
  const args = templateArgs(name, more);
  const found = renderings.get(args.join(' ')) ?? runHelm(args);
  renderings.set(args.join(' '), found);
  return found;
}

export function objects(name: ValueSet, more: readonly string[] = []) {
  return parseAllDocuments(rendered(name, more)).map((document) => objectSchema.parse(document.toJS()));
}

export function workloads(name: ValueSet, more: readonly string[] = []) {
  const found = objects(name, more).filter(({ kind }) => kind === 'Deployment' || kind === 'Job');
  return found.map((object) => workloadSchema.parse(object));
}
