import DataLoader from 'dataloader';
import pLimit from 'p-limit';

export type BatchLimits = {
  /** Requests per statement; further ones go into the next statement. */
  readonly maxBatchSize: number;
  /** Concurrent statements. Requests that arrive in the meantime form the next batch. */
  readonly maxStatements: number;
};

/** Batches concurrent requests into one statement; a single one is sent on the next tick. `runBatch` returns results in order. */
export function createBatcher<Request, Result>(
  runBatch: (requests: readonly Request[]) => Promise<readonly (Result | Error)[]>,
  { maxBatchSize, maxStatements }: BatchLimits,
): (request: Request) => Promise<Result> {
  const limit = pLimit(maxStatements);
  let running: Promise<unknown> = Promise.resolve();
  const run = (requests: readonly Request[]) => {
    const results = runBatch(requests);
    running = results;
    return results;
  };
  const loader = new DataLoader(run, {
    // A key may be revoked between two requests.
    cache: false,
    maxBatchSize,
    batchScheduleFn: (dispatch) => {
      const statement = async () => {
        dispatch();
        // The requests receive the error.
        await running.catch(() => {});
      };
      setImmediate(() => void limit(statement));
    },
  });
  return (request) => loader.load(request);
}
