import { Context } from '@temporalio/activity';
import pLimit from 'p-limit';
import type { ActivityDeps } from './deps.ts';

/** Rows read at a time. */
const pageSize = 200;
/** Rows worked on at a time: enough to start a backlog of thousands in a minute, few enough to keep their order. */
const concurrency = 16;

export type RowLoop<Row> = {
  /** The next page after the given row, in order. */
  readonly page: (after: Row | undefined, limit: number) => Promise<readonly Row[]>;
  readonly work: (row: Row) => Promise<void>;
  /** Takes a row whose work failed; the others continue. */
  readonly onError: (error: unknown, row: Row) => void;
  /** After this time the rest is left to the next run; no limit by default. */
  readonly budgetMs?: number;
};

/**
 * Works through all pages, several rows at a time, with a heartbeat after each row. One bad row never stops the others, but a
 * full page without a success does, because then Temporal or the store is unavailable. Returns how many failed.
 */
export async function forEachRow<Row>({ page, work, onError, budgetMs }: RowLoop<Row>): Promise<{ failed: number }> {
  const giveUpAt = performance.now() + (budgetMs ?? Infinity);
  let failed = 0;
  let last: Row | undefined;
  do {
    const rows = await page(last, pageSize);
    const failures = await workThrough(rows, work, onError);
    if (failures === pageSize) throw new Error(`all ${pageSize} rows of a page failed`);
    failed += failures;
    last = rows.length < pageSize ? undefined : rows.at(-1);
  } while (last !== undefined && performance.now() < giveUpAt);
  return { failed };
}

/** Begins the rows in their order; returns how many failed. */
async function workThrough<Row>(
  rows: readonly Row[],
  work: RowLoop<Row>['work'],
  onError: RowLoop<Row>['onError'],
): Promise<number> {
  const limited = pLimit(concurrency);
  const context = Context.current();
  let failures = 0;
  const workOn = async (row: Row) => {
    context.cancellationSignal.throwIfAborted();
    await work(row).catch((error: unknown) => {
      failures += 1;
      onError(error, row);
    });
    context.heartbeat();
  };
  await Promise.all(rows.map((row) => limited(workOn, row)));
  return failures;
}

/** A row is left to the next run of `reconcile`. */
export function notSettled({ log, onFinding }: Pick<ActivityDeps, 'log' | 'onFinding'>, fields: object, event: string) {
  log.warn(fields, event);
  onFinding('failed');
}
