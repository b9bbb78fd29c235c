import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { z } from 'zod';
import {
  helm,
  kubernetesVersions,
  maintenance,
  noHelm,
  objects,
  type ValueSet,
  valueSets,
  valuesOf,
  workloads,
  chart,
} from './chart.ts';
import { type FakeKubernetes, startFakeKubernetes } from './fake-kubernetes.ts';

const hookSchema = z.object({
  kind: z.string(),
  metadata: z.object({ name: z.string(), annotations: z.record(z.string(), z.string()) }),
});
const namedVolume = z.looseObject({ name: z.string() });

describe('before an installation or upgrade', { skip: noHelm }, () => {
  const jobOf = (name: ValueSet) => {
    const job = workloads(name).find(({ kind }) => kind === 'Job')?.spec.template.spec ?? assert.fail('no Job');
    return { pod: job, container: job.containers[0], volumes: job.volumes.map((volume) => namedVolume.parse(volume)) };
  };

  test('the Job reads the settings and the new catalogue as every process does, and needs no key of the bucket', () => {
    for (const name of valueSets) {
      const { container, volumes } = jobOf(name);
      const api = workloads(name).find(({ metadata }) => metadata.name.endsWith('-api'))?.spec.template.spec;
      const known = (api?.containers[0].env ?? []).filter(({ valueFrom }) => valueFrom === undefined);
      // The settings of the API alone aside.
      assert.deepEqual(
        container.env.filter(({ name: variable }) => variable !== 'TZ'),
        known.filter(({ name: variable }) => variable !== 'TZ'),
        name,
      );
      assert.doesNotMatch(JSON.stringify([container, volumes]), /bucket-key|minio-key|AWS_SECRET/);
    }
    assert.deepEqual(
      jobOf('bucket').volumes.find(({ name }) => name === 'catalogue'),
      { name: 'catalogue', configMap: { name: 'shop-videogen-migrate' } },
    );
    assert.deepEqual(
      jobOf('volume').volumes.find(({ name }) => name === 'catalogue'),
      { name: 'catalogue', configMap: { name: 'videogen-catalogue' } },
    );
  });

  test('what the Job needs is a copy of what the release gets, and everything is deleted in each outcome', () => {
    for (const name of valueSets) {
      const hooks = objects(name).flatMap((object) => {
        const { success, data } = hookSchema.safeParse(object);
        return success && data.metadata.annotations['helm.sh/hook'] === 'pre-install,pre-upgrade' ? [data] : [];
      });
      for (const { metadata } of hooks)
        assert.equal(
          metadata.annotations['helm.sh/hook-delete-policy'],
          'before-hook-creation,hook-succeeded,hook-failed',
        );
      const job = hooks.find(({ kind }) => kind === 'Job');
      assert.equal(job?.metadata.annotations['helm.sh/hook-output-log-policy'], 'hook-failed');
    }
    const contentOf = (name: ValueSet, kind: string, object: string) => {
      const found = objects(name).find((one) => one.kind === kind && one.metadata.name === object);
      return found?.['data'] ?? found?.['stringData'] ?? assert.fail(object);
    };
    assert.deepEqual(
      contentOf('bucket', 'ConfigMap', 'shop-videogen-migrate'),
      contentOf('bucket', 'ConfigMap', 'shop-videogen-catalogue'),
    );
    assert.deepEqual(
      contentOf('trial', 'Secret', 'shop-videogen-migrate'),
      contentOf('trial', 'Secret', 'shop-videogen-secrets'),
    );
    for (const name of valueSets)
      assert.ok(!objects(name, maintenance).some(({ metadata }) => metadata.name === 'shop-videogen-migrate'));
  });

  test('the requests that install.md names are those of the defaults, and the Job asks for less than any other pod', () => {
    const defaults = ['workers.generation.replicas=1', 'workers.generation-remote.replicas=2'];
    const found = workloads('bucket', ['--set', defaults.join(',')]);
    const requestsOf = ({ spec }: (typeof found)[number]) => {
      const { cpu = '0', memory = '0' } = spec.template.spec.containers[0].resources.requests ?? {};
      return { cores: coresOf(cpu), mebibytes: mebibytesOf(memory) };
    };
    const deployments = found.filter(({ kind }) => kind === 'Deployment');
    const sum = (of: 'cores' | 'mebibytes') =>
      deployments.reduce((total, one) => total + requestsOf(one)[of] * (one.spec.replicas ?? 0), 0);
    const page = readFileSync('docs/operations/install.md', 'utf8');
    const named = /its defaults it requests ([\d.]+) cores and ([\d.]+) GiB/.exec(page);
    assert.deepEqual([Number(named?.[1]), Number(named?.[2])], [sum('cores'), sum('mebibytes') / 1024]);
    const job = requestsOf(found.find(({ kind }) => kind === 'Job') ?? assert.fail('no Job'));
    for (const one of deployments.map(requestsOf)) assert.ok(job.cores < one.cores && job.mebibytes < one.mebibytes);
  });
});

function coresOf(quantity: string): number {
  return quantity.endsWith('m') ? Number.parseInt(quantity, 10) / 1000 : Number(quantity);
}

function mebibytesOf(quantity: string): number {
  const [, number = '', unit = ''] = /^(\d+)(Mi|Gi)$/.exec(quantity) ?? assert.fail(quantity);
  return Number(number) * (unit === 'Gi' ? 1024 : 1);
}

describe('in a cluster', { skip: noHelm }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'videogen-cluster-'));
  const kubeconfig = join(folder, 'kubeconfig');
  let cluster: FakeKubernetes;
  before(async () => {
    cluster = await startFakeKubernetes(kubeconfig);
  });
  after(async () => {
    await cluster.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const path = (kind: 'secrets' | 'configmaps', name: string) => `/api/v1/namespaces/shop/${kind}/${name}`;
  const secret = (name: string, ...keys: string[]) => {
    const metadata = { name, namespace: 'shop' };
    const data = Object.fromEntries(keys.map((key) => [key, 'eA==']));
    cluster.objects.set(path('secrets', name), { apiVersion: 'v1', kind: 'Secret', metadata, data });
  };
  const configMap = (name: string, key: string) => {
    const metadata = { name, namespace: 'shop' };
    cluster.objects.set(path('configmaps', name), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      data: { [key]: 'x' },
    });
  };

  /** Renders as an installation does, which looks objects up; answers the reason of a refusal. */
  async function refusal(name: ValueSet): Promise<string> {
    const args = ['template', 'shop', chart, '--namespace', 'shop', '--values', valuesOf(name), '--dry-run=server'];
    const version = ['--kube-version', kubernetesVersions[0] ?? ''];
    return promisify(execFile)(helm ?? '', [...args, ...version, '--kubeconfig', kubeconfig]).then(
      () => '',
      (error: unknown) => z.object({ stderr: z.string() }).parse(error).stderr,
    );
  }

  test('values that name a Secret, a key or a ConfigMap that is not there are rejected by its name', async () => {
    configMap('kube-root-ca.crt', 'ca.crt');
    assert.match(
      await refusal('options'),
      /secrets\.existingSecret: the namespace shop has no Secret videogen-secrets/,
    );
    secret('videogen-secrets', 'DATABASE_URL');
    assert.match(
      await refusal('options'),
      /secrets\.existingSecret: the Secret videogen-secrets has no key VIDEOGEN_SECRET/,
    );
    secret('videogen-secrets', 'DATABASE_URL', 'VIDEOGEN_SECRET');
    assert.match(await refusal('options'), /results\.s3\.existingSecret: the namespace shop has no Secret bucket-key/);
    secret('bucket-key', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY');
    assert.equal(await refusal('options'), '');

    secret('minio-key', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY');
    assert.match(await refusal('volume'), /no ConfigMap videogen-catalogue with the key catalogue\.yaml/);
    configMap('videogen-catalogue', 'catalogue.yaml');
    assert.equal(await refusal('volume'), '');

    secret(
      'videogen-secrets',
      'database-url',
      'videogen-secret',
      'temporal-api-key',
      'stripe-secret-key',
      'stripe-webhook-secret',
    );
    assert.match(await refusal('bucket'), /catalogue\.existingSecret: the namespace shop has no Secret provider-keys/);
    assert.equal(await refusal('trial'), '');
  });

  test('where nothing can be looked up, nothing is rejected for it', async () => {
    cluster.objects.clear();
    assert.equal(await refusal('options'), '');
  });
});
