import { proxyActivities } from '@temporalio/workflow';
import type { MainActivities } from '../activities/index.ts';
import type { ProviderTestReport } from '../src/catalogue/providers/provider-test-outcome.ts';

/** An operator waits for the result, so nothing is retried. */
const { testProvider: run } = proxyActivities<Pick<MainActivities, 'testProvider'>>({
  scheduleToCloseTimeout: '20s',
  startToCloseTimeout: '15s',
  retry: { maximumAttempts: 1 },
});

export async function testProvider(tested: { readonly provider: string }): Promise<ProviderTestReport> {
  return await run(tested);
}
