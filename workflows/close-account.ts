import { ActivityCancellationType, continueAsNew, proxyActivities, sleep } from '@temporalio/workflow';
import type { AccountPageToEmpty } from '../activities/close-account.ts';
import type { MainActivities } from '../activities/index.ts';

const { emptyAccountPage, finishClosing } = proxyActivities<MainActivities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '20s',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '1s', maximumInterval: '10m' },
});

export type ClosingProgress = AccountPageToEmpty & {
  /** Tasks, uploads and unpaid checkouts that this pass has found. */
  readonly found?: number;
  readonly passes?: number;
};

/** Limits the length of a history. */
const pagesPerRun = 200;
const [firstPauseMs, longestPauseMs] = [5_000, 600_000];

/**
 * Empties a closed account page by page. A page may leave tasks behind, such as one whose job still runs upstream, so passes over all
 * tasks are repeated until one finds nothing.
 */
export async function closeAccount({ accountId, ...from }: ClosingProgress): Promise<void> {
  let { after, found = 0, passes = 0 } = from;
  for (let pages = 0; pages < pagesPerRun; pages += 1) {
    const page = await emptyAccountPage({ accountId, after });
    after = page.after;
    found += page.found;
    if (after !== undefined) continue;
    if (found === 0 && (await finishClosing(accountId))) return;
    await sleep(Math.min(firstPauseMs * 2 ** passes, longestPauseMs));
    found = 0;
    passes += 1;
  }
  await continueAsNew<typeof closeAccount>({ accountId, after, found, passes });
}
