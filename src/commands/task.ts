import type { Command } from 'commander';
import { taskRecord } from '../domain/task-record.ts';
import { readTaskDetail } from '../stores/task-detail.ts';
import { findTask } from '../stores/tasks.ts';
import { id } from './arguments.ts';
import type { RunOnDatabase } from './command-runner.ts';
import { CommandError } from './output.ts';

export function addTaskCommands(program: Command, run: RunOnDatabase): void {
  const task = program.command('task').description('look at tasks');
  task
    .command('show')
    .description('everything that is known of a task: record, ledger, provider jobs, callback')
    .argument('<task>', 'task id', id)
    .action(
      run(async ({ db }, taskId: string) => {
        const found = await findTask(db, taskId);
        if (found === undefined) throw new CommandError(`There is no task ${taskId}.`);
        const record = { accountId: found.accountId, ...taskRecord(found, 0, []), result: found.result ?? null };
        const { ledger, providerJobs, delivery, attempts } = await readTaskDetail(db, taskId);
        const log = attempts.map(({ responseHead, ...attempt }) => ({
          ...attempt,
          responseHead: responseHead?.toString('utf8'),
        }));
        const callback = delivery === undefined ? null : { ...delivery, log };
        const json = { task: record, ledger, providerJobs, callback };
        return { json, lines: [JSON.stringify(json, undefined, 2)] };
      }),
    );
}
