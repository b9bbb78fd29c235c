import { setTimeout as delay } from 'node:timers/promises';
import type { Acceptance, NewTask } from '../../stores/acceptance.ts';
import { DatabaseAway, DatabaseBusy } from '../../stores/database.ts';
import { HttpError } from '../errors.ts';
import type { HttpDeps } from '../http-deps.ts';

/** The acceptance is tried again after each of these delays, unless `retryLimitMs` have passed since the first try. */
const retryDelaysMs = [100, 400, 1_000] as const;
const retryLimitMs = 2_000;

/**
 * Accepts a task even when the connection breaks during the commit: a retry with the same task id finds the first commit, or
 * makes it. When the database stays unavailable, or fails otherwise, it throws that fault if no commit is in doubt. Else the
 * commit is uncertain: a client with an Idempotency-Key gets `acceptance_unknown` and can repeat the request; any other gets
 * `acceptance_withdrawn`, and the task is refunded in case it was accepted.
 */
export async function acceptWithRetry(
  { acceptTask, refundUncertain }: Pick<HttpDeps, 'acceptTask' | 'refundUncertain'>,
  task: NewTask,
) {
  const startedAt = performance.now();
  let isUncertain = false;
  for (const delayMs of [...retryDelaysMs, undefined]) {
    try {
      const answer = ownAnswer(task, await acceptTask(task));
      // An earlier try may still commit, and this refusal has to stay true.
      if (isUncertain && isRefusal(answer)) refundUncertain(task);
      return answer;
    } catch (error) {
      if (!(error instanceof DatabaseAway)) throw isUncertain ? uncertainCommit(task, refundUncertain, error) : error;
      isUncertain ||= error.wasSent;
      // The wait for a busy database was as long as a client may have to wait.
      const isOver =
        error instanceof DatabaseBusy ||
        delayMs === undefined ||
        performance.now() - startedAt + delayMs > retryLimitMs;
      if (isOver) throw isUncertain ? uncertainCommit(task, refundUncertain, error) : error;
      await delay(delayMs);
    }
  }
  throw new Error('unreachable: the last try returns or throws');
}

function uncertainCommit(task: NewTask, refundUncertain: HttpDeps['refundUncertain'], error: unknown): HttpError {
  const cause = error instanceof DatabaseAway ? (error.cause ?? error) : error;
  if (task.idempotencyKey !== undefined) return new HttpError('acceptance_unknown', { cause });
  refundUncertain(task);
  return new HttpError('acceptance_withdrawn', { cause });
}

/** A replay of this request's own first commit: this request was accepted. */
function ownAnswer(task: NewTask, acceptance: Acceptance): Acceptance {
  const isOwn = acceptance.kind === 'replayed' && acceptance.taskId === task.taskId;
  return isOwn ? { ...acceptance, kind: 'accepted' } : acceptance;
}

function isRefusal({ kind }: Acceptance): boolean {
  return kind !== 'accepted' && kind !== 'replayed';
}
