import type pg from 'pg';
import { type Database, readRow, readRows, type NamedStatement } from './database.ts';

// A statement and the function that runs it are one declaration. The function's arguments after the database are the statement's
// values, unless `values` computes them.

/** The database, or a transaction in it. */
export type StatementRunner = Pick<Database, 'run'>;
type Declared<Arguments extends readonly unknown[]> = NamedStatement & {
  readonly values?: (...given: Arguments) => readonly unknown[];
};
/** A page of rows older than `minAgeMs`, after the row with this id. */
export type AgedPageQuery = { readonly minAgeMs: number; readonly after?: string | undefined; readonly limit: number };

const asGiven = (...given: readonly unknown[]) => given;

/** Returns all rows, with null as undefined. */
export function many<Row extends pg.QueryResultRow, Arguments extends readonly unknown[] = []>({
  values = asGiven,
  ...statement
}: Declared<Arguments>) {
  return (db: StatementRunner, ...given: Arguments): Promise<readonly Row[]> =>
    readRows<Row>(db, statement, values(...given));
}

export function maybeOne<Row extends pg.QueryResultRow, Arguments extends readonly unknown[] = []>({
  values = asGiven,
  ...statement
}: Declared<Arguments>) {
  return (db: StatementRunner, ...given: Arguments): Promise<Row | undefined> =>
    readRow<Row>(db, statement, values(...given));
}

/** Returns the only row, and throws if there is none. */
export function one<Row extends pg.QueryResultRow, Arguments extends readonly unknown[] = []>({
  values = asGiven,
  ...statement
}: Declared<Arguments>) {
  return async (db: StatementRunner, ...given: Arguments): Promise<Row> => {
    const row = await readRow<Row>(db, statement, values(...given));
    if (row === undefined) throw new Error(`${statement.name} returned no row`);
    return row;
  };
}

export function noRows<Arguments extends readonly unknown[]>({ values = asGiven, ...statement }: Declared<Arguments>) {
  return async (db: StatementRunner, ...given: Arguments): Promise<void> => {
    await db.run(statement, values(...given));
  };
}
