import { Context } from '@temporalio/activity';
import pLimit from 'p-limit';
import pTimeout from 'p-timeout';
import { deleteCursor, readCursor, saveCursor } from '../src/stores/maintenance.ts';
import type { ActivityDeps } from './deps.ts';

/** Rows read at a time. */
export const pageSize = 200;
/** Rows processed at a time: enough to start a backlog of thousands in a minute, few enough to keep their order. */
const concurrency = 16;
/** Far above what the store or Temporal need for a row, and below the heartbeat timeout. */
export const slowRowMs = 15_000;

type RowWork<Row> = {
  readonly work: (row: Row) => Promise<void>;
  /** Takes a row whose work failed; the others continue. */
  readonly onError: (error: unknown, row: Row) => void;
  /** A row that takes longer has failed; no limit by default. */
  readonly rowLimitMs?: number;
};

export type RowLoop<Row> = RowWork<Row> & {
  /** Under this name the database keeps where the loop is, for a run that continues it. */
  readonly name: string;
  /** Returns the next page after the given row, in order. */
  readonly page: (after: Row | undefined, limit: number) => Promise<readonly Row[]>;
};

/**
 * Processes all pages and returns how many rows failed. A run that is cut off by its activity's timeout or a crash is continued by the
 * next one, so neither slow nor failing rows keep later ones from their turn. A page whose rows all fail ends the run, because then
 * Temporal or the store is unavailable.
 */
export async function forEachRow<Row extends object>(
  { db }: Pick<ActivityDeps, 'db'>,
  { name, page, ...rowWork }: RowLoop<Row>,
): Promise<{ failed: number }> {
  // Only this loop writes cursors of this name, and each is one of its rows.
  let last = (await readCursor(db, name))?.row as Row | undefined;
  let failed = 0;
  for (;;) {
    const rows = await page(last, pageSize);
    const failures = await processRows(rows, rowWork);
    failed += failures;
    last = rows.length < pageSize ? undefined : rows.at(-1);
    await (last === undefined ? deleteCursor(db, name) : saveCursor(db, name, JSON.stringify(last)));
    if (failures === pageSize) throw new Error(`all ${pageSize} rows of a page failed`);
    if (last === undefined) return { failed };
  }
}

/** Processes rows in their order, several at a time, with a heartbeat after each. Returns how many failed. */
export async function processRows<Row>(
  rows: readonly Row[],
  { work, onError, rowLimitMs = Infinity }: RowWork<Row>,
): Promise<number> {
  const limited = pLimit(concurrency);
  const context = Context.current();
  let failures = 0;
  const workOn = async (row: Row) => {
    context.cancellationSignal.throwIfAborted();
    await pTimeout(work(row), { milliseconds: rowLimitMs }).catch((error: unknown) => {
      failures += 1;
      onError(error, row);
    });
    context.heartbeat();
  };
  await Promise.all(rows.map((row) => limited(workOn, row)));
  return failures;
}

/** Records a row that is left to the next run. */
export function notSettled({ log, onFinding }: Pick<ActivityDeps, 'log' | 'onFinding'>, fields: object, event: string) {
  log.warn(fields, event);
  onFinding('failed');
}
