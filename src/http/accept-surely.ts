import { setTimeout as delay } from 'node:timers/promises';
import { type Acceptance, acceptTask, type NewTask } from '../stores/accept-task.ts';
import { type Database, DatabaseAway } from '../stores/database.ts';
import { HttpFailure } from './http-failure.ts';

/** After each of these waits the acceptance is tried again, unless `patienceMs` have passed since the first try. */
const repeatDelaysMs = [100, 400, 1_000] as const;
const patienceMs = 2_000;

/**
 * Accepts a task even when the connection breaks while the commit is under way: asking again with the same task id
 * finds the first commit, or makes it. Throws `acceptance_unknown` when the database stays away.
 */
export async function acceptSurely(db: Database, task: NewTask): Promise<Acceptance> {
  const startedAt = performance.now();
  for (const delayMs of [...repeatDelaysMs, undefined]) {
    try {
      return ownAnswer(task, await acceptTask(db, task));
    } catch (error) {
      if (!(error instanceof DatabaseAway)) throw error;
      const isOver = delayMs === undefined || performance.now() - startedAt + delayMs > patienceMs;
      if (isOver) throw new HttpFailure('acceptance_unknown', { cause: error.cause ?? error });
      await delay(delayMs);
    }
  }
  throw new Error('unreachable: the last repeat returns or throws');
}

/** Meeting our own first commit again is no replay: this very request was accepted. */
function ownAnswer(task: NewTask, acceptance: Acceptance): Acceptance {
  const isOwn = acceptance.kind === 'replayed' && acceptance.taskId === task.taskId;
  return isOwn ? { ...acceptance, kind: 'accepted' } : acceptance;
}
