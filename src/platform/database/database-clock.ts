import { one } from './declare-statements.ts';

/** Reads the database's clock, in Unix milliseconds. All machines agree on it. */
export const readDatabaseTime = one<{ readonly now: number }>({
  name: 'read-clock',
  text: 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now',
});

/** Receivers accept signatures that are a few minutes old, and links expire by the clock of a machine. */
export const clockDifferenceWarnMs = 2_000;
