import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { Database } from '../../../src/platform/database/database.ts';
import { findDelivery } from '../../../src/tasks/callbacks/deliveries.ts';
import { listMigrationsOfRelease } from '../../../src/run/schema/migrator.ts';
import { startCallbackReceiver } from '../../support/servers/callback-receiver.ts';
import { createTestDatabase } from '../../support/database/test-database.ts';
import { createInstallation, model } from '../../support/service/test-installation.ts';
import { waitForEnd } from '../../support/tasks/tasks.ts';
import { waitFor } from '../../support/wait-for.ts';

// The first schema that could be installed, with rows of every kind: `pg_dump --inserts` of PostgreSQL 15, at commit 7c0a96a5. One task
// has a job upstream, three wait, and several callbacks and events are owed.
const firstInstallation = asOfNow(readFileSync('test/run/schema/fixtures/2026-11.sql', 'utf8'));

/** Moves all times of 2026 by the time since the dump, because a task that has waited for a day is refunded. */
function asOfNow(dump: string): string {
  const passedMs = Date.now() - Date.parse('2026-11-29T05:59:44Z');
  return dump.replaceAll(
    /'(2026-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)\+00'/g,
    (_literal, day: string, time: string) => {
      return `'${new Date(Date.parse(`${day}T${time}Z`) + passedMs).toISOString()}'`;
    },
  );
}

/** Everything that a migration may change: one line for each column, constraint, index, trigger and function. */
const schemaText = `
select format('column %s.%s %s %s default %s', table_name, column_name, data_type, is_nullable, column_default) as line
from information_schema.columns where table_schema = 'public'
union all select format('constraint %s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
from pg_constraint where connamespace = 'public'::regnamespace
union all select indexdef from pg_indexes where schemaname = 'public'
union all select pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
union all select pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace
union all select format('relation %s %s', relname, reloptions) from pg_class
where relnamespace = 'public'::regnamespace and relkind in ('r', 'v', 'S') order by line`;

const schemaOf = async (db: Database) =>
  (await db.run<{ line: string }>({ name: 'test-schema', text: schemaText })).map(({ line }) => line);

describe('an installation of November 2026', () => {
  test('is migrated to the schema of a new installation', async () => {
    const [fresh, upgraded] = [await createTestDatabase(), await createTestDatabase(firstInstallation)];
    try {
      const text = 'select name from kysely_migration order by name';
      const names = await upgraded.db.run<{ name: string }>({ name: 'test-migrations', text });
      assert.deepEqual(
        names.map(({ name }) => name),
        await listMigrationsOfRelease(),
      );
      assert.deepEqual(await schemaOf(upgraded.db), await schemaOf(fresh.db));
    } finally {
      await Promise.all([fresh.close(), upgraded.close()]);
    }
  });

  test('finishes its tasks with the jobs that they have, delivers what it owes, and its books are right', async () => {
    const receiver = await startCallbackReceiver();
    const installation = await createInstallation({}, { instant: false }, firstInstallation);
    const { db, upstream, engine } = installation;
    try {
      const url = `${receiver.url}/hook`;
      // Reconcile restarts a delivery that is long overdue.
      const due = `update callback_deliveries set url = $1, due_at = now() - interval '1 day' where state = 'pending'`;
      await db.run({ name: 'test-receiver', text: due }, [url]);
      const text = `
select t.id as "taskId", t.account_id as "accountId", j.job_id as "jobId"
from tasks t left join provider_jobs j on j.task_id = t.id and j.outcome is null where t.completed_at is null`;
      const unfinished = await db.run<{ taskId: string; accountId: string; jobId: string | null }>({
        name: 'test-unfinished',
        text,
      });
      const generating = unfinished.filter(({ jobId }) => jobId !== null);
      assert.deepEqual([unfinished.length, generating.length], [4, 1]);
      const owed = await db.run<{ id: string }>({
        name: 'test-owed',
        text: `select id from callback_deliveries where state = 'pending'`,
      });
      assert.ok(owed.length >= 2);
      // The jobs go on upstream and the workflows in Temporal, whose own data is not part of the database.
      for (const { taskId, accountId, jobId } of generating) {
        upstream.jobs.push({ jobId: jobId ?? '', jobKey: taskId, taskId, state: 'running' });
        await engine.startTask({ taskId, accountId, model });
      }
      await installation.startWorker();
      const stop = installation.keepReconciling();
      try {
        await upstream.whileFinishing(async () => {
          for (const { taskId } of unfinished) assert.equal((await waitForEnd(db, taskId)).state, 'success', taskId);
        });
        assert.equal(upstream.jobs.length, 4, 'only the tasks that waited have new jobs');
        for (const { id } of owed) {
          await waitFor(`delivery ${id}`, async () =>
            (await findDelivery(db, id))?.state === 'delivered' ? true : undefined,
          );
        }
      } finally {
        stop();
      }
    } finally {
      await installation.close();
      await receiver.close();
    }
  });
});
