import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { createDatabase, type Database } from '../../../src/platform/database/database.ts';
import {
  type DatabaseFacts,
  listMissingTableRights,
  sampleSealedCallbackSecrets,
  readDatabaseFacts,
} from '../../../src/run/doctor/database-facts.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { insertFirstSigningSecret } from '../../../src/tasks/callbacks/signing-secret-rows.ts';

let database: TestDatabase;
/** A user of its own, whose limits and rights a test may change. */
const role = `facts_${process.pid}`;
const run = (text: string) => database.db.run({ name: text, text, plannedAnew: true });
before(async () => {
  database = await createTestDatabase();
  await run(`create role ${role} login password 'p'`);
});
after(async () => {
  await run(`drop owned by ${role}`);
  await run(`drop role ${role}`);
  await database.close();
});

const clock = async () => Number((await run('select extract(epoch from clock_timestamp()) * 1000 as ms'))[0]?.['ms']);
const name = () => new URL(database.url).pathname.slice(1);

/** Reads through a connection of the role, without TLS. */
async function as<Result>(read: (db: Database) => Promise<Result>): Promise<Result> {
  const url = new URL(database.url);
  [url.username, url.password] = [role, 'p'];
  const db = createDatabase({ url: url.href, poolSize: 1 });
  try {
    return await read(db);
  } finally {
    await db.close();
  }
}

test('the facts are those of the user, the database and the server', async (t) => {
  const [server] = await run(`
    select current_setting('server_version_num')::int as "versionNumber", version() as version,
      setting::int - (select setting::int from pg_settings where name = 'superuser_reserved_connections') as connections
    from pg_settings where name = 'max_connections'`);
  assert.ok(server);
  const startedAt = await clock();
  const { now, version, usedConnections, ...facts } = await as(readDatabaseFacts);
  const expected: Omit<DatabaseFacts, 'now' | 'version' | 'usedConnections'> = {
    versionNumber: Number(server['versionNumber']),
    user: role,
    database: name(),
    tls: undefined,
    isStandby: false,
    isReadOnly: false,
    maxConnections: Number(server['connections']),
    userConnections: undefined,
    databaseConnections: undefined,
    mayCreate: false,
    hasMigrations: true,
  };
  assert.deepEqual(facts, expected);
  assert.ok(String(server['version']).includes(version));
  assert.ok(usedConnections > 0);
  assert.ok(now >= startedAt && now <= (await clock()), String(now));
  await run(`alter role ${role} connection limit 7`);
  await run(`alter database ${name()} connection limit 90`);
  await run(`alter role ${role} set default_transaction_read_only = on`);
  await run(`grant create on schema public to ${role}`);
  t.after(() => run(`alter role ${role} reset default_transaction_read_only`));
  const { userConnections, databaseConnections, isReadOnly, mayCreate } = await as(readDatabaseFacts);
  assert.deepEqual([userConnections, databaseConnections, isReadOnly, mayCreate], [7, 90, true, true]);
});

test('the connections in use are those of clients', async (t) => {
  // More than the server has processes of its own.
  const clients = Array.from({ length: 20 }, () => new pg.Client({ connectionString: database.url }));
  t.after(() => Promise.all(clients.map((client) => client.end())));
  for (const client of clients) await client.connect();
  const { usedConnections } = await readDatabaseFacts(database.db);
  assert.ok(usedConnections > clients.length, String(usedConnections));
});

test('the rights on each table are listed, and whether the user owns it, without those of migrations and of others', async () => {
  const owner = `facts_owner_${process.pid}`;
  for (const text of [
    `create role ${owner}`,
    `create schema other`,
    `create table other.elsewhere (id int)`,
    `create table theirs (id int)`,
    `alter table theirs owner to ${owner}`,
    `create view shown as select 1 as one`,
  ])
    await run(text);
  const tables = (
    await run(`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> 'theirs' order by 1`)
  )
    .map(({ name: table }) => String(table))
    .filter((table) => !table.startsWith('kysely_'));
  assert.ok(tables.includes('accounts') && tables.length > 20);
  const listed = (missing: Readonly<Record<string, string>>, otherwise: string, owns: boolean) =>
    tables.map((table) => ({ name: table, missing: missing[table] ?? otherwise, owns }));
  const all = 'SELECT, INSERT, UPDATE, DELETE';
  assert.deepEqual(await as((db) => listMissingTableRights(db)), listed({}, all, false));
  const rights = ['select', 'insert', 'update', 'delete'];
  const some = ['accounts', 'api_keys', 'tasks', 'ledger_entries'];
  for (const [index, table] of some.entries()) await run(`grant ${rights[index]} on ${table} to ${role}`);
  const lacking = some.map((table, index) => [table, rights.toSpliced(index, 1).join(', ').toUpperCase()] as const);
  assert.deepEqual(
    await as((db) => listMissingTableRights(db)),
    listed(Object.fromEntries<string>(lacking), all, false),
  );
  assert.deepEqual(await listMissingTableRights(database.db), listed({}, '', true));
  await run(`drop table theirs`);
  await run(`drop role ${owner}`);
});

test('the newest twenty current sealed secrets are listed', async () => {
  const { db } = database;
  const accountIds: string[] = [];
  while (accountIds.length < 22) accountIds.push(await createAccount(db, { name: 'a', credits: 0 }));
  for (const accountId of accountIds) await insertFirstSigningSecret(db, accountId, 'callback', accountId);
  await run(`update callback_secrets set expires_at = now() where account_id = '${accountIds[21]}'`);
  const expected = accountIds.slice(1, 21).toReversed();
  const listed = await sampleSealedCallbackSecrets(db);
  assert.deepEqual(
    listed.map(({ accountId, sealed }) => [accountId, sealed]),
    expected.map((id) => [id, id]),
  );
});
