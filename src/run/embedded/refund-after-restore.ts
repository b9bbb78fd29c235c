import { setTimeout as pause } from 'node:timers/promises';
import type { CompleteSettings } from '../config/complete-settings-and-derived-values.ts';
import { createDatabase } from '../../platform/database/database.ts';
import { SetupError } from '../../platform/setup-errors-and-error-messages.ts';
import { connectTemporal } from '../../temporal/connection/connect.ts';
import { explainPollingWorker, refundRestoredTasks } from '../../temporal/engine/refund-and-terminate-after-restore.ts';
import { taskQueuesOf } from '../../temporal/connection/queue-names-and-workflow-ids.ts';

/** Temporal lists a workflow about a second after its start (measured). */
const pauseMs = 2_000;
const maxPasses = 60;

/** Refunds the unfinished tasks of an older copy of the data, and ends outdated workflows, until a pass finds none. Throws `SetupError`. */
export async function refundAfterRestore(
  settings: Pick<CompleteSettings, 'databaseUrl' | 'temporal' | 'taskQueue'>,
  say: (message: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const queues = taskQueuesOf(settings.taskQueue);
  const db = createDatabase({ url: settings.databaseUrl, poolSize: 2 });
  const { client, close } = connectTemporal(settings.temporal);
  let [refunded, terminated] = [0, 0];
  try {
    const problem = await explainPollingWorker(client, queues);
    if (problem !== undefined) throw new SetupError(problem);
    for (let pass = 1; ; pass += 1) {
      const found = await refundRestoredTasks(db, client, queues);
      refunded += found.refunded;
      terminated += found.terminated;
      if (pass > 1 && found.refunded === 0 && found.terminated === 0) break;
      if (pass === maxPasses)
        throw new SetupError('Temporal still lists outdated workflows. Start again with --restored.');
      await pause(pauseMs, undefined, { signal });
    }
  } finally {
    await Promise.allSettled([close(), db.close()]);
  }
  say(`Restored: ${refunded} unfinished tasks refunded, ${terminated} outdated workflows terminated.`);
}
