import type { Command } from 'commander';
import type { Client } from '@temporalio/client';
import { hourMs } from '../../../platform/timing/milliseconds-per-unit.ts';
import { type TaskQueues, taskQueuesOf } from '../../../temporal/connection/queue-names-and-workflow-ids.ts';
import { addCommand } from '../add-command.ts';
import { parseInstantOrSpanMs } from '../arguments.ts';
import { type CommandAnswer, CommandError, usageError } from '../command-output-and-errors.ts';
import { type DatabaseAndConfig, type RunOnDatabase, temporalTargetOf } from '../database-and-temporal-for-commands.ts';
import { reportTasksAndBooks } from './tasks-and-books-report.ts';

export function addReconcileCommand(program: Command, run: RunOnDatabase): void {
  addCommand(program, 'reconcile', '--report', '--restored', '--report --since 2026-11-01T00:00:00Z --json')
    .description('repair unfinished tasks, callbacks and provider jobs now, and report on tasks and books')
    .option('--report', 'only report')
    .option(
      '--restored',
      'before the workers start on a database from a backup: refund every task that had not ended there',
    )
    .option(
      '--since <instant>',
      'report tasks that ended since this time; by default in the last hour',
      parseInstantOrSpanMs,
    )
    .action(run(reconcile));
}

type Options = { readonly report?: true; readonly restored?: true; readonly since?: number };

async function reconcile(
  context: DatabaseAndConfig,
  { report: only, restored, since }: Options,
): Promise<CommandAnswer> {
  if (only && restored) throw usageError('use either --report or --restored, not both');
  const sinceMs = since ?? Date.now() - hourMs;
  const done = only ? undefined : await (restored ? reconcileRestored : reconcileNow)(context);
  const found = await reportTasksAndBooks(context.db, sinceMs);
  return { json: { ...done?.json, ...found.json }, lines: [...(done?.lines ?? []), ...found.lines] };
}

/** Runs the workflow of the schedule, on a worker. */
async function reconcileNow(context: DatabaseAndConfig): Promise<CommandAnswer> {
  const { runReconcile } = await import('../../../temporal/schedules/schedules.ts');
  const { started, refunded, callbacks } = await withTemporal(context, runReconcile);
  return {
    json: { started, refunded, callbacks },
    lines: [`Reconciled: ${started} tasks started, ${refunded} refunded, ${callbacks} callbacks started.`],
  };
}

/** Ends the tasks of a restored database, beside no worker. */
async function reconcileRestored(context: DatabaseAndConfig): Promise<CommandAnswer> {
  const { explainPollingWorker, refundRestoredTasks } =
    await import('../../../temporal/engine/refund-and-terminate-after-restore.ts');
  const { refunded, terminated } = await withTemporal(context, async (client, queues) => {
    const problem = await explainPollingWorker(client, queues);
    if (problem !== undefined) throw new CommandError(`${problem}; for npm start: npm start -- --restored`);
    return refundRestoredTasks(context.db, client, queues);
  });
  return {
    json: { refunded, terminated },
    lines: [
      `Restored: ${refunded} unfinished tasks refunded, ${terminated} outdated workflows terminated.`,
      'Repeat the command until both are 0; then start the workers.',
    ],
  };
}

async function withTemporal<T>(
  { config }: DatabaseAndConfig,
  use: (client: Client, queues: TaskQueues) => Promise<T>,
): Promise<T> {
  const target = await temporalTargetOf(config);
  if (target === undefined)
    throw new CommandError('no Temporal: set TEMPORAL_ADDRESS, or VIDEOGEN_DATA to the data folder of the service');
  const { withCheckedTemporal } = await import('../with-checked-temporal.ts');
  return withCheckedTemporal(target, (client) => use(client, taskQueuesOf(config.taskQueue)));
}
