import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { FloorActivities } from './floor-worker.ts';

const local = proxyLocalActivities<Pick<FloorActivities, 'charge'>>({ startToCloseTimeout: '20s' });
const main = proxyActivities<Pick<FloorActivities, 'store' | 'complete'>>({ startToCloseTimeout: '20s' });

/** The bare shape of a task: one local activity, one on a queue of its own and two more, none of which does anything. */
export async function bareTask({ taskId, queue }: { taskId: string; queue: string }): Promise<void> {
  const generation = proxyActivities<Pick<FloorActivities, 'generate'>>({
    taskQueue: `${queue}-generation`,
    startToCloseTimeout: '20s',
  });
  await local.charge();
  await generation.generate(taskId);
  await main.store();
  await main.complete();
}
