import { ApplicationFailure, Context } from '@temporalio/activity';
import { describeFieldError } from '../src/platform/text/field-errors.ts';
import { isFinalState } from '../src/catalogue/tasks/task.ts';
import { taskEventId } from '../src/tasks/end/task-end-event-and-delivery-ids.ts';
import { taskWorkflowId } from '../src/temporal/connection/queue-names-and-workflow-ids.ts';
import { isLowerCaseUuid } from '../src/platform/text/uuid.ts';
import { taskTerms } from '../src/tasks/accept/task-terms-and-request-fingerprint.ts';
import { acceptTaskAlone } from '../src/tasks/accept/accept-one-task.ts';
import { saveTaskTiers } from '../src/tasks/jobs/stored-task-tiers.ts';
import { recordQueuing, type TaskWithDeadline } from '../src/tasks/task-rows.ts';
import type { TaskEventSink } from '../src/tasks/task-metric-events.ts';
import type { CatalogueModel } from '../src/catalogue/file/catalogue-schema-and-types.ts';
import type { Database } from '../src/platform/database/database.ts';
import type { TaskRequestParseResult } from '../src/tasks/accept/parse-task-request.ts';

export type ConfirmOrChargeDeps = {
  readonly db: Database;
  /** The models of the catalogue in force. */
  readonly models: () => ReadonlyMap<string, CatalogueModel>;
  readonly parseTaskRequest: (body: unknown) => TaskRequestParseResult;
  readonly events: TaskEventSink;
};

/** The order of a task that an operator starts from the Temporal UI or CLI: the body of createTask, and the account that pays. */
export type OperatorOrderForAccount = { readonly accountId: string; readonly request: unknown };

export type ChargedTaskForWorkflow = {
  readonly accountId: string;
  readonly model: string;
  /** Limits the time that generation runs, over all attempts. */
  readonly deadlineMs: number;
  readonly isFinal: boolean;
  /** True if an upstream generates the video. Such tasks have a task queue of their own. */
  readonly isRemote: boolean;
};

/**
 * The activity `chargeCredits`. It confirms the charge that createTask made in its own transaction, and charges only a task that came with
 * an `order`. Idempotent. Fails without a retry when there is neither a task nor an order that can be charged.
 */
export function createConfirmOrChargeActivity(deps: ConfirmOrChargeDeps) {
  return async ({
    taskId,
    order,
  }: {
    taskId: string;
    order?: OperatorOrderForAccount | undefined;
  }): Promise<ChargedTaskForWorkflow> => {
    requireIds(taskId, order);
    const task = (await recordQueuing(deps.db, taskId)) ?? (await chargeOrder(deps, taskId, order));
    const { accountId, deadlineMs, state, createdAt } = task;
    const { model } = task.param;
    const known = deps.models().get(model);
    if (known === undefined && Date.now() - createdAt < catalogueReadMs)
      throw new Error(`model ${model} is not in the catalogue of this worker yet`);
    const isRemote = known?.isRemote === true;
    if (isRemote) await saveTaskTiers(deps.db, taskId, known.tiers);
    return { accountId, model, deadlineMs, isFinal: isFinalState(state), isRemote };
  };
}

/**
 * The API may accept a task of a new model before this worker has read the changed catalogue. So an unknown model is retried for this time.
 */
const catalogueReadMs = 60_000;

/** Refuses an operator's typing errors here: the database would refuse them on every retry, and reconcile finds a task by its id. */
function requireIds(taskId: string, order: OperatorOrderForAccount | undefined): void {
  const { workflowExecution } = Context.current().info;
  if (!isLowerCaseUuid(taskId)) throw refused(`taskId must be a UUID in lower case, not ${taskId}`);
  // The event of a task has an id of version 8, and the end of the task could not be stored if it had the same one.
  if (taskEventId(taskId) === taskId) throw refused('taskId must not be a UUID of version 8');
  if (workflowExecution?.workflowId !== taskWorkflowId(taskId)) throw refused('the workflow id must be the task id');
  if (order !== undefined && !isLowerCaseUuid(order.accountId)) throw refused(`accountId must be a UUID`);
}

async function chargeOrder(
  deps: ConfirmOrChargeDeps,
  taskId: string,
  order: OperatorOrderForAccount | undefined,
): Promise<TaskWithDeadline> {
  if (order === undefined)
    throw refused(`task ${taskId} does not exist, and the workflow was started without an order`);
  const parsed = deps.parseTaskRequest(order.request);
  if (!parsed.ok) throw refused(parsed.errors.map(describeFieldError).join('; '));
  const { param } = parsed;
  const model = deps.models().get(param.model);
  if (model === undefined) throw refused(`unknown model ${param.model}`);
  const request = { taskId, accountId: order.accountId, ...taskTerms(model, param) };
  const acceptance = await acceptTaskAlone(deps.db, request);
  if (acceptance.kind === 'accepted')
    deps.events.emit({ kind: 'task_charged', model: param.model, credits: acceptance.creditsCharged });
  const task = await recordQueuing(deps.db, taskId);
  if (task === undefined) throw refused(`the order was refused: ${acceptance.kind}`);
  return task;
}

function refused(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, 'order_refused');
}
