import { ApplicationFailure, Context } from '@temporalio/activity';
import { describeFieldError } from '../src/domain/field-errors.ts';
import { isFinal } from '../src/domain/task.ts';
import { taskWorkflowId } from '../src/domain/task-queues.ts';
import { isUuid } from '../src/domain/uuid.ts';
import { acceptTask } from '../src/stores/accept-task.ts';
import { saveTaskTiers } from '../src/stores/task-tiers.ts';
import { confirmCharge, type ConfirmedTask } from '../src/stores/tasks.ts';
import type { ActivityDeps } from './deps.ts';

/** The order of a task that an operator starts from the Temporal UI or CLI: the body of createTask, and who pays. */
export type TaskOrder = { readonly accountId: string; readonly request: unknown };

export type ChargedTask = {
  readonly accountId: string;
  readonly model: string;
  readonly creditsCharged: number;
  /** How long generation may run, over all attempts. */
  readonly deadlineMs: number;
  readonly isFinal: boolean;
  /** Whether upstreams generate it: then it waits for one in a task queue of its own. */
  readonly isRemote: boolean;
};

/**
 * The first step: confirms the charge that createTask made in its own transaction, or makes it for a task that came
 * with an `order`. Idempotent. Fails without a retry when there is neither a task nor an order that can be charged.
 */
export function createChargeCredits(deps: ActivityDeps) {
  return async ({ taskId, order }: { taskId: string; order?: TaskOrder | undefined }): Promise<ChargedTask> => {
    requireIds(taskId, order);
    const task = (await confirmCharge(deps.db, taskId)) ?? (await chargeOrder(deps, taskId, order));
    const { model } = task.param;
    const known = deps.models.get(model);
    if (known === undefined && Date.now() - task.createdAt < catalogueReadMs)
      throw new Error(`model ${model} is not in the catalogue of this worker yet`);
    if (known?.isRemote === true) await saveTaskTiers(deps.db, taskId, known.tiers);
    return {
      accountId: task.accountId,
      model,
      creditsCharged: task.creditsCharged,
      deadlineMs: task.deadlineMs,
      isFinal: isFinal(task.state),
      isRemote: known?.isRemote === true,
    };
  };
}

/** A changed catalogue is read by every process, but not by all in the same second. */
const catalogueReadMs = 60_000;

/** Refuses an operator's typing errors here: the database would refuse them on every retry, and reconcile finds a task by its id. */
function requireIds(taskId: string, order: TaskOrder | undefined): void {
  const { workflowExecution } = Context.current().info;
  if (!isUuid(taskId)) throw refused(`taskId must be a UUID in lower case, not ${taskId}`);
  if (workflowExecution?.workflowId !== taskWorkflowId(taskId)) throw refused('the workflow id must be the task id');
  if (order !== undefined && !isUuid(order.accountId)) throw refused(`accountId must be a UUID`);
}

async function chargeOrder(deps: ActivityDeps, taskId: string, order: TaskOrder | undefined): Promise<ConfirmedTask> {
  if (order === undefined) throw refused(`there is no task ${taskId}, and the workflow was started without an order`);
  const parsed = deps.parseTaskRequest(order.request);
  if (!parsed.ok) throw refused(parsed.errors.map(describeFieldError).join('; '));
  const model = deps.models.get(parsed.param.model);
  if (model === undefined) throw refused(`unknown model ${parsed.param.model}`);
  const acceptance = await acceptTask(deps.db, {
    taskId,
    accountId: order.accountId,
    param: parsed.param,
    listedPrices: model.prices,
    deadlineMs: model.deadlineMs,
    providers: model.providers,
  });
  if (acceptance.kind === 'accepted')
    deps.events.emit({ kind: 'task_charged', model: model.model, credits: acceptance.creditsCharged });
  const task = await confirmCharge(deps.db, taskId);
  if (task === undefined) throw refused(`the order was refused: ${acceptance.kind}`);
  return task;
}

function refused(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, 'order_refused');
}
