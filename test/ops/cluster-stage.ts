import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parse } from 'yaml';
import { z } from 'zod';
import { freePort } from '../../src/embedded/persisted-port.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { testTemporalCli } from '../support/embedded-temporal-cli.ts';
import { createShell } from '../support/page-commands.ts';
import { startS3Server } from '../support/s3-server.ts';
import { helm } from './chart.ts';
import { openKubernetes } from './kubernetes.ts';

const nodePort = 30080;
/** The archive of the image `localhost/videogen:test`, as `docker save` writes it. */
const archive = process.env['VIDEOGEN_TEST_IMAGE_ARCHIVE'];
export const skipWithoutArchive =
  archive === undefined &&
  'VIDEOGEN_TEST_IMAGE_ARCHIVE names no file: docker build --tag localhost/videogen:test . && docker save --output FILE localhost/videogen:test';
export const images = { first: 'test', next: 'next' } as const;

/** A cluster beside PostgreSQL, Temporal and a bucket, with the names that install.md uses for them. */
export type ClusterStage = {
  readonly baseUrl: string;
  readonly database: TestDatabase;
  /** Runs a line of a page; one that fails is a failure of the test. */
  run(line: string): Promise<string>;
  /** The values of install.md for this cluster. */
  readonly valuesFile: string;
  close(): Promise<void>;
};

export async function createClusterStage(): Promise<ClusterStage> {
  const folder = await mkdtemp(join(tmpdir(), 'videogen-cluster-'));
  const kubernetes = await openKubernetes();
  const closings: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true }), () => kubernetes.close()];
  const close = async () => {
    for (const one of closings.toReversed()) await one();
  };
  try {
    const { address, env, namesFolder } = kubernetes;
    const database = await createTestDatabase();
    const bucket = await startS3Server();
    closings.push(
      () => database.close(),
      () => bucket.close(),
    );
    const { hostname, port, username, password, pathname } = new URL(database.url);
    closings.push(await forward(address, 5432, { hostname, port: Number(port) }));
    const s3 = new URL(bucket.s3.endpoint);
    const bucketPort = 19_000;
    closings.push(await forward(address, bucketPort, { hostname: s3.hostname, port: Number(s3.port) }));
    const temporal = await testTemporalCli();
    const temporalPort = await freePort();
    closings.push(startTemporal(temporal, temporalPort));
    closings.push(await forward(address, 7233, { hostname: '127.0.0.1', port: temporalPort }));
    const names = ['postgres.example.com', 'temporal-frontend.temporal.svc.cluster.local'];
    await writeFile(join(namesFolder, 'stage'), names.map((name) => `${address} ${name}\n`).join(''));

    const baseUrl = `http://${address}:${nodePort}`;
    const valuesFile = join(folder, 'my-values.yaml');
    const results = {
      s3: { bucket: bucket.bucket, region: 'us-east-1', endpoint: `http://${address}:${bucketPort}`, pathStyle: '1' },
    };
    await writeFile(valuesFile, JSON.stringify(valuesFor(baseUrl, results)));
    const shell = await createShell(folder, { ...env, TEMPORAL_ADDRESS: `${address}:7233` }, [
      dirname(helm ?? ''),
      ...(env['PATH'] ?? '').split(':', 1),
    ]);
    await writeFile(join(folder, 'bin', 'temporal'), `#!/bin/sh\nexec '${temporal}' "$@"\n`, { mode: 0o755 });
    const { accessKeyId, secretAccessKey } = bucket.s3.credentials;
    const filledIn: readonly [string, string][] = [
      ['my-values.yaml', valuesFile],
      [
        'videogen:PASSWORD@postgres.example.com:5432/videogen',
        `${username}:${password}@postgres.example.com:5432${pathname}`,
      ],
      ["AWS_ACCESS_KEY_ID='ID'", `AWS_ACCESS_KEY_ID='${accessKeyId}'`],
      ["AWS_SECRET_ACCESS_KEY='SECRET'", `AWS_SECRET_ACCESS_KEY='${secretAccessKey}'`],
    ];
    const run = (line: string) =>
      shell.run(filledIn.reduce((text, [written, value]) => text.replaceAll(written, value), line));
    await importImages(run);
    return { baseUrl, database, run, valuesFile, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Those of install.md, with the addresses of this cluster; its node is smaller than what the chart requests. */
function valuesFor(publicUrl: string, results: { readonly s3: Readonly<Record<string, string>> }): unknown {
  const page = readFileSync('docs/operations/install.md', 'utf8');
  const [, text = ''] = /^```yaml\n(# my-values\.yaml\n.*?)^```$/ms.exec(page) ?? [];
  const given = z
    .looseObject({ settings: z.looseObject({}), results: z.object({ s3: z.looseObject({}) }) })
    .parse(parse(text));
  const resources = { requests: { cpu: '120m', memory: '64Mi' } };
  return {
    ...given,
    image: { repository: 'localhost/videogen', tag: images.first, pullPolicy: 'Never' },
    publicUrl,
    settings: { ...given.settings, CREATE_RATE: 'off', READ_RATE: 'off' },
    results: { s3: { ...given.results.s3, ...results.s3 } },
    api: { resources, service: { type: 'NodePort', nodePort } },
    workers: { tasks: { resources }, generation: { resources }, 'generation-remote': { resources } },
  };
}

async function importImages(run: (line: string) => Promise<string>): Promise<void> {
  await run(`$KUBERNETES_CTR images import '${archive}'`);
  await run(`$KUBERNETES_CTR images tag localhost/videogen:${images.first} localhost/videogen:${images.next}`);
}

function startTemporal(program: string, port: number): () => Promise<unknown> {
  const args = [
    'server',
    'start-dev',
    '--ip',
    '127.0.0.1',
    '--port',
    String(port),
    '--namespace',
    'videogen',
    '--headless',
  ];
  const child = spawn(program, [...args, '--log-level', 'error'], { stdio: 'ignore' });
  return async () => {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };
}

/** Listens on the node's address for pods, and forwards to a server on loopback. */
async function forward(
  address: string,
  port: number,
  target: { readonly hostname: string; readonly port: number },
): Promise<() => Promise<unknown>> {
  const sockets = new Set<{ destroy(): unknown }>();
  const server = createServer((client) => {
    const upstream = connect(target.port, target.hostname);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, address, resolve));
  assert.equal((server.address() as AddressInfo).port, port);
  return async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
}
