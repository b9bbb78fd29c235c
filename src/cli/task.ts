import { type Command, Option } from 'commander';
import type { Config } from '../config/config.ts';
import { failOutcome } from '../tasks/fail-code.ts';
import { taskQueuesOf } from '../temporal/task-queues.ts';
import { noLinks, taskRecord } from '../tasks/task-record.ts';
import { type Task, type TaskState, taskStates } from '../tasks/task.ts';
import { cancelTaskAs } from '../tasks/cancel-task.ts';
import { orderDifferences } from '../media/compare-order.ts';
import { findTask } from '../tasks/tasks.ts';
import { maxReasonLength } from '../credits/prices.ts';
import { deleteTaskContentAs } from '../tasks/content-deletion.ts';
import { uploadIdsOf } from '../media/upload.ts';
import { mediaUrlsOf } from '../tasks/task-input.ts';
import type { Database } from '../platform/database/database.ts';
import { listTasks, readTaskDetail } from '../tasks/task-list.ts';
import { addCommand, sampleTask } from './add-command.ts';
import { accountIdOrName, id, textUpTo, wholeNumber } from './arguments.ts';
import { type Answer, CommandError, isoTime, notFound, table } from './output.ts';
import { commandLineActor, type Context, type RunOnDatabase, temporalOf } from './run-command.ts';
import { publicUrlOf } from './service-options.ts';

export function addTaskCommands(program: Command, run: RunOnDatabase): void {
  const task = addCommand(program, 'task').description('list, show, cancel and delete tasks');
  addCommand(task, 'list', '', '--state fail --limit 100 --json')
    .description('list tasks, newest first')
    .option('--account <account>', 'only tasks of this account', accountIdOrName)
    .addOption(new Option('--state <state>', 'only tasks in this state').choices(taskStates))
    .option('--limit <n>', 'maximum number of tasks', wholeNumber(1, 1000), 20)
    .action(run(list));
  addCommand(task, 'show', sampleTask)
    .description('show a task: record, ledger, provider jobs, callback')
    .argument('<task>', 'task id', id)
    .action(run(show));
  const why = `reason for the audit log, at most ${maxReasonLength} characters`;
  addCommand(task, 'delete', `${sampleTask} --reason "requested by its owner"`)
    .description('delete the content of a task: prompt, images, video and callback; its record and the ledger stay')
    .argument('<task>', 'task id', id)
    .option('--reason <text>', why, textUpTo(maxReasonLength), 'not given')
    .action(run(remove));
  addCommand(task, 'cancel', `${sampleTask} --reason "wrong prompt"`)
    .description('cancel an unfinished task, with a full refund')
    .argument('<task>', 'task id', id)
    .option('--reason <text>', why, textUpTo(maxReasonLength), 'not given')
    .action(run(cancel));
}

type ListOptions = { readonly account?: string; readonly state?: TaskState; readonly limit: number };

async function list({ db }: Context, { account: accountId, ...filter }: ListOptions): Promise<Answer> {
  const found = await listTasks(db, { accountId, ...filter });
  const tasks = found.map((one) => ({ accountId: one.accountId, ...taskRecord(one, 0, noLinks) }));
  return { json: { tasks }, lines: found.length === 0 ? ['No tasks.'] : table(taskHeader, found.map(taskRow)) };
}

async function show({ db }: Context, taskId: string): Promise<Answer> {
  const found = await requireTask(db, taskId);
  const record = { accountId: found.accountId, ...taskRecord(found, 0, noLinks), result: found.result ?? null };
  const { ledger, providerJobs, delivery, attempts } = await readTaskDetail(db, taskId);
  const log = attempts.map((one) => ({ ...one, responseHead: one.responseHead?.toString('utf8') }));
  const callback = delivery === undefined ? null : { ...delivery, log };
  const json = { task: record, ledger, providerJobs, callback };
  return { json, lines: taskLines(found, { ledger, providerJobs, delivery, attempts }) };
}

async function cancel({ db, config }: Context, taskId: string, { reason }: { reason: string }): Promise<Answer> {
  await requireTask(db, taskId);
  const { task, changed } = await cancelTaskAs(db, commandLineActor(), { taskId, reason });
  const { state, creditsRefunded } = task;
  const json = { taskId, changed, state, failCode: task.failure?.failCode ?? null, creditsRefunded };
  if (!changed) return { json, lines: [`Task ${taskId} has already ended in ${state}; nothing changed.`] };
  const refunded = `Task ${taskId} is cancelled: ${creditsRefunded} credits refunded.`;
  const later = 'Temporal is unavailable; the workers stop the generation within seconds.';
  return { json, lines: (await stopGeneration(config, taskId)) ? [refunded] : [refunded, later] };
}

async function remove({ db, config }: Context, taskId: string, { reason }: { reason: string }): Promise<Answer> {
  const task = await requireTask(db, taskId);
  const uploadIds = uploadIdsOf(await publicUrlOf(config), mediaUrlsOf(task.param.input));
  const deletion = await deleteTaskContentAs(db, commandLineActor(), { task, uploadIds, reason });
  if (deletion === undefined) throw new CommandError(`task ${taskId} has not ended yet; cancel it first`);
  const when = isoTime(deletion.deletedAt);
  return {
    json: { taskId, contentDeletedAt: deletion.deletedAt, changed: deletion.changed },
    lines: [
      deletion.changed
        ? `The content of task ${taskId} is deleted; its files and histories are deleted within minutes.`
        : `The content of task ${taskId} was already deleted, on ${when}.`,
    ],
  };
}

async function requireTask(db: Database, taskId: string): Promise<Task> {
  const task = await findTask(db, taskId);
  if (task === undefined) throw notFound('task', taskId);
  return task;
}

const taskHeader = ['TASK', 'CREATED', 'STATE', 'MODEL', 'COST', 'ACCOUNT', 'PROMPT'];
const promptLength = 40;

/** The cost is the charge minus the refund. */
function taskRow(task: Task): readonly string[] {
  const { taskId, accountId, param, createdAt, creditsCharged, creditsRefunded } = task;
  const [first = ''] = param.input.prompt.split(/[\r\n]/, 1);
  const prompt = first.length > promptLength ? `${first.slice(0, promptLength - 1)}…` : first;
  const cost = String(creditsCharged - creditsRefunded);
  return [taskId, timeOf(createdAt), stateOf(task), param.model, cost, accountId, prompt];
}

/** A task that its client cancelled, or whose input was rejected, is not shown as failed. */
function stateOf({ state, failure }: Task): string {
  if (failure === undefined) return state;
  return failOutcome(failure.failCode) === 'failed' ? `${state} (${failure.failCode})` : failure.failCode;
}

const timeOf = (ms: number | undefined) => (ms === undefined ? '-' : isoTime(ms));

type Detail = Awaited<ReturnType<typeof readTaskDetail>>;

function taskLines(task: Task, { ledger, providerJobs, delivery, attempts }: Detail): readonly string[] {
  const { param, creditsCharged, creditsRefunded, failure, completedAt } = task;
  const { prompt, duration, ratio, generateAudio, imageUrls } = param.input;
  const differences = orderDifferences(task);
  const images = imageUrls.length === 0 ? 'no images' : `${imageUrls.length} images`;
  const facts = [
    ['Task', task.taskId],
    ['Account', task.accountId],
    ['State', stateOf(task)],
    ...(failure === undefined ? [] : [['Reason', failure.failMsg]]),
    ['Model', param.model],
    ['Request', `${duration} s, ${ratio}, ${generateAudio ? 'with' : 'without'} sound, ${images}`],
    ...differences.map(({ aspect, kind, ordered, delivered }) => [
      kind === 'more' ? `More ${aspect}` : `Other ${aspect}`,
      `${delivered} instead of ${ordered}`,
    ]),
    ['Cost', `${creditsCharged - creditsRefunded} credits (${creditsCharged} charged, ${creditsRefunded} refunded)`],
    ['Created', timeOf(task.createdAt)],
    ['Ended', timeOf(completedAt)],
    ['Prompt', prompt],
  ];
  const entries = ledger.map(({ entryId, kind, amount, balanceAfter, createdAt, reason = '' }) =>
    [`#${entryId}`, kind, amount, balanceAfter, timeOf(createdAt), reason].map(String),
  );
  const jobs = providerJobs.map(
    ({ ordinal, provider, jobId = '-', outcome = 'running', intendedAt, endedAt, ...cost }) => [
      String(ordinal),
      provider,
      jobId,
      outcome,
      timeOf(intendedAt),
      timeOf(endedAt),
      cost.costMicros === undefined ? '-' : `${(cost.costMicros / 1e6).toFixed(2)} ${cost.costCurrency ?? ''}`,
    ],
  );
  // The provider's own message, which the client does not get.
  const details = providerJobs.flatMap(({ ordinal, detail }) =>
    detail === undefined ? [] : `Job ${ordinal}: ${detail}`,
  );
  const tries = attempts.map(({ attempt, status, error, startedAt }) => [
    `#${attempt}`,
    String(status ?? error ?? '-'),
    timeOf(startedAt),
  ]);
  return [
    ...table([], facts),
    ...section('Ledger', ['ENTRY', 'KIND', 'AMOUNT', 'BALANCE', 'TIME', 'REASON'], entries),
    ...section('Provider jobs', ['JOB', 'PROVIDER', 'UPSTREAM ID', 'OUTCOME', 'SENT', 'ENDED', 'COST'], jobs),
    ...details,
    ...(delivery === undefined ? [] : ['', `Callback to ${delivery.url}: ${delivery.state}`]),
    ...(tries.length === 0 ? [] : table(['ATTEMPT', 'RESPONSE', 'TIME'], tries)),
  ];
}

function section(title: string, header: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  return rows.length === 0 ? [] : ['', title, ...table(header, rows)];
}

/**
 * Stops the generation of a cancelled task, which only saves work: the refund
 * is committed. The workflow sends the callback, or `reconcile` if no workflow
 * runs.
 */
async function stopGeneration(config: Config, taskId: string): Promise<boolean> {
  const target = await temporalOf(config);
  if (target === undefined) return true;
  const { usingTemporal } = await import('../temporal/connect.ts');
  const { createEngine } = await import('../temporal/engine.ts');
  const cancelled = usingTemporal(target, { retries: false }, (client) =>
    createEngine(client, taskQueuesOf(config.taskQueue)).cancelWorkflow(taskId),
  );
  return cancelled.then(
    () => true,
    () => false,
  );
}
