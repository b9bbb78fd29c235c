import type { Database } from '../../../src/platform/database/database.ts';
import { waitFor } from '../wait-for.ts';

/** A database that stops before the first statement of this name, until `go` is called. */
export function holdAt(db: Database, name: string) {
  let arrive = () => {};
  let go = () => {};
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  const going = new Promise<void>((resolve) => (go = resolve));
  const holding =
    (run: Database['run']): Database['run'] =>
    async (statement, values) => {
      if (statement.name === name) {
        arrive();
        await going;
      }
      return run(statement, values);
    };
  const held: Database = {
    ...db,
    run: holding(db.run),
    transaction: (work) => db.transaction((run) => work(holding(run))),
  };
  return { db: held, arrived, go: () => go() };
}

/** Waits until `asked` is settled, or a statement waits for a lock of another one. */
export async function settledOrBlocked(db: Database, asked: Promise<unknown>): Promise<void> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  asked.then(settle, settle);
  const text = `
select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await waitFor('an answer or a lock', async () => {
    return isSettled || (await db.run({ name: 'test-blocked', text })).length > 0 ? true : undefined;
  });
}
