import type { Client } from 'pg';
import { superuser } from './postgres-cluster.ts';
import { errorCode } from '../../domain/setup-error.ts';

/** `busy` means that it is starting, recovering from a crash, or shutting down. */
export type PostgresAnswer = 'ready' | 'busy' | 'wrong password' | 'silent';

const timeoutMs = 3_000;

export function postgresUrl(port: number, password: string, database: string): string {
  return `postgres://${superuser}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
}

/** Asks the server on this port of 127.0.0.1 whether it serves us: a real connection and a real query. */
export async function postgresAnswer(port: number, password: string): Promise<PostgresAnswer> {
  try {
    await withClient(postgresUrl(port, password, 'postgres'), (client) => client.query('select 1'));
    return 'ready';
  } catch (error) {
    return meaningOf(errorCode(error));
  }
}

/** Creates the database unless it exists. */
export async function ensureDatabase(port: number, password: string, database: string): Promise<void> {
  await withClient(postgresUrl(port, password, 'postgres'), async (client) => {
    const found = await client.query('select 1 from pg_database where datname = $1', [database]);
    if (found.rowCount === 0) await client.query(`create database ${client.escapeIdentifier(database)}`);
  });
}

/** Codes of PostgreSQL's appendix A: cannot_connect_now, invalid_password, too_many_connections (it lives, and knew us). */
function meaningOf(code: string | undefined): PostgresAnswer {
  if (code === '53300') return 'ready';
  if (code === '57P03') return 'busy';
  return code === '28P01' ? 'wrong password' : 'silent';
}

async function withClient(url: string, use: (client: Client) => Promise<unknown>): Promise<void> {
  // Needed once a server runs, and not before one is started.
  const pg = await import('pg');
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs * 10,
    // Given here, so that pg does not look for PGSSLMODE in the environment.
    ssl: false,
  });
  // A server that goes away closes the idle connection with an error nobody waits for; the query tells enough.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await use(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
