import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { connectTemporal } from '../src/temporal/connect.ts';
import { waitFor } from '../test/support/wait-for.ts';
import { startChild, type Child } from './child.ts';
import { inParallel } from './load.ts';
import type { bareTask, bareTaskWithCallback } from './floor-workflow.ts';

/** The floor of everything that goes through Temporal. */
export type BareTasks = {
  readonly worker: Child;
  /** Starts so many, 32 at a time, and answers how many a second were started and ended. */
  perSecond(count: number): Promise<number>;
  /** From asking for the workflow to the beginning of its first activity that is not local, in milliseconds. */
  startLagMs(): Promise<number>;
  close(): Promise<void>;
};

const atOnce = 32;

export async function startBareTasks(
  address: string,
  workflow: 'bareTask' | 'bareTaskWithCallback' = 'bareTask',
): Promise<BareTasks> {
  const queue = `bare-${randomBytes(4).toString('hex')}`;
  const worker = startChild('./floor-worker.js', {
    ...process.env,
    TEMPORAL_ADDRESS: address,
    VIDEOGEN_TASK_QUEUE: queue,
    LAST_STEP: workflow === 'bareTask' ? 'completeTask' : 'sendCallback',
  });
  let completed = 0;
  const began = new Map<string, number>();
  await new Promise<void>((resolve) => {
    worker.onSaid((said) => {
      if (said === 'ready') resolve();
      if (typeof said !== 'object' || said === null) return;
      if ('completed' in said) completed = Number(said.completed);
      if ('began' in said && 'at' in said) began.set(String(said.began), Number(said.at));
    });
  });
  const { client, close } = connectTemporal({ connection: { address }, namespace: 'default' });
  const start = async (taskId: string) => {
    await client.workflow.start<typeof bareTask | typeof bareTaskWithCallback>(workflow, {
      workflowId: taskId,
      taskQueue: queue,
      args: [{ taskId }],
    });
  };
  const perSecond = async (count: number) => {
    const [startedAt, wanted] = [performance.now(), completed + count];
    await inParallel(count, atOnce, () => start(uuidv7()));
    await waitFor(
      'the bare tasks',
      () => {
        worker.tell({ ask: 'completed' });
        return completed >= wanted ? true : undefined;
      },
      120_000,
    );
    return (1000 * count) / (performance.now() - startedAt);
  };
  return {
    worker,
    perSecond,
    startLagMs: async () => {
      const [taskId, askedAt, wanted] = [uuidv7(), performance.timeOrigin + performance.now(), completed + 1];
      await start(taskId);
      await waitFor('the end of a bare task', () => {
        worker.tell({ ask: 'completed' });
        return completed >= wanted ? true : undefined;
      });
      return (began.get(taskId) ?? Number.NaN) - askedAt;
    },
    close: async () => {
      await worker.stop();
      await close();
    },
  };
}
