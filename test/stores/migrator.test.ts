import { FileMigrationProvider, Kysely, Migrator, PostgresDialect } from 'kysely';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { promises as fs } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { migrateToLatest } from '../../src/stores/migrator.ts';
import { postgresUrl } from '../support/servers.ts';

const migrationFolder = fileURLToPath(new URL('../../src/stores/migrations', import.meta.url));

test('a database whose prices were called rates keeps them and their guards, and the old release goes on beside the new one', async () => {
  const server = new URL(await postgresUrl());
  const name = `test_${randomBytes(6).toString('hex')}`;
  await asked(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  try {
    await migrateTo(url, '0010-task-deadlines');
    await asked(url, setBefore('12'));
    assert.ok((await migrateToLatest(url.href)).includes('0011-prices'));

    // What a process of the release before goes on to ask.
    await asked(url, setBefore('13'));
    await asked(url, "update rates set withdrawn_at = now(), withdrawn_by = 'x' where credits_per_second = 13");
    const rows = await asked(url, 'select id, credits_per_second, withdrawn_by from prices order by id');
    assert.deepEqual(rows, [
      { id: '1', credits_per_second: 12, withdrawn_by: null },
      { id: '2', credits_per_second: 13, withdrawn_by: 'x' },
    ]);
    for (const table of ['prices', 'rates']) {
      await assert.rejects(
        asked(url, `update ${table} set credits_per_second = 1`),
        /price 1 can not be changed any more/,
      );
      await assert.rejects(asked(url, `delete from ${table}`), /not allowed/);
    }
    const left = await asked(
      url,
      `
select conname as name from pg_constraint where conname ~ '(^|_)rates?(_|$)'
union all select relname from pg_class where relname ~ '(^|_)rates?(_|$)' and relname <> 'rates'
union all select tgname from pg_trigger where tgname ~ '(^|_)rates?(_|$)'
union all select proname from pg_proc where proname ~ '_rate$'`,
    );
    assert.deepEqual(left, []);
  } finally {
    await asked(server, `drop database ${name} with (force)`);
  }
});

/** A price from tomorrow on, as the release before sets it. */
function setBefore(credits: string): string {
  return `insert into rates (model, credits_per_second, effective_from, who, reason)
values ('m', ${credits}, now() + interval '1 day', 'x', 'r')`;
}

async function migrateTo(url: URL, last: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: url.href, max: 1 });
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    const { error } = await new Migrator({
      db,
      provider: new FileMigrationProvider({ fs, path, migrationFolder }),
    }).migrateTo(last);
    if (error !== undefined) throw error;
  } finally {
    await db.destroy();
  }
}

async function asked(url: URL, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(text);
    return rows;
  } finally {
    await client.end();
  }
}
