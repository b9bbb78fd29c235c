import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import pg from 'pg';
import { listMigrations, migrateToLatest } from '../../src/schema/migrator.ts';
import { postgresUrl } from '../support/servers.ts';

test('one of several concurrent processes runs each migration', async (t) => {
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
  const ran = await Promise.all([1, 2, 3].map(() => migrateToLatest(url.href)));
  assert.deepEqual(ran.flat(), await listMigrations());
  assert.deepEqual(await migrateToLatest(url.href), []);
});
