import type { Database } from '../src/platform/database/database.ts';
import { madeUpMeasures, taskParam } from '../test/support/tasks/tasks.ts';

const insertTasks = {
  name: 'bench-finished-tasks',
  text: `
with numbered as (
  select gen_random_uuid() as id, ($1::uuid[])[1 + n % cardinality($1::uuid[])] as account_id, now() - n * interval '1 second' as at
  from generate_series(1, $2::int) n
), task as (
  insert into tasks (id, account_id, model, price_name, param, state, credits_charged, result, request_sha256, deadline_ms, created_at, updated_at,
    generation_started_at, completed_at)
  select id, account_id, 'videogen-2.0-fast', 'standard', $3::json, 'success', 165, (jsonb_build_object('videoKey', 'results/' || id || '/video.mp4', 'posterKey', 'results/' || id || '/poster.jpg') || $4::jsonb)::json, decode(repeat('00', 32), 'hex'), 1800000, at, at, at, at
  from numbered
  returning id, account_id
)
insert into ledger_entries (account_id, task_id, kind, amount, balance_after)
select account_id, id, 'charge', -165, 0 from task
returning task_id`,
};

const chunk = 5_000;

/**
 * Inserts finished tasks and their charges, and returns some of their ids. They
 * are for reads only: no balance pays for them.
 */
export async function addFinishedTasks(
  db: Database,
  accountIds: readonly string[],
  count: number,
): Promise<readonly string[]> {
  let ids: string[] = [];
  for (let done = 0; done < count; done += chunk) {
    const values = [
      accountIds,
      Math.min(chunk, count - done),
      JSON.stringify(taskParam('a paper boat')),
      JSON.stringify(madeUpMeasures),
    ];
    const rows = await db.run<{ task_id: string }>(insertTasks, values);
    ids = ids.concat(rows.slice(0, 200).map((row) => row.task_id));
  }
  await settle(db);
  return ids;
}

/**
 * Runs the maintenance that PostgreSQL would run within minutes, so that no row
 * pays for the writes of others.
 */
async function settle(db: Database): Promise<void> {
  await db.run({ name: 'bench-vacuum', text: 'vacuum (analyze)' });
  await db.run({ name: 'bench-checkpoint', text: 'checkpoint' });
}
