import { Context } from '@temporalio/activity';
import pLimit from 'p-limit';
import pTimeout from 'p-timeout';
import type { ActivityDeps } from './deps.ts';

/** Rows read at a time. */
const pageSize = 200;
/** Rows worked on at a time: enough to start a backlog of thousands in a minute, few enough to keep their order. */
const concurrency = 16;
/** Of housekeeping: far above what the store or Temporal need, and below the time after which a silent activity is taken for dead. */
export const slowRowMs = 15_000;

export type RowLoop<Row> = {
  /** The next page after the given row, in order. */
  readonly page: (after: Row | undefined, limit: number) => Promise<readonly Row[]>;
  readonly work: (row: Row) => Promise<void>;
  /** Takes a row whose work failed; the others continue. */
  readonly onError: (error: unknown, row: Row) => void;
  /** After this time no row is begun, and the rest is left to the next run; no limit by default. */
  readonly budgetMs?: number;
  /** A row that takes longer has failed, and is waited for no more; no limit by default. */
  readonly rowLimitMs?: number;
};

/**
 * Works through all pages, several rows at a time, with a heartbeat after each row. One bad row never stops the others, but a
 * full page without a success does, because then Temporal or the store is unavailable. Returns how many failed.
 */
export async function forEachRow<Row>(loop: RowLoop<Row>): Promise<{ failed: number }> {
  const giveUpAt = performance.now() + (loop.budgetMs ?? Infinity);
  let failed = 0;
  let last: Row | undefined;
  do {
    const rows = await loop.page(last, pageSize);
    const failures = await workThrough(rows, loop, giveUpAt);
    if (failures === pageSize) throw new Error(`all ${pageSize} rows of a page failed`);
    failed += failures;
    last = rows.length < pageSize ? undefined : rows.at(-1);
  } while (last !== undefined && performance.now() < giveUpAt);
  return { failed };
}

/** Begins the rows in their order; returns how many failed. */
async function workThrough<Row>(
  rows: readonly Row[],
  { work, onError, rowLimitMs = Infinity }: RowLoop<Row>,
  giveUpAt: number,
): Promise<number> {
  const limited = pLimit(concurrency);
  const context = Context.current();
  let failures = 0;
  const workOn = async (row: Row, index: number) => {
    context.cancellationSignal.throwIfAborted();
    // The first ones are begun in any case, so that a slow list does not leave every run without a row.
    if (index >= concurrency && performance.now() >= giveUpAt) return;
    await pTimeout(work(row), { milliseconds: rowLimitMs }).catch((error: unknown) => {
      failures += 1;
      onError(error, row);
    });
    context.heartbeat();
  };
  await Promise.all(rows.map((row, index) => limited(workOn, row, index)));
  return failures;
}

/**
 * Does one after the other, each in an equal share of the time that is left, so that none keeps the others from their turn, also one
 * that fails. What one leaves of its share is the next one's. Throws at the end what failed.
 */
export async function inTurns(
  budgetMs: number,
  turns: readonly ((budgetMs: number) => Promise<unknown>)[],
): Promise<void> {
  const until = performance.now() + budgetMs;
  const failures: unknown[] = [];
  for (const [index, turn] of turns.entries()) {
    const leftMs = until - performance.now();
    if (leftMs <= 0) break;
    await turn(leftMs / (turns.length - index)).catch((error: unknown) => {
      Context.current().cancellationSignal.throwIfAborted();
      failures.push(error);
    });
    Context.current().heartbeat();
  }
  if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('; '));
}

/** A row is left to the next run of `reconcile`. */
export function notSettled({ log, events }: Pick<ActivityDeps, 'log' | 'events'>, fields: object, event: string) {
  log.warn(fields, event);
  events.emit({ kind: 'reconcile_finding', finding: 'failed' });
}
