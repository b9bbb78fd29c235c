import type pg from 'pg';
import { type Database, readRow, readRows, type Statement } from './database.ts';

// A statement and the function that runs it are one declaration. The arguments after the database are the statement's values in
// their order, unless `values` makes the values of them.

type Runner = Pick<Database, 'run'>;
type Values<Arguments extends readonly unknown[]> = (...given: Arguments) => readonly unknown[];
const asGiven = (...given: readonly unknown[]) => given;

/** All rows, with the fields of `Row`; null is undefined. */
export function many<Row extends pg.QueryResultRow, Arguments extends readonly unknown[] = []>(
  statement: Statement,
  values: Values<Arguments> = asGiven,
) {
  return (db: Runner, ...given: Arguments): Promise<readonly Row[]> => readRows<Row>(db, statement, values(...given));
}

/** The only row, or undefined. */
export function maybeOne<Row extends pg.QueryResultRow, Arguments extends readonly unknown[] = []>(
  statement: Statement,
  values: Values<Arguments> = asGiven,
) {
  return (db: Runner, ...given: Arguments): Promise<Row | undefined> => readRow<Row>(db, statement, values(...given));
}

/** The only row; throws when there is none. */
export function one<Row extends pg.QueryResultRow, Arguments extends readonly unknown[] = []>(
  statement: Statement,
  values: Values<Arguments> = asGiven,
) {
  return async (db: Runner, ...given: Arguments): Promise<Row> => {
    const row = await readRow<Row>(db, statement, values(...given));
    if (row === undefined) throw new Error(`${statement.name} answers no row`);
    return row;
  };
}

/** No rows. */
export function none<Arguments extends readonly unknown[]>(statement: Statement, values: Values<Arguments> = asGiven) {
  return async (db: Runner, ...given: Arguments): Promise<void> => {
    await db.run(statement, values(...given));
  };
}
