import { randomUUID } from 'node:crypto';
import pLimit from 'p-limit';
import type pg from 'pg';
import { type Database, databaseJoiningTransaction } from '../../../src/platform/database/database.ts';
import type { StatementRunner } from '../../../src/platform/database/declare-statements.ts';

/** Runs `work` in a transaction, whose clock stands still, so that limits of time are met exactly; then takes everything back. */
export async function rolledBack(db: Database, work: (transaction: Database) => Promise<void>): Promise<void> {
  const done = new Error('rolled back');
  const outcome = await db
    .transaction(async (run) => {
      // A connection runs one statement at a time.
      const limit = pLimit(1);
      const inTurn: Database['run'] = <Row extends pg.QueryResultRow>(...given: Parameters<Database['run']>) =>
        limit(() => run<Row>(...given));
      await work(databaseJoiningTransaction({ run: inTurn }));
      throw done;
    })
    .catch((error: unknown) => error);
  if (outcome !== done) throw outcome;
}

/** A time so many milliseconds before the transaction began; a negative number is after it. */
class TimeBefore {
  readonly ms: number;

  constructor(ms: number) {
    this.ms = ms;
  }
}

export const ago = (ms: number) => new TimeBefore(ms);

/** Inserts a row with these columns. */
export async function insertRow(
  db: StatementRunner,
  table: string,
  row: Readonly<Record<string, unknown>>,
): Promise<void> {
  const given = Object.entries(row);
  const places = given.map(([, value], index) =>
    value instanceof TimeBefore ? `now() - $${index + 1}::float8 * interval '1 millisecond'` : `$${index + 1}`,
  );
  const text = `insert into ${table} (${given.map(([name]) => name).join()}) values (${places.join()})`;
  const values = given.map(([, value]) => (value instanceof TimeBefore ? value.ms : value));
  await db.run({ name: 'test-insert-row', text, plannedAnew: true }, values);
}

/** Inserts a task, which waits unless `row` says otherwise, and returns its id. */
export async function insertTask(
  db: StatementRunner,
  accountId: string,
  row: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const id = randomUUID();
  const about = { id, account_id: accountId, model: 'm', price_name: 'standard', param: '{"input":{}}' };
  const terms = { credits_charged: 132, deadline_ms: 60_000, request_sha256: Buffer.alloc(32) };
  await insertRow(db, 'tasks', { ...about, ...terms, ...row });
  return id;
}

/** The columns of a task that failed so long ago. */
export const failedAgo = (ms: number, failCode = 'internal') => ({
  state: 'fail',
  fail_code: failCode,
  fail_msg: `It failed with ${failCode}.`,
  credits_refunded: 132,
  completed_at: ago(ms),
});
