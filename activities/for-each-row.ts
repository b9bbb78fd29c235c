import { Context } from '@temporalio/activity';

/** Rows read at a time. */
const pageSize = 200;
/** Rows worked on at a time: enough to start a backlog of thousands in a minute, few enough to keep their order. */
const concurrency = 16;

export type RowLoop<Row> = {
  /** The next page after the given row, in order. */
  readonly page: (after: Row | undefined, limit: number) => Promise<readonly Row[]>;
  readonly work: (row: Row) => Promise<void>;
  /** Told of a row whose work failed; the others go on. */
  readonly onError: (error: unknown, row: Row) => void;
  /** After so many milliseconds the rest is left to the next round; no limit by default. */
  readonly budgetMs?: number;
};

/**
 * Works through all pages, several rows at a time, with a heartbeat after each row. One bad row never stops the others; a
 * full page without a single success does, for then it is the engine or the store that is away. Answers how many failed.
 */
export async function forEachRow<Row>({ page, work, onError, budgetMs }: RowLoop<Row>): Promise<{ failed: number }> {
  const giveUpAt = performance.now() + (budgetMs ?? Infinity);
  let failed = 0;
  let last: Row | undefined;
  do {
    const rows = await page(last, pageSize);
    const failures = await workThrough(rows, work, onError);
    if (failures === pageSize) throw new Error(`nothing could be done about ${pageSize} rows in a row`);
    failed += failures;
    last = rows.length < pageSize ? undefined : rows.at(-1);
  } while (last !== undefined && performance.now() < giveUpAt);
  return { failed };
}

async function workThrough<Row>(
  rows: readonly Row[],
  work: RowLoop<Row>['work'],
  onError: RowLoop<Row>['onError'],
): Promise<number> {
  const waiting = rows.values();
  const context = Context.current();
  let failures = 0;
  const runner = async () => {
    // All runners draw from one iterator, so rows are begun in their order.
    for (const row of waiting) {
      context.cancellationSignal.throwIfAborted();
      await work(row).catch((error: unknown) => {
        failures += 1;
        onError(error, row);
      });
      context.heartbeat();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, runner));
  return failures;
}
