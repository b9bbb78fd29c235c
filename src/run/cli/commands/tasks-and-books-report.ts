import { auditLedger } from '../../../credits/ledger/ledger-audit.ts';
import { countUnfinishedTasks, readCallbackBacklog } from '../../../library/operations/overview-counts.ts';
import type { Database } from '../../../platform/database/database.ts';
import { countEndedTasks } from '../../../tasks/list/task-counts-and-results-for-operators.ts';
import { type CommandAnswer, isoTime } from '../command-output-and-errors.ts';

/** Reports the tasks that ended since a time, the unfinished ones, and an audit of the ledger. Sets the exit code 1 if it finds violations. */
export async function reportTasksAndBooks(db: Database, sinceMs: number): Promise<CommandAnswer> {
  const ended = await countEndedTasks(db, sinceMs);
  const unfinished = await countUnfinishedTasks(db);
  const { pending: callbacksOwed } = await readCallbackBacklog(db);
  const violations = await auditLedger(db);
  if (violations.length > 0) process.exitCode = 1;
  const since = isoTime(sinceMs);
  const endedLine = ({ state, failCode, tasks, creditsRefunded }: (typeof ended)[number]) =>
    [`  ${tasks} ${state}`, failCode, creditsRefunded > 0 && `${creditsRefunded} credits refunded`]
      .filter((part) => typeof part === 'string')
      .join(', ');
  const lines = [
    `Tasks that ended since ${since}:`,
    ...ended.map(endedLine),
    'Unfinished tasks:',
    ...unfinished.map(
      ({ state, model, tasks, oldestMs }) =>
        `  ${tasks} ${state}, ${model}, the oldest ${Math.round(oldestMs / 1000)} s old`,
    ),
    `Callbacks owed: ${callbacksOwed}`,
    violations.length === 0
      ? 'The ledger is consistent.'
      : `The ledger has ${violations.length} violations; list them with videogen audit.`,
  ];
  return { json: { since, ended, unfinished, callbacksOwed, violations }, lines };
}
