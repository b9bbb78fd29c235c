import { type Command, Option } from 'commander';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { taskQueuesOf } from '../domain/task-queues.ts';
import { taskRecord } from '../domain/task-record.ts';
import { type Task, type TaskState, taskStates } from '../domain/task.ts';
import { readPort } from '../embedded/persisted-port.ts';
import { cancelTaskAs, findTask } from '../stores/tasks.ts';
import { maxReasonLength } from '../stores/prices.ts';
import { listTasks, readTaskDetail } from '../stores/task-list.ts';
import type { TemporalTarget } from '../temporal/connect.ts';
import { id, textUpTo, wholeNumber } from './arguments.ts';
import { CommandError } from './output.ts';
import { commandLineActor, type RunOnDatabase } from './run-command.ts';

export function addTaskCommands(program: Command, run: RunOnDatabase): void {
  const task = program.command('task').description('list, show and cancel tasks');
  addList(task, run);
  addShow(task, run);
  addCancel(task, run);
}

type ListOptions = { readonly account?: string; readonly state?: TaskState; readonly limit: number };

function addList(task: Command, run: RunOnDatabase): void {
  const command = task
    .command('list')
    .description('tasks, the newest first')
    .option('--account <account>', 'of this account alone', id)
    .addOption(new Option('--state <state>', 'only those in this state').choices(taskStates))
    .option('--limit <n>', 'how many at most', wholeNumber(1, 1000), 20);
  command.action(
    run(async ({ db }, { account: accountId, ...filter }: ListOptions) => {
      const found = await listTasks(db, { accountId, ...filter });
      return {
        json: { tasks: found.map((one) => ({ accountId: one.accountId, ...taskRecord(one, 0, []) })) },
        lines: found.length === 0 ? ['No tasks.'] : found.map(taskLine),
      };
    }),
  );
}

function addShow(task: Command, run: RunOnDatabase): void {
  const command = task
    .command('show')
    .description('everything that is known of a task: record, ledger, provider jobs, callback')
    .argument('<task>', 'task id', id);
  command.action(
    run(async ({ db }, taskId: string) => {
      const found = await findTask(db, taskId);
      if (found === undefined) throw new CommandError(`no such task: ${taskId}`);
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

function addCancel(task: Command, run: RunOnDatabase): void {
  const command = task
    .command('cancel')
    .description('end a task that has not ended, refunded in full')
    .argument('<task>', 'task id', id)
    .option('--reason <text>', `why, for the audit log, at most ${maxReasonLength} characters`, reason, 'not given');
  command.action(
    run(async ({ db, config }, taskId: string, options: { reason: string }) => {
      if ((await findTask(db, taskId)) === undefined) throw new CommandError(`no such task: ${taskId}`);
      const { task: ended, changed } = await cancelTaskAs(db, commandLineActor(), { taskId, ...options });
      const { state: endState, creditsRefunded } = ended;
      const json = { taskId, cancelled: changed, state: endState, creditsRefunded };
      if (!changed) return { json, lines: [`Task ${taskId} had ended before, in ${endState}; it stays as it is.`] };
      const refunded = `Task ${taskId} is cancelled: ${creditsRefunded} credits refunded.`;
      const isStopped = await stopGeneration(config, taskId);
      const later = 'Temporal is unavailable; what it still generates is discarded.';
      return { json, lines: isStopped ? [refunded] : [refunded, later] };
    }),
  );
}

const reason = textUpTo(maxReasonLength);

function taskLine({ taskId, accountId, state: now, param, createdAt, creditsCharged, failure }: Task): string {
  const end = failure === undefined ? now : `${now} (${failure.failCode})`;
  return [taskId, new Date(createdAt).toISOString(), end, param.model, `${creditsCharged} credits`, accountId].join(
    '  ',
  );
}

/** The refund is committed; this only saves the work of generating. A owed callback is sent by `reconcile`. */
async function stopGeneration(config: Config, taskId: string): Promise<boolean> {
  const target = config.temporal ?? (await ownTemporal(config));
  if (target === undefined) return true;
  const { connectTemporal } = await import('../temporal/connect.ts');
  const { createEngine } = await import('../temporal/engine.ts');
  const { client, close } = connectTemporal(target, { retries: false });
  try {
    await createEngine(client, taskQueuesOf(config.taskQueue)).cancelTask(taskId);
    return true;
  } catch {
    return false;
  } finally {
    await close();
  }
}

/** The Temporal of the service on this data folder; undefined when it never had one. */
async function ownTemporal({ dataFolder, temporalNamespace }: Config): Promise<TemporalTarget | undefined> {
  const port = await readPort(join(dataFolder, 'temporal', 'port'));
  return port === undefined
    ? undefined
    : { connection: { address: `127.0.0.1:${port}` }, namespace: temporalNamespace };
}
