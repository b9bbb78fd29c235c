import { proxyActivities } from '@temporalio/workflow';
import type { BareActivities } from './floor-worker.ts';

const { nothing, ended } = proxyActivities<BareActivities>({ startToCloseTimeout: '1m' });

/**
 * The minimum of a generation: a workflow with one activity. With two
 * activities it is the minimum of a generation with a callback.
 */
export async function bareTask({ activities }: { readonly activities: 1 | 2 }): Promise<void> {
  if (activities === 2) await nothing();
  await ended();
}
