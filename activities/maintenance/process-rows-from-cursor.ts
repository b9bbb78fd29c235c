import { Context } from '@temporalio/activity';
import pLimit from 'p-limit';
import pTimeout from 'p-timeout';
import { deleteCursor, readCursor, saveCursor } from '../../src/platform/database/sweep-cursors.ts';
import type { Logger } from 'pino';
import type { TaskEventSink } from '../../src/tasks/task-metric-events.ts';
import type { Database } from '../../src/platform/database/database.ts';

export type RowProcessingDeps = { readonly db: Database; readonly log: Logger; readonly events: TaskEventSink };

export const pageSize = 200;
/** Enough rows at a time to start a backlog of thousands in a minute, few enough to preserve their order. */
const concurrency = 16;
/** A row that takes longer has failed. Far above what the store or Temporal need for a row, and below the heartbeat timeout. */
const rowLimitMs = 15_000;

type RowWork<Row> = {
  /** Names the loop in the log, and its cursor in the database. */
  readonly name: string;
  readonly work: (row: Row) => Promise<unknown>;
};

type RowLoop<Row> = RowWork<Row> & {
  /** Returns the next page after the given row, in order. */
  readonly page: (page: { readonly after: Row | undefined; readonly limit: number }) => Promise<readonly Row[]>;
  /** The cursor moves after each page, so a page must end within the activity's timeout, also if all its rows are slow. */
  readonly limit?: number;
};

/**
 * Processes all pages and returns how many rows failed. If the activity times out or its worker dies, the next run continues at the
 * cursor, so neither slow nor failing rows block later ones. A page whose rows all fail ends the run, because then Temporal or the
 * store is unavailable.
 */
export async function processRowsFromStoredCursor<Row extends object>(
  deps: RowProcessingDeps,
  { page, limit = pageSize, ...rowWork }: RowLoop<Row>,
): Promise<{ failed: number }> {
  const { db } = deps;
  const { name } = rowWork;
  // Only this loop writes cursors of this name, and each is one of its rows.
  let after = (await readCursor(db, name))?.row as Row | undefined;
  let failed = 0;
  do {
    const rows = await page({ after, limit });
    const failures = await processRows(deps, rows, rowWork);
    failed += failures;
    after = rows.length < limit ? undefined : rows.at(-1);
    await (after === undefined ? deleteCursor(db, name) : saveCursor(db, name, JSON.stringify(after)));
    if (failures === limit) throw new Error(`all ${limit} rows of a page failed`);
  } while (after !== undefined);
  return { failed };
}

/** Processes rows in their order, several at a time, with a heartbeat after each. Logs and counts those that fail. */
export async function processRows<Row extends object>(
  { log, events }: Pick<RowProcessingDeps, 'log' | 'events'>,
  rows: readonly Row[],
  { name, work }: RowWork<Row>,
): Promise<number> {
  const limited = pLimit(concurrency);
  const context = Context.current();
  let failures = 0;
  const workOn = async (row: Row) => {
    context.cancellationSignal.throwIfAborted();
    await pTimeout(work(row), { milliseconds: rowLimitMs }).catch((err: unknown) => {
      failures += 1;
      const fields: object = { ...row, err, loop: name };
      log.warn(fields, 'row failed; retried in the next run');
      events.emit({ kind: 'reconcile_finding', finding: 'failed' });
    });
    context.heartbeat();
  };
  await Promise.all(rows.map((row) => limited(workOn, row)));
  return failures;
}
