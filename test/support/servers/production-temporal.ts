import { msToTs } from '@temporalio/common/lib/time.js';
import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { connectTemporal } from '../../../src/temporal/connection/connect.ts';
import { waitFor } from '../wait-for.ts';

// The schema, configuration and namespace of a production server of Temporal, of one process or several.

const run = promisify(execFile);

/** Makes both databases and their schema, by the `temporal-sql-tool` that lies beside the server's program. */
export async function makeTemporalSchema(serverPath: string, postgresUrl: string): Promise<void> {
  const tool = join(dirname(serverPath), 'temporal-sql-tool');
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

/** The settings of docker-compose.yml. */
const numHistoryShards = 512;

/** The stores of a process, with the number of its connections to each database. */
export function temporalPersistence(
  postgresUrl: string,
  connections: { default: number; visibility: number },
): unknown {
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
  return {
    numHistoryShards,
    defaultStore: 'default',
    visibilityStore: 'visibility',
    datastores: {
      default: store('temporal', connections.default),
      visibility: store('temporal_visibility', connections.visibility),
    },
  };
}

/** One cluster. `address` is that of a frontend. */
export function temporalCluster(address: string): object {
  return {
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: { enabled: true, initialFailoverVersion: 1, rpcName: 'frontend', rpcAddress: address },
      },
    },
    publicClient: { hostPort: address },
  };
}

const startLimitMs = 60_000;
const retentionMs = 72 * 3_600_000;

/** A new namespace is known to all services a few seconds after it was made. */
export async function makeNamespace(address: string): Promise<void> {
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
