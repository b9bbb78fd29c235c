import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseBusyError, DatabaseUnavailableError } from '../../platform/database/database.ts';
import type { Accepted, CreateOutcome, NewTask, UncertainOutcome } from './acceptance-contract.ts';

const retryDelaysMs = [100, 400, 1_000] as const;
export const maxAcceptRetryMs = 2_000;

/** `accept` returns undefined if it neither accepts nor refuses: the task may still be accepted otherwise. */
type Acceptance<Outcome> = {
  readonly accept: (task: NewTask) => Promise<Outcome>;
  /** Refunds a task that may exist although its request failed. */
  readonly refundUncertain: RefundUncertain;
};
export type RefundUncertain = (task: { readonly taskId: string; readonly accountId: string }) => void;

/**
 * Retries a broken commit with the same task id, which finds the first commit or repeats it. If the commit stays uncertain, a client with
 * an Idempotency-Key can repeat the request; any other gets a refund.
 */
export async function acceptWithRetry<Outcome extends CreateOutcome | undefined>(
  { accept, refundUncertain }: Acceptance<Outcome>,
  task: NewTask,
): Promise<Outcome | Accepted | UncertainOutcome> {
  const startedAt = performance.now();
  let isUncertain = false;
  for (let retry = 0; ; retry += 1) {
    try {
      const answer = await accept(task);
      if (answer === undefined || answer.kind === 'accepted') return answer;
      // A replay of this request's own first commit is its acceptance.
      if (answer.kind === 'replayed') return answer.taskId === task.taskId ? { ...answer, kind: 'accepted' } : answer;
      // An earlier attempt may still commit, which would contradict this refusal.
      if (isUncertain) refundUncertain(task);
      return answer;
    } catch (error) {
      const isUnavailable = error instanceof DatabaseUnavailableError;
      isUncertain ||= isUnavailable && error.wasSent;
      // A busy database has already used up the client's waiting time.
      const mayRetry = isUnavailable && !(error instanceof DatabaseBusyError);
      const delayMs = (mayRetry ? retryDelaysMs[retry] : undefined) ?? Infinity;
      if (performance.now() - startedAt + delayMs <= maxAcceptRetryMs) await delay(delayMs);
      else if (isUncertain) return uncertainOutcome(task, refundUncertain, error);
      else throw error;
    }
  }
}

function uncertainOutcome(task: NewTask, refundUncertain: RefundUncertain, error: unknown): UncertainOutcome {
  const cause = error instanceof DatabaseUnavailableError ? (error.cause ?? error) : error;
  if (task.idempotencyKey !== undefined) return { kind: 'acceptance_unknown', cause };
  refundUncertain(task);
  return { kind: 'acceptance_reverted', cause };
}
