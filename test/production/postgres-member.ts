import pg from 'pg';
import { type PostgresServer, startPostgres } from '../../src/run/embedded/postgres/postgres-server.ts';
import { waitFor } from '../support/wait-for.ts';
import type { ServerProcess } from '../support/servers/server-process.ts';

export type PostgresMember = { readonly member: ServerProcess; readonly url: string; close(): Promise<void> };

/** Temporal's services and ours have more connections than the usual limit of PostgreSQL, as in docker-compose.yml. */
export async function startPostgresMember(folder: string): Promise<PostgresMember> {
  const server = await startPostgres({ folder, log: () => undefined });
  await query(server.url, 'alter system set max_connections = 200');
  const member = memberOf(server);
  await member.stop();
  await member.start();
  return { member, url: server.url, close: server.stop };
}

function memberOf(server: PostgresServer): ServerProcess {
  const end = async (signal: NodeJS.Signals) => {
    process.kill(server.pid, signal);
  };
  let before = server.pid;
  const kill = async () => {
    before = server.pid;
    await end('SIGKILL');
  };
  // Its supervisor starts it.
  const start = async () => {
    await waitFor('PostgreSQL', async () => {
      if (server.pid === before) return undefined;
      return query(server.url, 'select 1').catch(() => undefined);
    });
  };
  return {
    name: 'PostgreSQL',
    pid: () => server.pid,
    // A fast shutdown: connections are closed, a checkpoint is written.
    stop: async () => {
      before = server.pid;
      await end('SIGINT');
    },
    kill,
    start,
    restart: async () => {
      await kill();
      await start();
    },
  };
}

async function query(url: string, statement: string): Promise<true> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query(statement);
    return true;
  } finally {
    await client.end();
  }
}
