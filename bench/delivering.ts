import { MockActivityEnvironment } from '@temporalio/testing';
import { createCallbackActivities } from '../activities/index.ts';
import type { CallbackAttempt, CallbackOrder } from '../activities/send-callback.ts';
import { readConfig } from '../src/config.ts';
import { createLog } from '../src/log.ts';
import { createMetrics } from '../src/metrics.ts';
import { externalSettings } from '../src/main/settings.ts';
import { openStore } from '../src/main/open-store.ts';
import { openWorkerDependencies } from '../src/main/worker-dependencies.ts';
import { inParallel } from './load.ts';

// A process of its own: `sendCallback` as the worker runs it, over the worker's own database, secrets and guarded client, with
// nothing of the engine but an activity's context. Told which tasks, it makes one attempt at each and says how long they took.

const settings = externalSettings(readConfig());
const log = createLog({ level: settings.logLevel });
const rooms = openWorkerDependencies(settings, log, createMetrics(), await openStore(settings, log, { writes: true }));
const { sendCallback } = createCallbackActivities(rooms.deps);

async function deliver(taskId: string): Promise<void> {
  const order = { taskId, isLast: false, nextPauseMs: 5_000 };
  const { kind } = await new MockActivityEnvironment().run<[CallbackOrder], CallbackAttempt, typeof sendCallback>(
    sendCallback,
    order,
  );
  if (kind !== 'delivered') throw new Error(`the callback of ${taskId} came out as ${kind}`);
}

type Word = { readonly taskIds: readonly string[]; readonly atOnce: number };

process.on('message', (word: Word) => {
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();
  void inParallel(word.taskIds.length, word.atOnce, async (index) => deliver(word.taskIds[index] ?? '')).then(() => {
    const { user, system } = process.cpuUsage(cpuBefore);
    process.send?.({ tookMs: performance.now() - startedAt, processorMs: (user + system) / 1000 });
  });
});
process.once('SIGTERM', () => void rooms.close().then(() => process.exit(0)));
process.send?.('ready');
