import { setTimeout as delay } from 'node:timers/promises';
import type { CreateOutcome, NewTask } from './create-outcome.ts';
import { DatabaseUnavailable, DatabaseBusy } from '../platform/database/database.ts';
import { HttpError } from '../http/errors.ts';
import type { HttpDeps } from '../http/http-deps.ts';

const retryDelaysMs = [100, 400, 1_000] as const;
const retryLimitMs = 2_000;

/**
 * Retries a broken commit with the same task id, which finds the first commit or repeats it. If the commit stays uncertain, a client with
 * an Idempotency-Key gets `acceptance_unknown` and can repeat the request; any other gets `acceptance_reverted` and a refund.
 */
export function acceptWithRetry(acceptance: Acceptance<CreateOutcome>, task: NewTask): Promise<CreateOutcome>;
export function acceptWithRetry(
  acceptance: Acceptance<CreateOutcome | undefined>,
  task: NewTask,
): Promise<CreateOutcome | undefined>;
export async function acceptWithRetry(
  { acceptCreate, refundUncertain }: Acceptance<CreateOutcome | undefined>,
  task: NewTask,
): Promise<CreateOutcome | undefined> {
  const startedAt = performance.now();
  let isUncertain = false;
  for (let retry = 0; ; retry += 1) {
    try {
      const answer = await acceptCreate(task);
      if (answer === undefined || answer.kind === 'accepted') return answer;
      // A replay of this request's own first commit is its acceptance.
      if (answer.kind === 'replayed') return answer.taskId === task.taskId ? { ...answer, kind: 'accepted' } : answer;
      // An earlier attempt may still commit, which would contradict this refusal.
      if (isUncertain) refundUncertain(task);
      return answer;
    } catch (error) {
      const isUnavailable = error instanceof DatabaseUnavailable;
      isUncertain ||= isUnavailable && error.wasSent;
      // A busy database has already used up the client's waiting time.
      const mayRetry = isUnavailable && !(error instanceof DatabaseBusy);
      const delayMs = (mayRetry ? retryDelaysMs[retry] : undefined) ?? Infinity;
      if (performance.now() - startedAt + delayMs > retryLimitMs) {
        throw isUncertain ? uncertainCommit(task, refundUncertain, error) : error;
      }
      await delay(delayMs);
    }
  }
}

/** `acceptCreate` returns undefined if it neither accepts nor refuses: the task may still be accepted otherwise. */
type Acceptance<Outcome> = Pick<HttpDeps, 'refundUncertain'> & {
  readonly acceptCreate: (task: NewTask) => Promise<Outcome>;
};

function uncertainCommit(task: NewTask, refundUncertain: HttpDeps['refundUncertain'], error: unknown): HttpError {
  const cause = error instanceof DatabaseUnavailable ? (error.cause ?? error) : error;
  if (task.idempotencyKey !== undefined) return new HttpError('acceptance_unknown', { cause });
  refundUncertain(task);
  return new HttpError('acceptance_reverted', { cause });
}
