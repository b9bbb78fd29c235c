import { proxyActivities } from '@temporalio/workflow';
import type { BareActivities } from './floor-worker.ts';

const { nothing, ended } = proxyActivities<BareActivities>({ startToCloseTimeout: '1m' });

/** What no generation can do without: a workflow with one activity. With two of them, what none with a callback can do without. */
export async function bareTask({ taskId, activities }: { taskId: string; activities: 1 | 2 }): Promise<void> {
  if (activities === 2) await nothing(taskId);
  await ended(taskId);
}
