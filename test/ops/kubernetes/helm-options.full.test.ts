import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { maintenance, noHelm, objects, workloads } from './chart.ts';

const named = (name: string, more: readonly string[] = []) => {
  const found = workloads('options', more).find(({ metadata }) => metadata.name === `shop-videogen-${name}`);
  return found ?? assert.fail(name);
};
const podOf = (name: string, more?: readonly string[]) => named(name, more).spec.template.spec;
const ofKind = (kind: string, more: readonly string[] = []) =>
  objects('options', more).filter((object) => object.kind === kind);
const specSchema = z.object({ spec: z.record(z.string(), z.unknown()) });

describe('the options of the chart', { skip: noHelm }, () => {
  test('an autoscaler sets the number of pods alone, and stops nothing in maintenance', () => {
    const scaled = ofKind('HorizontalPodAutoscaler').map((object) => specSchema.parse(object).spec);
    assert.deepEqual(
      scaled.map(({ scaleTargetRef, minReplicas, maxReplicas, behavior }) => ({
        scaleTargetRef,
        minReplicas,
        maxReplicas,
        behavior,
      })),
      [
        {
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'shop-videogen-api' },
          minReplicas: 3,
          maxReplicas: 6,
          behavior: { scaleDown: { stabilizationWindowSeconds: 600 } },
        },
      ],
    );
    const replicas = ['api', 'worker-generation-remote', 'worker-tasks', 'worker-generation', 'worker-old'].map(
      (name) => named(name).spec.replicas,
    );
    assert.deepEqual(replicas, [undefined, undefined, 2, 0, 2]);
    assert.deepEqual(ofKind('HorizontalPodAutoscaler', maintenance), []);
    assert.equal(named('api', maintenance).spec.replicas, 0);
    assert.equal(named('worker-generation-remote', maintenance).spec.replicas, 0);
  });

  test('pods and the migration are placed as their own values say, else as those of all', () => {
    const everywhere = [{ key: 'dedicated', value: 'video', effect: 'NoSchedule' }];
    assert.deepEqual(podOf('api').tolerations, everywhere);
    assert.deepEqual(podOf('worker-tasks').tolerations, everywhere);
    assert.deepEqual(podOf('migrate').tolerations, [{ key: 'jobs', operator: 'Exists' }]);
    assert.deepEqual(podOf('migrate').affinity, podOf('api').affinity);
    assert.ok(podOf('migrate').affinity !== undefined);
    const selector = (component: string) => ({
      matchLabels: {
        'app.kubernetes.io/component': component,
        'app.kubernetes.io/instance': 'shop',
        'app.kubernetes.io/name': 'videogen',
      },
    });
    assert.deepEqual(podOf('api').topologySpreadConstraints, [
      {
        maxSkew: 1,
        topologyKey: 'topology.kubernetes.io/zone',
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: selector('api'),
      },
    ]);
    assert.deepEqual(podOf('worker-tasks').topologySpreadConstraints, [
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: selector('worker-tasks'),
      },
    ]);
  });

  test('clients reach the API over a port of the nodes, an Ingress or a Gateway', () => {
    const [service] = ofKind('Service').map((object) => specSchema.parse(object).spec);
    assert.deepEqual(
      [service?.['type'], service?.['ports']],
      ['NodePort', [{ name: 'http', port: 80, targetPort: 'http', nodePort: 30080 }]],
    );
    const [route] = ofKind('HTTPRoute').map((object) => specSchema.parse(object).spec);
    assert.deepEqual(route, {
      parentRefs: [{ name: 'public', namespace: 'gateways' }],
      hostnames: ['video.example.com'],
      rules: [{ backendRefs: [{ name: 'shop-videogen-api', port: 80 }], timeouts: { request: '90s' } }],
    });
    const [ingress] = objects('bucket', ['--set', 'ingress.pathType=ImplementationSpecific']).filter(
      ({ kind }) => kind === 'Ingress',
    );
    assert.match(JSON.stringify(ingress), /"pathType":"ImplementationSpecific"/);
  });

  test('containers and variables of the values are added where they belong', () => {
    const names = (pod: ReturnType<typeof podOf>) => [
      pod.initContainers.map(({ name }) => name),
      pod.containers.slice(1).map((one) => z.object({ name: z.string() }).parse(one).name),
    ];
    assert.deepEqual(names(podOf('api')), [[], ['log-shipper']]);
    assert.deepEqual(names(podOf('worker-tasks')), [['wait'], []]);
    assert.deepEqual(names(podOf('worker-old')), [[], []]);
    for (const { metadata, spec } of workloads('options'))
      assert.deepEqual(
        spec.template.spec.containers[0].envFrom,
        [{ configMapRef: { name: 'proxies', optional: true } }],
        metadata.name,
      );
  });

  test('workers of an older version run beside the new ones with their own image, and share the API', () => {
    const imageAndVersion = (name: string) => {
      const { image, env } = podOf(name).containers[0];
      return [image, env.find((entry) => entry.name === 'WORKER_VERSION')?.value];
    };
    assert.deepEqual(imageAndVersion('worker-tasks'), ['registry.example.com/videogen:0.2.0', '0.2.0']);
    assert.deepEqual(imageAndVersion('worker-old'), ['registry.example.com/videogen:0.1.0', undefined]);
    const digest = `sha256:${'1'.repeat(64)}`;
    const { image } = podOf('worker-old', ['--set', `image.digest=${digest}`]).containers[0];
    assert.equal(image, 'registry.example.com/videogen:0.1.0');
    assert.equal(
      podOf('worker-old', ['--set', `workers.old.image.digest=${digest}`]).containers[0].image,
      `registry.example.com/videogen@${digest}`,
    );
    assert.equal(ofKind('Service').length, 1);
  });

  test('every object has the name and the labels of the values, which select no pods', () => {
    const all = objects('options', ['--set', 'fullnameOverride=video']);
    for (const { kind, metadata } of all) {
      assert.match(metadata.name, /^video(-|$)/, kind);
      assert.match(JSON.stringify(metadata), /"team":"video"/, metadata.name);
    }
    for (const object of all.filter(({ kind }) => kind === 'Deployment'))
      assert.doesNotMatch(
        JSON.stringify(z.object({ spec: z.object({ selector: z.unknown() }) }).parse(object).spec.selector),
        /team/,
      );
  });

  test('helm test runs doctor with the environment of the API', () => {
    const [pod] = ofKind('Pod').map((object) =>
      z
        .object({
          metadata: z.object({ annotations: z.record(z.string(), z.string()) }),
          spec: z.object({ containers: z.tuple([z.object({ args: z.array(z.string()), env: z.unknown() })]) }),
        })
        .parse(object),
    );
    assert.equal(pod?.metadata.annotations['helm.sh/hook'], 'test');
    const [{ args, env }] = pod.spec.containers;
    assert.deepEqual(args, ['node', 'dist/src/run/cli/cli.js', 'doctor']);
    assert.deepEqual(env, podOf('api').containers[0].env);
  });

  test('the dashboard of ops/grafana becomes a ConfigMap with the label that Grafana looks for', () => {
    const file = 'ops/grafana/videogen.json';
    const [map] = ofKind('ConfigMap', ['--set-file', `metrics.dashboard.json=${file}`]).map((object) =>
      z
        .object({
          metadata: z.object({ labels: z.record(z.string(), z.string()) }),
          data: z.object({ 'videogen.json': z.string() }),
        })
        .parse(object),
    );
    assert.equal(map?.metadata.labels['grafana_dashboard'], '1');
    assert.deepEqual(JSON.parse(map.data['videogen.json']), JSON.parse(readFileSync(file, 'utf8')));
  });
});
