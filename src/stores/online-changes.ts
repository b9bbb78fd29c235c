import { type Kysely, sql } from 'kysely';

// Changes of large tables that read them through while others write to them. They cannot be parts of a transaction, so each can be
// asked whether it is made, and is made again when it was broken off.

export type OnlineChange =
  | {
      readonly index: string;
      /** Its table, columns and condition, as behind `on` in SQL. */
      readonly on: string;
    }
  | {
      /** Added as `not valid`, to be checked for the rows of before. */
      readonly constraint: string;
      readonly of: string;
    }
  | {
      /** An index of before that nothing needs any more; it is not made on the way either. */
      readonly dropped: string;
    };

/** Whether the change is there and whole. */
export async function isMade(db: Kysely<unknown>, change: OnlineChange): Promise<boolean> {
  if ('dropped' in change) {
    const { rows: absent } = await sql`select where to_regclass(${change.dropped}) is null`.execute(db);
    return absent.length > 0;
  }
  const { rows } =
    'index' in change
      ? await sql`select from pg_index where indexrelid = to_regclass(${change.index}) and indisvalid`.execute(db)
      : await sql`select from pg_constraint
          where conrelid = to_regclass(${change.of}) and conname = ${change.constraint} and convalidated`.execute(db);
  return rows.length > 0;
}

/** Makes it; `beside others` locks out no reader and no writer, waits for open transactions, and takes as long as the table is large. */
export async function make(db: Kysely<unknown>, change: OnlineChange, how: 'alone' | 'beside others'): Promise<void> {
  if ('constraint' in change) {
    await sql`alter table ${sql.table(change.of)} validate constraint ${sql.ref(change.constraint)}`.execute(db);
    return;
  }
  const concurrently = sql.raw(how === 'alone' ? '' : 'concurrently');
  // An interrupted build leaves an index that is written to and never read.
  const index = 'dropped' in change ? change.dropped : change.index;
  await sql`drop index ${concurrently} if exists ${sql.ref(index)}`.execute(db);
  if ('dropped' in change) return;
  await sql`create index ${concurrently} ${sql.ref(change.index)} on ${sql.raw(change.on)}`.execute(db);
}
