import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import pg from 'pg';
import { listMigrationsOfRelease, migrateToLatest } from '../../../src/run/schema/migrator.ts';
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
  assert.deepEqual(ran.flat(), await listMigrationsOfRelease());
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
  assert.deepEqual(await migrating, await listMigrationsOfRelease());
});

test('the schema of a newer release is left as it is, so that an operator can go back', async (t) => {
  const { url } = await createEmptyDatabase(t);
  await migrateToLatest(url);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.after(() => client.end());
  client.on('error', () => {});
  const migrations = async () =>
    (await client.query<{ name: string }>('select name from kysely_migration order by name')).rows;
  await client.query(`insert into kysely_migration (name, timestamp) values ('9999-of-a-newer-release', '2026-11-29')`);
  const before = await migrations();
  const reported: (readonly string[])[] = [];
  assert.deepEqual(await migrateToLatest(url, (names) => reported.push(names)), []);
  assert.deepEqual(reported, [['9999-of-a-newer-release']]);
  assert.deepEqual(await migrations(), before);

  // Of a release that is not the next one: it lacks what this one needs, and running it would mix the two.
  const [last] = (await listMigrationsOfRelease()).slice(-1);
  await client.query('delete from kysely_migration where name = $1', [last]);
  await assert.rejects(migrateToLatest(url), /9999-of-a-newer-release/);
});
