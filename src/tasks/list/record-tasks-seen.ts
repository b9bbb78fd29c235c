import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { CalledBy } from '../../accounts/keys/scopes-dialects-and-caller.ts';
import type { StatementRunner } from '../../platform/database/declare-statements.ts';
import { recordTasksSeen } from '../accept/answer-repeated-creates.ts';

/** Clients poll, and a task is recorded once. */
const maxRecorded = 50_000;

/**
 * Records which tasks the clients of an API key have read. A task that was read was delivered, so that a repeat with a higher number than
 * its attempts' is that of another video (`answer-repeated-creates.ts`).
 */
export type ReadTaskRecorder = { record(by: CalledBy, tasks: readonly { readonly taskId: string }[]): Promise<void> };

export function createReadTaskRecorder(db: StatementRunner, log: Logger): ReadTaskRecorder {
  const recorded = new LRUCache<string, true>({ max: maxRecorded });
  return {
    record: async (by, tasks) => {
      if (by.kind !== 'key') return;
      const { keyId } = by;
      const nameOf = (taskId: string) => `${keyId} ${taskId}`;
      const fresh = tasks.map(({ taskId }) => taskId).filter((taskId) => !recorded.has(nameOf(taskId)));
      if (fresh.length === 0) return;
      try {
        await recordTasksSeen(db, fresh, keyId);
        for (const taskId of fresh) recorded.set(nameOf(taskId), true);
      } catch (error) {
        // The read succeeds: without the record, a repeat may return this task instead of a new one, and charges nothing.
        log.warn({ err: error }, 'read of tasks not recorded');
      }
    },
  };
}
