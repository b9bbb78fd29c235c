import { setTimeout as delay } from 'node:timers/promises';
import type { Acceptance, NewTask } from '../stores/accept-task.ts';
import { DatabaseAway, DatabaseBusy } from '../stores/database.ts';
import type { HttpDeps } from './http-deps.ts';
import { HttpError } from './errors.ts';

/** After each of these waits the acceptance is tried again, unless `patienceMs` have passed since the first try. */
const repeatDelaysMs = [100, 400, 1_000] as const;
const patienceMs = 2_000;

/**
 * Accepts a task even when the connection breaks while the commit is under way: asking again with the same task id
 * finds the first commit, or makes it. When the database stays away it throws `DatabaseAway` if
 * nothing was ever sent; else `acceptance_unknown` to a client that can
 * repeat with its Idempotency-Key; to any other `acceptance_withdrawn`, and withdraws what may have been accepted.
 */
export async function acceptSurely({ acceptTask, withdraw }: Pick<HttpDeps, 'acceptTask' | 'withdraw'>, task: NewTask) {
  const startedAt = performance.now();
  let inDoubt = false;
  for (const delayMs of [...repeatDelaysMs, undefined]) {
    try {
      const answer = ownAnswer(task, await acceptTask(task));
      // An earlier try may still be waiting for its turn in the database, and this refusal has to stay true.
      if (inDoubt && isRefusal(answer)) withdraw(task);
      return answer;
    } catch (error) {
      if (!(error instanceof DatabaseAway)) throw error;
      inDoubt ||= error.wasSent;
      // A busy database has been waited for as long as a client may have to wait.
      const isOver =
        error instanceof DatabaseBusy || delayMs === undefined || performance.now() - startedAt + delayMs > patienceMs;
      if (isOver) throw inDoubt ? givenUp(task, withdraw, error) : error;
      await delay(delayMs);
    }
  }
  throw new Error('unreachable: the last repeat returns or throws');
}

function givenUp(task: NewTask, withdraw: HttpDeps['withdraw'], error: DatabaseAway): HttpError {
  const cause = error.cause ?? error;
  if (task.idempotencyKey !== undefined) return new HttpError('acceptance_unknown', { cause });
  withdraw(task);
  return new HttpError('acceptance_withdrawn', { cause });
}

/** Meeting our own first commit again is no replay: this very request was accepted. */
function ownAnswer(task: NewTask, acceptance: Acceptance): Acceptance {
  const isOwn = acceptance.kind === 'replayed' && acceptance.taskId === task.taskId;
  return isOwn ? { ...acceptance, kind: 'accepted' } : acceptance;
}

function isRefusal({ kind }: Acceptance): boolean {
  return kind !== 'accepted' && kind !== 'replayed';
}
