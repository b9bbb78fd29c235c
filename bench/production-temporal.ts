import { msToTs } from '@temporalio/common/lib/time.js';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from '../src/embedded/persisted-port.ts';
import { connectTemporal } from '../src/temporal/connect.ts';
import { waitFor } from '../test/support/wait-for.ts';

export type TemporalAddress = { readonly address: string; readonly pid: number; stop(): Promise<void> };

const run = promisify(execFile);
/** What docker-compose.yml gives to production. */
const historyShards = 512;
/** Each of the four services has pools of its own, and all of them share 100 connections with ours. */
const connections = { default: 12, visibility: 4 };

/**
 * Starts Temporal's production server with its data in PostgreSQL. The program is not ours to fetch: `serverPath` names it, and
 * `temporal-sql-tool`, which makes the schema, is expected beside it.
 */
export async function startProductionTemporal({
  serverPath,
  postgresUrl,
  folder,
}: {
  serverPath: string;
  postgresUrl: string;
  folder: string;
}): Promise<TemporalAddress> {
  await makeSchema(join(dirname(serverPath), 'temporal-sql-tool'), postgresUrl);
  await mkdir(join(folder, 'config'), { recursive: true });
  const port = await freePort();
  await writeFile(join(folder, 'dynamic.yaml'), 'matching.enableFairness:\n  - value: true\n');
  await writeFile(join(folder, 'config', 'bench.yaml'), JSON.stringify(await configuration(postgresUrl, folder, port)));
  const log = openSync(join(folder, 'server.log'), 'a');
  const args = ['--root', folder, '--config', 'config', '--env', 'bench', '--allow-no-auth', 'start'];
  const child = spawn(serverPath, args, { stdio: ['ignore', log, log] });
  await once(child, 'spawn');
  const address = `127.0.0.1:${port}`;
  await makeNamespace(address);
  return {
    address,
    pid: child.pid ?? 0,
    stop: async () => {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

async function makeSchema(tool: string, postgresUrl: string): Promise<void> {
  const { hostname, port, username, password } = new URL(postgresUrl);
  const client = new pg.Client({ connectionString: postgresUrl });
  await client.connect();
  await client.query('create database temporal');
  await client.query('create database temporal_visibility');
  await client.end();
  const login = [
    '--plugin',
    'postgres12',
    '--endpoint',
    hostname,
    '--port',
    port,
    '--user',
    username,
    '--password',
    password,
  ];
  for (const [database, schema] of [
    ['temporal', 'temporal'],
    ['temporal_visibility', 'visibility'],
  ] as const) {
    await run(tool, [...login, '--database', database, 'setup-schema', '--version', '0.0']);
    await run(tool, [...login, '--database', database, 'update-schema', '--schema-name', `postgresql/v12/${schema}`]);
  }
}

/** JSON is YAML, too. */
async function configuration(postgresUrl: string, folder: string, port: number): Promise<unknown> {
  const { host, username, password } = new URL(postgresUrl);
  const store = (databaseName: string, maxConns: number) => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: host,
      connectProtocol: 'tcp',
      user: username,
      password,
      maxConns,
      maxIdleConns: maxConns,
      maxConnLifetime: '1h',
    },
  });
  const service = async (grpcPort?: number) => ({
    rpc: {
      grpcPort: grpcPort ?? (await freePort()),
      membershipPort: await freePort(),
      bindOnIP: '127.0.0.1',
    },
  });
  return {
    log: { stdout: true, level: 'warn' },
    persistence: {
      numHistoryShards: historyShards,
      defaultStore: 'default',
      visibilityStore: 'visibility',
      datastores: {
        default: store('temporal', connections.default),
        visibility: store('temporal_visibility', connections.visibility),
      },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
    services: {
      frontend: await service(port),
      history: await service(),
      matching: await service(),
      worker: await service(),
    },
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: { enabled: true, initialFailoverVersion: 1, rpcName: 'frontend', rpcAddress: `127.0.0.1:${port}` },
      },
    },
    publicClient: { hostPort: `127.0.0.1:${port}` },
    dynamicConfigClient: { filepath: join(folder, 'dynamic.yaml'), pollInterval: '10s' },
  };
}

const startLimitMs = 60_000;
const retentionMs = 72 * 3_600_000;

/** A new namespace is known to all services a few seconds after it was made. */
async function makeNamespace(address: string): Promise<void> {
  const { client, close } = connectTemporal({ connection: { address }, namespace: 'default' }, { retries: false });
  const { workflowService } = client.connection;
  const attempt = (call: () => Promise<unknown>) => () =>
    call().then(
      () => true,
      () => undefined,
    );
  const workflowExecutionRetentionPeriod = msToTs(retentionMs);
  await waitFor(
    'the namespace',
    attempt(() => workflowService.registerNamespace({ namespace: 'default', workflowExecutionRetentionPeriod })),
    startLimitMs,
  );
  await waitFor(
    'the namespace to be known',
    attempt(() => workflowService.listWorkflowExecutions({ namespace: 'default', pageSize: 1 })),
    startLimitMs,
  );
  await close();
}
