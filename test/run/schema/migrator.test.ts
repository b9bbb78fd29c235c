import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import pg from 'pg';
import { listMigrations, migrateToLatest } from '../../../src/run/schema/migrator.ts';
import { postgresUrl } from '../../support/servers/server-addresses.ts';
import { waitFor } from '../../support/wait-for.ts';

async function createEmptyDatabase(t: TestContext) {
  const server = await postgresUrl();
  const name = `test_${randomBytes(6).toString('hex')}`;
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  t.after(async () => {
    await client.query(`drop database ${name} with (force)`);
    await client.end();
  });
  await client.query(`create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { name, url: url.href, client };
}

test('one of several concurrent processes runs each migration', async (t) => {
  const { url } = await createEmptyDatabase(t);
  const ran = await Promise.all([1, 2, 3].map(() => migrateToLatest(url)));
  assert.deepEqual(ran.flat(), await listMigrations());
  assert.deepEqual(await migrateToLatest(url), []);
});

test('a migration that waits too long for a lock rolls back, and is repeated until it gets the lock', async (t) => {
  const { name, url, client } = await createEmptyDatabase(t);
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  // The database is dropped with its connections if the test fails before their end.
  other.on('error', () => {});
  await other.query('begin');
  // The migration that creates this table waits for the end of the transaction.
  await other.query('create table accounts (id integer)');
  const migrating = migrateToLatest(url);
  const startOfWaiting = async (earlier: readonly string[]) => {
    const { rows } = await client.query<{ start: string }>(
      `select xact_start::text as start from pg_stat_activity where datname = $1 and wait_event_type = 'Lock'`,
      [name],
    );
    return rows.map(({ start }) => start).find((start) => !earlier.includes(start));
  };
  const first = await waitFor('a migration that waits', () => startOfWaiting([]));
  await waitFor('its repetition', () => startOfWaiting([first]));
  await other.end();
  assert.deepEqual(await migrating, await listMigrations());
});
