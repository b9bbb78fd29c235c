import type { TaskFailure } from '../src/domain/task.ts';
import { refundTask } from '../src/stores/end-task.ts';
import { listUnfinishedTasks, type UnfinishedTask } from '../src/stores/tasks.ts';
import { deadlineMsOf } from './deadline.ts';
import type { ActivityDeps, WorkflowLook, WorkflowStatus } from './deps.ts';
import { forEachRow } from './for-each-row.ts';

/** A task this young is left to the process that accepted it. */
const startGraceMs = 10_000;
/** Temporal tries a failing workflow task again after 0, 10, 20, 35 and 54 s (measured): the fifth attempt is no accident. */
const maxWorkflowTaskAttempts = 5;
/** Behind the limits that the activity and the workflow watch themselves (workflows/steps.ts), for when neither runs. */
const deadlineGraceMs = 2 * 60_000;
const maxQueueMs = 24 * 60 * 60_000;
/** `storeResult` may wait half an hour for a store that is away. */
const maxStoringMs = 35 * 60_000;

/**
 * Starts accepted tasks that have no workflow, in order of arrival, and refunds those whose workflow is gone, stuck or
 * long overdue; their callbacks are started at once. A final task is never touched.
 */
export async function settleTasks(deps: ActivityDeps): Promise<{ started: number; refunded: number; failed: number }> {
  const settled = { started: 0, refunded: 0 };
  const { failed } = await forEachRow<UnfinishedTask>({
    page: (after, limit) => listUnfinishedTasks(deps.db, { minAgeMs: startGraceMs, after: after?.taskId, limit }),
    work: async (task) => {
      const outcome = await settleTask(deps, task);
      if (outcome === 'left') return;
      settled[outcome] += 1;
      deps.onSettled(outcome);
    },
    onError: (error, { taskId }) => deps.log.warn({ err: error, taskId }, 'task not settled in this round'),
  });
  return { ...settled, failed };
}

async function settleTask(deps: ActivityDeps, task: UnfinishedTask): Promise<'started' | 'refunded' | 'left'> {
  // A workflow that exists already, also one that has ended, is not started again.
  if (task.state === 'waiting' && (await deps.engine.startTask(task))) return 'started';
  const look = await deps.engine.lookAt(task.taskId);
  const failure = look.status === 'running' ? whyStuck(deps, task, look) : failureAfter[look.status];
  if (failure === undefined) return 'left';
  if (look.status === 'running') await deps.engine.terminateTask(task.taskId, failure.failMsg);
  // Between the listing and this moment the workflow may have ended the task itself; then this changes nothing.
  const ended = await refundTask(deps.db, task.taskId, failure);
  if (!ended.changed) return 'left';
  deps.log.warn({ taskId: task.taskId, ...look, failCode: failure.failCode }, 'task settled by reconcile');
  if (ended.hasCallback) await deps.engine.startDelivery(task);
  return 'refunded';
}

/** Why a running workflow will not end its task any more, or undefined when it may. */
function whyStuck(deps: ActivityDeps, task: UnfinishedTask, look: WorkflowLook): TaskFailure | undefined {
  if (look.workflowTaskAttempts >= maxWorkflowTaskAttempts) {
    return { failCode: 'internal', failMsg: 'The task failed because of a fault of the service.' };
  }
  return isOverdue(deps, task, look) ? failureAfter.timed_out : undefined;
}

function isOverdue(deps: ActivityDeps, task: UnfinishedTask, { pendingActivities }: WorkflowLook): boolean {
  const deadlineMs = deadlineMsOf(deps.models, task.model) + deadlineGraceMs;
  const { generatingMs } = task;
  if (generatingMs === undefined) return task.ageMs > maxQueueMs + deadlineMs;
  // After generation the state is still `generating` while the video is stored.
  const isStoring = !pendingActivities.includes('generateVideo');
  return generatingMs > deadlineMs + (isStoring ? maxStoringMs : 0);
}

const failureAfter: Record<Exclude<WorkflowStatus, 'running'>, TaskFailure> = {
  missing: { failCode: 'terminated', failMsg: 'The task was removed by an operator.' },
  completed: { failCode: 'internal', failMsg: 'The task ended without a result.' },
  failed: { failCode: 'internal', failMsg: 'The task ended without a result.' },
  cancelled: { failCode: 'cancelled', failMsg: 'The task was cancelled.' },
  terminated: { failCode: 'terminated', failMsg: 'The task was terminated by an operator.' },
  timed_out: { failCode: 'timeout', failMsg: 'The task was not finished in time.' },
};
