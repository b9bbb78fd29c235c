import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { reserveFreePort } from '../../../src/run/embedded/local-ports.ts';
import type { Api } from '../../support/service/call-api.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { testTemporalCli } from '../../support/processes/find-temporal-cli.ts';
import { commandsBeside, createShell, type Shell } from '../../support/documents/operations-commands.ts';
import { skipsWithoutS3, startS3Server } from '../../support/servers/s3-server.ts';
import { startTcpProxy } from '../../support/proxies/tcp-proxy.ts';
import { helm } from './chart.ts';
import { saveImage, skipWithoutDocker } from '../compose/docker.ts';
import { follow } from '../compose/documented-steps.ts';
import { type Kubernetes, openKubernetes, skipWithoutKubernetes } from './kubernetes.ts';

export const skipWithoutCluster = skipWithoutKubernetes || skipsWithoutS3 || skipWithoutDocker;
const nodePort = 30080;
const bucketPort = 19_000;
const repository = 'localhost/videogen';
/** The tags of the image: both are of this checkout. */
export const tags = { first: 'test', next: 'next' } as const;

/** An installation by the chart, beside PostgreSQL, Temporal and a bucket with the names that install.md uses for them. */
export type ClusterStage = {
  readonly database: TestDatabase;
  readonly api: Api;
  /** The values of install.md for this cluster. */
  readonly valuesFile: string;
  /** Runs a line of a page; one that fails is a failure of the test. */
  run(line: string): Promise<string>;
  /** Ends the cluster with all of its pods. */
  close(): Promise<void>;
};

/** Installs the image of the Dockerfile with the chart, as install.md says. */
export async function installInCluster(): Promise<ClusterStage> {
  const folder = await mkdtemp(join(tmpdir(), 'videogen-cluster-'));
  const archive = join(folder, 'image.tar');
  const closings: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true })];
  const close = async () => {
    for (const one of closings.toReversed()) await one();
  };
  try {
    await saveImage(`${repository}:${tags.first}`, archive);
    const kubernetes = await openKubernetes();
    closings.push(() => kubernetes.close());
    const { database, filledIn, results, temporal } = await startServers(kubernetes, closings);
    const baseUrl = `http://${kubernetes.address}:${nodePort}`;
    const valuesFile = join(folder, 'my-values.yaml');
    await writeFile(valuesFile, JSON.stringify(valuesFor(baseUrl, results)));
    const shell = await createShell(folder, { ...kubernetes.env, TEMPORAL_ADDRESS: `${kubernetes.address}:7233` }, [
      dirname(helm ?? ''),
      ...(kubernetes.env['PATH'] ?? '').split(':', 1),
    ]);
    await writeFile(join(folder, 'bin', 'temporal'), `#!/bin/sh\nexec '${temporal}' "$@"\n`, { mode: 0o755 });
    await importImages(shell, archive);
    await rm(archive);
    const replacements = Object.entries({ ...filledIn, 'my-values.yaml': valuesFile });
    const run = (line: string) =>
      shell.run(replacements.reduce((text, [written, value]) => text.replaceAll(written, value), line));
    await follow({ run }, 'install.md, "On Kubernetes"', commandsBeside('kubectl create namespace videogen'));
    return { database, api: await newApi(run, baseUrl), run, valuesFile, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What the cluster's administrator provides, with what stands for it in the page. */
async function startServers({ address, namesFolder }: Kubernetes, closings: (() => Promise<unknown>)[]) {
  const offer = async (port: number, target: string) => {
    const proxy = await startTcpProxy(target, port, address);
    closings.push(() => proxy.close());
  };
  const database = await createTestDatabase();
  closings.push(() => database.close());
  const bucket = await startS3Server();
  closings.push(() => bucket.close());
  const temporal = await testTemporalCli();
  const temporalPort = await reserveFreePort();
  closings.push(startTemporal(temporal, temporalPort));
  const { host, username, password, pathname } = new URL(database.url);
  await offer(5432, host);
  await offer(bucketPort, new URL(bucket.s3.endpoint).host);
  await offer(7233, `127.0.0.1:${temporalPort}`);
  const names = ['postgres.example.com', 'temporal-frontend.temporal.svc.cluster.local'];
  await writeFile(join(namesFolder, 'stage'), names.map((name) => `${address} ${name}\n`).join(''));
  const { accessKeyId, secretAccessKey } = bucket.s3.credentials;
  return {
    database,
    temporal,
    results: {
      bucket: bucket.bucket,
      region: 'us-east-1',
      endpoint: `http://${address}:${bucketPort}`,
      pathStyle: '1',
    },
    filledIn: {
      'videogen:PASSWORD@postgres.example.com:5432/videogen': `${username}:${password}@postgres.example.com:5432${pathname}`,
      "AWS_ACCESS_KEY_ID='ID'": `AWS_ACCESS_KEY_ID='${accessKeyId}'`,
      "AWS_SECRET_ACCESS_KEY='SECRET'": `AWS_SECRET_ACCESS_KEY='${secretAccessKey}'`,
    },
  };
}

/** Those of install.md, with the addresses of this cluster; its node is smaller than what the chart requests. */
function valuesFor(publicUrl: string, s3: Readonly<Record<string, string>>): unknown {
  const page = readFileSync('docs/operations/install.md', 'utf8');
  const [, text = ''] = /^```yaml\n(# my-values\.yaml\n.*?)^```$/ms.exec(page) ?? [];
  const given = z
    .looseObject({ settings: z.looseObject({}), results: z.object({ s3: z.looseObject({}) }) })
    .parse(parse(text));
  const resources = { requests: { cpu: '120m', memory: '64Mi' } };
  return {
    ...given,
    image: { repository, tag: tags.first, pullPolicy: 'Never' },
    publicUrl,
    settings: { ...given.settings, CREATE_RATE: 'off', READ_RATE: 'off' },
    results: { s3: { ...given.results.s3, ...s3 } },
    api: { resources, service: { type: 'NodePort', nodePort } },
    workers: { tasks: { resources }, generation: { resources }, 'generation-remote': { resources } },
  };
}

async function importImages(shell: Shell, archive: string): Promise<void> {
  await shell.run(`$KUBERNETES_CTR images import '${archive}'`);
  await shell.run(`$KUBERNETES_CTR images tag ${repository}:${tags.first} ${repository}:${tags.next}`);
}

/** Creates an account and a key as install.md says, and follows the other commands there. */
async function newApi(run: ClusterStage['run'], baseUrl: string): Promise<Api> {
  const [account = '', key = '', link = '', doctor = ''] = commandsBeside(
    'kubectl --namespace videogen exec deploy/videogen-worker-tasks -- videogen doctor',
  );
  const accountId = /[\da-f]{8}-[\da-f-]{27}/.exec(await run(account))?.[0] ?? assert.fail('no account');
  const created = /vg_\w+/.exec(await run(key.replace('ACCOUNT', accountId)))?.[0] ?? assert.fail('no key');
  assert.ok((await run(link)).includes(`${baseUrl}/console/`));
  await run(doctor);
  return { baseUrl, key: created };
}

function startTemporal(program: string, port: number): () => Promise<unknown> {
  const address = ['--ip', '127.0.0.1', '--port', String(port)];
  // Temporal detects within seconds, instead of six minutes, that a version of workers has no tasks left.
  const drainage = ['VisibilityGracePeriod', 'RefreshInterval'].flatMap((name) => [
    '--dynamic-config-value',
    `matching.wv.VersionDrainageStatus${name}="1s"`,
  ]);
  const options = ['--namespace', 'videogen', '--headless', '--log-level', 'error', ...drainage];
  const args = ['server', 'start-dev', ...address, ...options];
  const child = spawn(program, args, { stdio: 'ignore' });
  return async () => {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };
}
