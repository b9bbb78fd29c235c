import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { TaskFailure } from '../../catalogue/tasks/task.ts';
import type { TaskEventSink, uncertainCreateOutcomes } from '../task-metric-events.ts';
import { type Database, databaseJoiningTransaction } from '../../platform/database/database.ts';
import { noRows } from '../../platform/database/declare-statements.ts';
import { lockAccount } from '../../accounts/accounts.ts';
import { findTaskByAttemptId, hasAttemptNotFailed, recordFailedAttempt } from './answer-repeated-creates.ts';
import { cancelGraceMs, failAndRefund } from '../end/end-task-statements.ts';

type UncertainCreate = { readonly taskId: string; readonly accountId: string };
/** A task that was `answered` to another attempt, or had succeeded (`too_late`), stays charged. */
type RefundOutcome = (typeof uncertainCreateOutcomes)[number];

export type UncertainCreateDeps = {
  readonly db: Database;
  readonly log: Logger;
  readonly events: TaskEventSink;
  /** A statement on a lost connection may run for 15 s; after that, a missing task was not created. */
  readonly conclusiveMs?: number;
};

const pollEveryMs = 500;
export const conclusiveAfterMs = 20_000;
const maxUncertain = 10_000;

/** `cancelled`, although the client did not cancel: the response states that the request charges nothing. */
const requestFailed: TaskFailure = {
  failCode: 'cancelled',
  failMsg: 'The task was refunded because its request failed.',
};

export type UncertainCreateRefunder = ReturnType<typeof createUncertainCreateRefunder>;

/**
 * Keeps the promise of `acceptance_reverted`: refunds uncertain creates that exist once the database is available. A process that is killed
 * first loses them; docs/decisions describes that window.
 */
export function createUncertainCreateRefunder(deps: UncertainCreateDeps) {
  const uncertain = new Map<string, UncertainCreate & { readonly since: number }>();
  let resolving: Promise<void> | undefined;

  async function resolveAll(): Promise<void> {
    while (uncertain.size > 0) {
      await delay(pollEveryMs, undefined, { ref: false });
      for (const task of uncertain.values()) {
        const outcome = await refundIfCreated(deps, task).catch(() => undefined);
        if (outcome === undefined) break;
        if (outcome === 'none' && Date.now() - task.since < (deps.conclusiveMs ?? conclusiveAfterMs)) continue;
        uncertain.delete(task.taskId);
        deps.events.emit({ kind: 'uncertain_create_resolved', outcome });
        if (outcome !== 'none') deps.log.warn({ ...task, outcome }, 'uncertain create found');
      }
    }
    resolving = undefined;
  }

  return {
    add: (task: UncertainCreate): void => {
      if (uncertain.size >= maxUncertain) deps.log.error(task, 'uncertain create not checked; too many are waiting');
      else uncertain.set(task.taskId, { ...task, since: Date.now() });
      resolving ??= resolveAll();
    },
    /** Resolves all creates for at most `limitMs`; logs the rest. */
    drain: async (limitMs: number): Promise<void> => {
      await Promise.race([resolving, delay(limitMs, undefined, { ref: false })]);
      for (const task of uncertain.values()) deps.log.error(task, 'uncertain create not resolved before shutdown');
      uncertain.clear();
    },
  };
}

const lockTask = noRows<[taskId: string]>({
  name: 'lock-uncertain-task',
  text: 'select from tasks where id = $1 for no key update',
});

/**
 * Refunds the task of an attempt if no attempt at its create was answered with it. Under the account's lock, a repeat is either recorded
 * before the decision, or finds the refunded task after it. The first final state wins: a task that has succeeded stays charged.
 */
async function refundIfCreated(
  { db, events }: UncertainCreateDeps,
  { taskId: attemptId }: UncertainCreate,
): Promise<RefundOutcome> {
  const found = await findTaskByAttemptId(db, attemptId);
  if (found === undefined) return 'none';
  const { taskId, accountId } = found;
  const ended = await db.transaction(async (run) => {
    const transaction = databaseJoiningTransaction({ run });
    // The task comes before the account, as at the end of every task.
    await lockTask(transaction, taskId);
    await lockAccount(transaction, accountId);
    await recordFailedAttempt(transaction, attemptId, taskId);
    if ((await hasAttemptNotFailed(transaction, taskId)).isAnswered) return undefined;
    return failAndRefund(transaction, taskId, requestFailed, { terminatesAfterMs: cancelGraceMs });
  });
  if (ended === undefined) return 'answered';
  const { task, changed } = ended;
  if (changed) events.emit({ kind: 'task_ended', task });
  return task.state === 'fail' ? 'refunded' : 'too_late';
}
