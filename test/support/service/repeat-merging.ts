import type { Database } from '../../../src/platform/database/database.ts';

/** Lets the account have more unfinished tasks than any test creates. */
export async function allowManyTasks(db: Pick<Database, 'run'>, accountId: string): Promise<void> {
  const text = 'update accounts set max_unfinished_tasks = 100000 where id = $1';
  await db.run({ name: 'test-allow-many-tasks', text }, [accountId]);
}

/**
 * Makes tasks younger than they are by an hour, so that a repeat which a slow machine sends late still finds its first attempt of the
 * last minute.
 */
export async function holdRepeatWindow(db: Pick<Database, 'run'>): Promise<void> {
  const text = `alter table tasks alter created_at set default now() + interval '1 hour'`;
  await db.run({ name: 'test-hold-repeat-window', text });
}

/** Lets the account have many unfinished tasks, and turns `mergeRepeats` on for its keys, which only a new key can have otherwise. */
export async function mergeRepeats(db: Pick<Database, 'run'>, accountId: string): Promise<void> {
  await holdRepeatWindow(db);
  await allowManyTasks(db, accountId);
  const text = 'update api_keys set merge_repeats = true where account_id = $1';
  await db.run({ name: 'test-merge-repeats', text }, [accountId]);
}
