import { FileMigrationProvider, Kysely, type Migration, Migrator, PostgresDialect, sql } from 'kysely';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { promises as fs } from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { migrateToLatest } from '../../src/stores/migrator.ts';
import { describeSchema } from '../support/schema.ts';
import { postgresUrl } from '../support/servers.ts';
import { waitFor } from '../support/wait-for.ts';

// Migrations beside traffic, judged by what they lock and read, not by how long a small table takes.

const migrationFolder = fileURLToPath(new URL('../../src/stores/migrations', import.meta.url));
/** From the next one on, migrations are made for tables that are large and in use. */
const lastOffline = '0009-dialect';

test('no migration reads, writes or indexes the rows of a table that exists while it locks that table', async (t) => {
  const url = await createEmptyDatabase(t);
  await migrateToLatest(url, { to: lastOffline });
  await fill(url);
  const findings = await judged(url, await migrations());
  assert.ok(findings.size > 5);
  for (const [name, found] of findings) assert.deepEqual(found, [], name);
});

test('the judge of the migrations finds a scan, a rewrite and an index', async (t) => {
  const url = await createEmptyDatabase(t);
  await migrateToLatest(url, { to: lastOffline });
  await fill(url);
  const bad = {
    a: 'alter table tasks add constraint charged check (credits_charged > 0)',
    b: 'alter table accounts alter column balance type numeric',
    c: 'create index by_amount on ledger_entries (amount)',
    d: 'update accounts set balance = balance + 1',
    // And not what is allowed.
    e: 'alter table tasks add column note text, add constraint short check (length(note) < 10) not valid',
  };
  const wanted = Object.entries(bad).map(([name, text]): [string, Migration] => [
    `9999-${name}`,
    { up: async (db) => void (await sql.raw(text).execute(db)) },
  ]);
  const findings = await judged(url, { ...(await migrations()), ...Object.fromEntries(wanted) });
  assert.deepEqual(findings.get('9999-a'), ['tasks was read through']);
  assert.ok(findings.get('9999-b')?.includes('accounts was rewritten'));
  assert.ok(findings.get('9999-c')?.includes('ledger_entries was given the index by_amount'));
  assert.ok(findings.get('9999-d')?.includes('accounts was read through'));
  assert.deepEqual(findings.get('9999-e'), []);
});

test('a migration that waits for its lock holds nobody up for long, and goes on when the table is free', async (t) => {
  const url = await createEmptyDatabase(t);
  await migrateToLatest(url, { to: lastOffline });
  const accountId = await fill(url);
  const reader = await connect(t, url);
  await reader.query('begin');
  await reader.query('select count(*) from tasks');
  let retries = 0;
  const migrating = migrateToLatest(url, { onRetry: () => (retries += 1) });
  for (const seen of [1, 2]) {
    await waitFor('another attempt', () => (retries >= seen ? true : undefined));
    await create(url, accountId);
  }
  await reader.query('commit');
  assert.equal((await migrating)[0], '0010-task-deadlines');
});

test('indexes are built while tasks are created; a build that was interrupted is mended by the next run', async (t) => {
  const url = await createEmptyDatabase(t);
  await migrateToLatest(url, { to: lastOffline });
  const accountId = await fill(url);
  // A build waits for the end of every transaction that began before it.
  const older = await connect(t, url);
  await older.query('begin isolation level repeatable read');
  await older.query('select count(*) from pg_class');
  const migrating = migrateToLatest(url);
  migrating.catch(() => undefined);
  const building = await waitFor('the build of an index', async () => {
    const [found] = await asked(
      url,
      `select pid from pg_stat_activity where query like 'create index concurrently%' and wait_event_type = 'Lock'
        and datname = current_database()`,
    );
    return found?.['pid'];
  });
  await create(url, accountId);
  await asked(url, `select pg_terminate_backend(${Number(building)})`);
  await assert.rejects(migrating);
  await older.query('commit');
  const invalid = await asked(url, 'select indexrelid::regclass::text as name from pg_index where not indisvalid');
  assert.equal(invalid.length, 1);

  // Two at the same time, as of two replicas.
  const names = (await Promise.all([migrateToLatest(url), migrateToLatest(url)])).flat();
  assert.ok(names.includes('0010-task-deadlines'));
  const fresh = await createEmptyDatabase(t);
  await migrateToLatest(fresh);
  assert.deepEqual(await describeSchema(url), await describeSchema(fresh), 'as in a new installation');
  assert.deepEqual(await migrateToLatest(url), []);
});

type Findings = ReadonlyMap<string, readonly string[]>;

/** Runs those that are missing, each in its transaction, and answers what each has done to the rows of tables from before it. */
async function judged(url: string, all: Readonly<Record<string, Migration>>): Promise<Findings> {
  const findings = new Map<string, readonly string[]>();
  const watched = Object.entries(all).map(([name, migration]): [string, Migration] => [
    name,
    {
      up: async (db: Kysely<unknown>) => {
        const before = await tablesIn(db);
        await migration.up(db);
        const now = new Map((await tablesIn(db)).map((table) => [table.name, table]));
        findings.set(
          name,
          before.flatMap((table) => findingsOf(table, now.get(table.name))),
        );
      },
    },
  ]);
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    const provider = { getMigrations: () => Promise.resolve(Object.fromEntries(watched)) };
    const migrator = new Migrator({ db, provider });
    for (;;) {
      const { error, results = [] } = await migrator.migrateUp();
      if (error !== undefined) throw error;
      if (results.length === 0) return findings;
    }
  } finally {
    await db.destroy();
  }
}

type Table = {
  readonly name: string;
  readonly file: string;
  readonly scans: string;
  readonly indexes: readonly string[];
};

/** Scans are those of this transaction; those that check a constraint or fill an index count as well. */
async function tablesIn(db: Kysely<unknown>): Promise<readonly Table[]> {
  const { rows } = await sql<Table>`
select c.relname as name, pg_relation_filenode(c.oid)::text as file, coalesce(seq_scan, 0)::text as scans,
  array(select indexrelid::regclass::text from pg_index where indrelid = c.oid order by 1) as indexes
from pg_class c left join pg_stat_xact_user_tables on relid = c.oid
where relnamespace = 'public'::regnamespace and relkind = 'r' and c.relname not like 'kysely%' order by 1`.execute(db);
  return rows;
}

function findingsOf(before: Table, now: Table | undefined): readonly string[] {
  // One that was renamed keeps its rows.
  if (now === undefined) return [];
  const { name } = before;
  const made = now.indexes.filter((index) => !before.indexes.includes(index));
  return [
    ...(now.scans === before.scans ? [] : [`${name} was read through`]),
    ...(now.file === before.file ? [] : [`${name} was rewritten`]),
    ...made.map((index) => `${name} was given the index ${index}`),
  ];
}

async function migrations(): Promise<Record<string, Migration>> {
  return await new FileMigrationProvider({ fs, path, migrationFolder }).getMigrations();
}

/** A row in each table that grows, as the release of `lastOffline` wrote them. */
async function fill(url: string): Promise<string> {
  const [account] = await asked(
    url,
    `insert into accounts (id, name, balance) values (gen_random_uuid(), 'a', 1000) returning id`,
  );
  const accountId = String(account?.['id']);
  const taskId = await create(url, accountId);
  await asked(url, `insert into provider_jobs (task_id, ordinal, provider) values ('${taskId}', 1, 'p')`);
  await asked(
    url,
    `insert into callback_deliveries (task_id, account_id, url) values ('${taskId}', '${accountId}', 'https://a')`,
  );
  return accountId;
}

/** What a create does to the hot tables. The tests end what a migration waits for only later, so one that holds it up fails. */
async function create(url: string, accountId: string): Promise<string> {
  const [row] = await asked(
    url,
    `
set lock_timeout = '180s';
with account as (
  update accounts set balance = balance - 1 where id = '${accountId}' returning id, balance
), task as (
  insert into tasks (id, account_id, model, param, credits_charged, request_sha256)
  select gen_random_uuid(), id, 'm', '{}', 1, sha256('x') from account returning id, account_id
)
insert into ledger_entries (account_id, task_id, kind, amount, balance_after)
select account_id, task.id, 'charge', -1, balance from task join account on account.id = account_id returning task_id as id`,
  );
  return String(row?.['id']);
}

async function createEmptyDatabase(t: TestContext): Promise<string> {
  const server = await postgresUrl();
  const name = `test_${randomBytes(6).toString('hex')}`;
  await asked(server, `create database ${name}`);
  t.after(() => asked(server, `drop database ${name} with (force)`));
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

async function connect(t: TestContext, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  // Ended with its database.
  client.on('error', () => undefined);
  await client.connect();
  t.after(() => client.end());
  return client;
}

type Result = pg.QueryResult<Record<string, unknown>>;

/** The rows of the last statement; several statements have several results. */
async function asked(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const answer: Result | readonly Result[] = await client.query<Record<string, unknown>>(text);
    return [answer].flat().at(-1)?.rows ?? [];
  } finally {
    await client.end();
  }
}
