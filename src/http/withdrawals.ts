import type { Logger } from 'pino';
import type { TaskFailure } from '../domain/task.ts';
import type { Database } from '../stores/database.ts';
import { cancelGraceMs, findTask, refundTask } from '../stores/tasks.ts';

/** A task that may have been accepted although its client was told that it was not. */
export type DoubtfulTask = { readonly taskId: string; readonly accountId: string };

export type WithdrawalOutcome = 'none' | 'refunded' | 'too_late';

export type Withdrawals = {
  /** Takes a task and returns at once; never throws. */
  readonly add: (task: DoubtfulTask) => void;
  /** Waits until nothing is in doubt any more, for `limitMs` at most; what is left then is named in the log. */
  readonly drain: (limitMs: number) => Promise<void>;
};

export type WithdrawalDeps = {
  readonly db: Database;
  readonly log: Logger;
  readonly onOutcome?: (outcome: WithdrawalOutcome) => void;
  /** A statement on a lost connection may still be running, but no longer than its limit of 15 s: then absence is proof. */
  readonly conclusiveMs?: number;
};

const lookEveryMs = 500;
const defaultConclusiveMs = 20_000;
/** Tasks in doubt at most; each costs a failed request, so this many mean an outage under full load. */
const maxDoubtful = 10_000;

const withdrawn: TaskFailure = {
  failCode: 'cancelled',
  failMsg: 'The task was withdrawn, because its request was answered with an error.',
};

/**
 * Makes the answer 503 true: "nothing was charged". Keeps the tasks in doubt in memory, looks for them as soon as the
 * database answers again, and refunds those that exist. A process that is killed meanwhile forgets them; that window is
 * described in docs/decisions.md.
 */
export function createWithdrawals(deps: WithdrawalDeps): Withdrawals {
  const doubtful = new Map<string, DoubtfulTask & { readonly since: number }>();
  let looking: Promise<void> | undefined;

  async function lookUntilNoneIsLeft(): Promise<void> {
    while (doubtful.size > 0) {
      await pause();
      for (const task of doubtful.values()) {
        const outcome = await withdraw(deps, task).catch(() => undefined);
        // The database is still away: no use in asking for the others now.
        if (outcome === undefined) break;
        if (outcome === 'none' && Date.now() - task.since < (deps.conclusiveMs ?? defaultConclusiveMs)) continue;
        doubtful.delete(task.taskId);
        deps.onOutcome?.(outcome);
        if (outcome !== 'none') deps.log.warn({ ...task, outcome }, 'a task in doubt was found after all');
      }
    }
    looking = undefined;
  }

  return {
    add: (task) => {
      if (doubtful.size >= maxDoubtful) deps.log.error(task, 'too many tasks in doubt: this one is not looked for');
      else doubtful.set(task.taskId, { ...task, since: Date.now() });
      looking ??= lookUntilNoneIsLeft();
    },
    drain: async (limitMs) => {
      await Promise.race([looking, pause(limitMs)]);
      for (const task of doubtful.values()) deps.log.error(task, 'stopped while this task was in doubt');
      doubtful.clear();
    },
  };
}

/** The first final state wins: a task that has succeeded meanwhile is delivered, and stays charged. */
async function withdraw({ db }: WithdrawalDeps, { taskId }: DoubtfulTask): Promise<WithdrawalOutcome> {
  if ((await findTask(db, taskId)) === undefined) return 'none';
  const { task } = await refundTask(db, taskId, withdrawn, { terminatesAfterMs: cancelGraceMs });
  return task.state === 'fail' ? 'refunded' : 'too_late';
}

function pause(ms = lookEveryMs): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
