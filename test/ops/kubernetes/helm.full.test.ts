import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { readConfig, settingDefaults } from '../../../src/run/config/config.ts';
import { queueNames } from '../../../src/temporal/connection/queue-names-and-workflow-ids.ts';
import { endpoints } from '../../../src/api/endpoints.ts';
import {
  chart,
  helm,
  kubernetesVersions,
  maintenance,
  noHelm,
  objects,
  rendered,
  runHelm,
  templateArgs,
  valueSets,
  valuesOf,
  workloads,
} from './chart.ts';
import { writeKubernetesSchemas } from './kubernetes-schemas.ts';

const kubeconform = process.env['VIDEOGEN_TEST_KUBECONFORM'];
const schemas = process.env['VIDEOGEN_TEST_KUBERNETES_SCHEMAS'];
const noKubeconform =
  noHelm || ((kubeconform === undefined || schemas === undefined) && 'there is no kubeconform with schemas here');

test('without further values one group or another serves every queue', () => {
  const { workers } = z
    .object({ workers: z.record(z.string(), z.object({ queues: z.array(z.string()) })) })
    .parse(parse(readFileSync(`${chart}/values.yaml`, 'utf8')));
  assert.deepEqual(
    Object.values(workers)
      .flatMap(({ queues }) => queues)
      .toSorted(),
    queueNames.toSorted(),
  );
});

describe('the chart', { skip: noHelm }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'videogen-helm-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('helm lint finds nothing', () => {
    for (const name of valueSets) runHelm(['lint', '--strict', chart, '--values', valuesOf(name)]);
    runHelm(['lint', chart]);
  });

  test('its objects are valid in Kubernetes, and a misspelt field would not be', { skip: noKubeconform }, () => {
    for (const version of kubernetesVersions) {
      const location = writeKubernetesSchemas(schemas ?? '', version, join(folder, 'schemas'));
      for (const name of valueSets) {
        const text = rendered(name, ['--kube-version', version]);
        const stopped = rendered(name, ['--kube-version', version, ...maintenance]);
        for (const each of [text, stopped])
          assert.deepEqual(invalidIn(each, version, location), [], `${name}, ${version}`);
        const misspelt = text.replace('terminationGracePeriodSeconds', 'terminationGracePeriodSecond');
        assert.notDeepEqual(invalidIn(misspelt, version, location), []);
      }
    }
  });

  test('every container gets settings that the program accepts, and none that it does not know', () => {
    const secretFiles = { DATABASE_URL: 'postgres://videogen@postgres/videogen', VIDEOGEN_SECRET: 'x'.repeat(32) };
    for (const name of valueSets) {
      for (const { metadata, spec } of workloads(name)) {
        const { env } = spec.template.spec.containers[0];
        const unknown = env
          .filter(({ value }) => value !== undefined)
          .map((entry) => entry.name.replace(/_FILE$/, ''))
          .filter((variable) => !settingDefaults.has(variable) && !/^(TEMPORAL_|TZ$)/.test(variable));
        assert.deepEqual(unknown, [], metadata.name);
        const plain = env.filter((entry) => !/_FILE$|^VIDEOGEN_MODELS$/.test(entry.name));
        const config = readConfig({ ...Object.fromEntries(plain.map((one) => [one.name, one.value])), ...secretFiles });
        assert.deepEqual([config.host, config.metricsPort], ['0.0.0.0', 9464]);
        assert.ok(config.temporal?.connection.address?.includes(':7233'));
        assert.ok(config.resultStore !== undefined && config.publicUrl !== undefined);
      }
    }
  });

  test('the catalogue of the values is one that the program accepts', () => {
    const { data } = z
      .object({ data: z.record(z.string(), z.string()) })
      .parse(objects('bucket').find(({ kind }) => kind === 'ConfigMap'));
    const file = join(folder, 'catalogue.yaml');
    writeFileSync(file, data['catalogue.yaml'] ?? '');
    const variables = { DATABASE_URL: 'postgres://a@b/c', VIDEOGEN_SECRET: 'x'.repeat(32), VIDEOGEN_MODELS: file };
    assert.ok(readConfig(variables).catalogue.models.size > 0);
  });

  test('probes ask for routes that exist, and each container runs a program that does', () => {
    for (const { metadata, spec } of workloads('bucket')) {
      const { args, ports, ...container } = spec.template.spec.containers[0];
      assert.ok(existsSync(args[1]?.replace(/^dist\/(.*)\.js$/, '$1.ts') ?? ''), metadata.name);
      const probes = [container.readinessProbe, container.livenessProbe, container.startupProbe];
      for (const probe of probes.filter((one) => one !== undefined)) {
        assert.ok(ports.some(({ name }) => name === probe.httpGet.port));
        // The metrics port has /healthz, /readyz and /metrics alone.
        const routes =
          probe.httpGet.port === 'metrics'
            ? ['GET /healthz', 'GET /readyz']
            : endpoints.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
        assert.ok(routes.includes(`GET ${probe.httpGet.path}`), `${metadata.name}: ${probe.httpGet.path}`);
      }
    }
  });

  test('pods keep no right that they do not need, no token, and no address of other services', () => {
    for (const { metadata, spec } of valueSets.flatMap((name) => workloads(name))) {
      const { securityContext: pod, containers, ...rest } = spec.template.spec;
      assert.deepEqual([rest.automountServiceAccountToken, rest.enableServiceLinks], [false, false], metadata.name);
      assert.deepEqual([pod['runAsNonRoot'], pod['seccompProfile']], [true, { type: 'RuntimeDefault' }]);
      assert.deepEqual(containers[0].securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  });

  test('a pod has more time to stop than the delay and the 45 s that draining may take', () => {
    for (const delay of [0, 10, 60]) {
      for (const { kind, spec } of workloads('bucket', ['--set', `shutdownDelaySeconds=${delay}`])) {
        if (kind === 'Job') continue;
        const { containers, terminationGracePeriodSeconds: grace = 0 } = spec.template.spec;
        assert.equal(containers[0].env.find(({ name }) => name === 'SHUTDOWN_DELAY')?.value, `${delay}s`);
        assert.ok(grace > delay + 45);
      }
    }
  });

  test('no secret stands in an object unless the values ask for it', () => {
    for (const name of ['bucket', 'volume'] as const)
      assert.ok(!objects(name).some(({ kind }) => kind === 'Secret'), name);
    const secrets = objects('trial').filter(({ kind }) => kind === 'Secret');
    assert.deepEqual(
      secrets.map(({ metadata }) => metadata.name),
      ['shop-videogen-secrets', 'shop-videogen-migrate'],
    );
    assert.doesNotMatch(JSON.stringify(workloads('trial')), /0123456789abcdef/);
  });

  test('values that would install and then not work are rejected with a reason', () => {
    const refusals: [string, RegExp][] = [
      ['results.type=volume,results.volume.accessMode=ReadWriteOnce', /API and workers share one folder/],
      ['workers.tasks=null', /no group serves the queue tasks/],
      ['settings.LOG_LEVLE=debug', /additional properties 'LOG_LEVLE' not allowed/],
      ['settings.STRIPE_SECRET_KEY=sk_live_1', /additional properties 'STRIPE_SECRET_KEY' not allowed/],
      ['api.settings.STRIPE_WEBHOOK_SECRET=whsec_1', /additional properties 'STRIPE_WEBHOOK_SECRET' not allowed/],
      ['publicUrl=', /publicUrl: set it/],
      ['secrets.existingSecret=', /secrets.existingSecret: name a Secret/],
      ['secrets.create=true', /secrets.values: database-url is missing/],
      ['image.repository=', /image.repository: set it/],
      ['settings.TEMPORAL_ADDRESS=', /TEMPORAL_ADDRESS: set it/],
      ['results.s3.bucket=', /results.s3.bucket: set it/],
      ['metrics.prometheusRule.rules=', /--set-file metrics.prometheusRule.rules/],
    ];
    for (const [change, reason] of refusals) {
      const { status, stderr } = spawnSync(helm ?? '', templateArgs('bucket', ['--set', change]), { encoding: 'utf8' });
      assert.notEqual(status, 0, change);
      assert.match(stderr, reason);
    }
  });

  test('the alerts of ops/prometheus become a PrometheusRule, each of them', () => {
    const rules = 'ops/prometheus/alerts.yml';
    const rule = objects('bucket', ['--set-file', `metrics.prometheusRule.rules=${rules}`]).find(
      ({ kind }) => kind === 'PrometheusRule',
    );
    assert.deepEqual(rule?.['spec'], parse(readFileSync(rules, 'utf8')));
  });

  test("the metrics of Temporal's SDK are scraped where they are served, which is in workers", () => {
    for (const { kind, metadata, spec } of workloads('bucket')) {
      const { ports } = spec.template.spec.containers[0];
      const served = ports.filter(({ name }) => name === 'sdk-metrics').map(({ containerPort }) => containerPort);
      assert.deepEqual(
        served,
        kind === 'Deployment' && metadata.name.includes('-worker-') ? [9465] : [],
        metadata.name,
      );
    }
    const reached = (more: readonly string[]) =>
      objects('bucket', more)
        .filter((object) => JSON.stringify(object).includes('sdk-metrics') && object.kind !== 'Deployment')
        .map(({ kind }) => kind);
    assert.deepEqual(reached([]).toSorted(), ['NetworkPolicy', 'Service', 'ServiceMonitor']);
    assert.deepEqual(reached(['--set', 'settings.TEMPORAL_METRICS_PORT=']), []);
    const ofGroup = [
      '--set-string',
      'settings.TEMPORAL_METRICS_PORT=,workers.tasks.settings.TEMPORAL_METRICS_PORT=9470',
    ];
    assert.equal(reached(ofGroup).length, 3);
  });

  test('in maintenance nothing uses the database but a pod for commands, which has the environment of the API', () => {
    for (const name of valueSets) {
      const before = workloads(name);
      const found = workloads(name, maintenance);
      assert.deepEqual(
        found.map(({ kind, metadata, spec }) => `${kind} ${metadata.name} ${spec.replicas}`).toSorted(),
        before
          .flatMap(({ kind, metadata }) => (kind === 'Deployment' ? [`${kind} ${metadata.name} 0`] : []))
          .concat('Deployment shop-videogen-maintenance 1')
          .toSorted(),
      );
      const podOf = (suffix: string, of: typeof found) =>
        of.find(({ metadata }) => metadata.name === `shop-videogen-${suffix}`)?.spec.template.spec;
      const [pod, api] = [podOf('maintenance', found), podOf('api', before)];
      assert.ok(pod !== undefined && api !== undefined);
      const { env, volumeMounts, securityContext } = api.containers[0];
      assert.deepEqual(
        [pod.containers[0].env, pod.containers[0].volumeMounts, pod.volumes],
        [env, volumeMounts, api.volumes],
      );
      assert.deepEqual(
        [pod.securityContext, pod.containers[0].securityContext],
        [api.securityContext, securityContext],
      );
    }
  });

  function invalidIn(text: string, version: string, location: string): unknown[] {
    const args = ['-strict', '-output', 'json', '-kubernetes-version', version, '-schema-location', location];
    // Objects of the Prometheus operator and of the Gateway API, whose schemas Kubernetes does not have.
    const skip = ['-skip', 'ServiceMonitor,PrometheusRule,HTTPRoute'];
    const { stdout } = spawnSync(kubeconform ?? '', [...args, ...skip, '-'], { input: text, encoding: 'utf8' });
    return z.object({ resources: z.array(z.unknown()).default([]) }).parse(JSON.parse(stdout)).resources;
  }
});
