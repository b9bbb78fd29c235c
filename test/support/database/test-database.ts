import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { createDatabase, type Database } from '../../../src/platform/database/database.ts';
import { migrateToLatest } from '../../../src/run/schema/migrator.ts';
import { postgresUrl } from '../servers/server-addresses.ts';

/** A database of this test file's own, copied from a migrated template in some 50 ms, dropped by `close`. */
export type TestDatabase = { readonly url: string; readonly db: Database; close(): Promise<void> };

/**
 * Tests hold transactions, and creates that wait for them, until `waitFor` has seen a condition: on a slow machine that takes up to 180 s. The
 * server must not end such a transaction, and no queue may refuse such a create, whose wait in an account's queue is half of `waitMs`.
 */
export const patientDatabase = { idleTransactionMs: 360_000, queue: { waitMs: 360_000 } };

/** `dump` is SQL that creates the schema of an earlier version with its rows, which is then migrated. */
export async function createTestDatabase(dump?: string): Promise<TestDatabase> {
  const server = await postgresUrl();
  const name = `test_${randomBytes(6).toString('hex')}`;
  const url = withDatabaseName(server, name);
  if (dump === undefined) {
    await (templates[server] ??= ensureTemplate(server));
    // Copying files costs half of what copying pages through the log does.
    await administer(server, `create database ${name} template ${template} strategy file_copy`);
  } else {
    await administer(server, `create database ${name} template template0`);
    await administer(url, dump);
    await migrateToLatest(url);
  }
  const db = createDatabase({ url, poolSize: 8, ...patientDatabase });
  return {
    url,
    db,
    close: async () => {
      await db.close();
      await administer(server, `drop database ${name} with (force)`);
    },
  };
}

// Named for its migrations, so that a server that outlives a change of the schema makes a new one.
const migrations = readdirSync('src/run/schema/migrations').toSorted();
const schema = createHash('sha256');
for (const name of migrations) schema.update(readFileSync(`src/run/schema/migrations/${name}`));
const template = `videogen_template_${schema.digest('hex').slice(0, 12)}`;
/** By server: resolves when its template exists. */
const templates: Record<string, Promise<void>> = {};
// Other processes do the same at the same time, so the template is made under a lock of the server's.
const templateLock = 4_202_611;

async function ensureTemplate(server: string): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [templateLock]);
    const { rows } = await client.query('select 1 from pg_database where datname = $1 and datistemplate', [template]);
    if (rows.length > 0) return;
    await client.query(`drop database if exists ${template} with (force)`);
    await client.query(`create database ${template}`);
    await migrateToLatest(withDatabaseName(server, template));
    await client.query(`alter database ${template} with is_template true allow_connections false`);
  } finally {
    await client.end();
  }
}

async function administer(server: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function withDatabaseName(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
