import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { connectTemporal } from '../src/temporal/connection/connect.ts';
import { atOnce, type Batch, runBatch } from './batch.ts';
import type { Bench, Engine } from './bench.ts';
import { startChild } from './child.ts';
import { inParallel } from './load.ts';
import type { bareTask } from './floor-workflow.ts';

export type BareSpender = 'worker' | 'Temporal' | 'PostgreSQL';

/**
 * The floor of all rows that use Temporal: workflows with one or two activities
 * that do nothing.
 */
export type BareTasks = {
  readonly perSecond: (count: number, activities: 1 | 2) => Promise<Batch<BareSpender>>;
  /** Starts a workflow with one activity, and returns its id. */
  readonly startOne: () => Promise<string>;
  close(): Promise<void>;
};

export async function startBareTasks({ postgresPid }: Bench, { address, pid }: Engine): Promise<BareTasks> {
  const queue = `bare-${randomBytes(4).toString('hex')}`;
  const worker = startChild('./floor-worker.js', {
    ...process.env,
    TEMPORAL_ADDRESS: address,
    VIDEOGEN_TASK_QUEUE: queue,
  });
  const asking: ((completed: number) => void)[] = [];
  await new Promise<void>((resolve) => {
    worker.onSaid((said) => {
      if (said === 'ready') resolve();
      if (typeof said !== 'object' || said === null) return;
      if ('completed' in said) asking.shift()?.(Number(said.completed));
    });
  });
  const { client, close } = connectTemporal({ connection: { address }, namespace: 'default' });
  const start = (taskId: string, activities: 1 | 2) =>
    client.workflow.start<typeof bareTask>('bareTask', {
      workflowId: taskId,
      taskQueue: queue,
      args: [{ activities }],
    });
  const ended = () =>
    new Promise<number>((resolve) => {
      asking.push(resolve);
      worker.tell({ ask: 'completed' });
    });
  return {
    perSecond: (count, activities) =>
      runBatch(count, {
        begin: () => inParallel(count, atOnce, () => start(uuidv7(), activities)),
        ended,
        spenders: { worker: worker.pid, Temporal: pid, PostgreSQL: postgresPid },
      }),
    startOne: async () => {
      const taskId = uuidv7();
      await start(taskId, 1);
      return taskId;
    },
    close: async () => {
      await worker.stop();
      await close();
    },
  };
}
