import { z } from 'zod';
import type { Database } from '../../platform/database/database.ts';
import type { TaskWait, TaskWaiters } from '../../tasks/task-waiters.ts';
import { findTask } from '../../tasks/task-rows.ts';
import type { Context } from '../core/request-context-and-responses.ts';
import { requireExisting } from '../core/http-error.ts';
import { isFinalState, type Task } from '../../catalogue/tasks/task.ts';

/** A longer wait is shortened to this; `Preference-Applied` shows the wait in force. */
const maxWaitSeconds = 60;

/** Documents an endpoint that can hold its response. */
export const preferHeader = z.object({
  Prefer: z
    .string()
    .optional()
    // No example: /docs would fill it in, and trying the operation out would wait.
    .meta({
      description: `\`wait=N\` holds the response until the task ends or N seconds (at most ${maxWaitSeconds}) have passed.`,
    }),
});

export const preferenceAppliedHeaderDoc = { 'Preference-Applied': '`wait=N` if the response was held.' };

/**
 * Holds the response as `Prefer: wait=N` requests (RFC 7240, section 4.3), until the task ends, the client disconnects or the service
 * shuts down. Returns false if it was not held. An invalid preference is ignored.
 */
export async function holdResponseAsPreferred(
  ctx: Context,
  taskWaiters: TaskWaiters,
  { taskId, accountId }: Pick<TaskWait, 'taskId' | 'accountId'>,
): Promise<boolean> {
  const requested = /(?:^|,)\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:[,;]|$)/i.exec(ctx.get('Prefer'))?.[1] ?? 0;
  const waitSeconds = Math.min(maxWaitSeconds, Number(requested));
  const isHeld = await holdUntilEnd(ctx, taskWaiters, { taskId, accountId, waitSeconds });
  if (isHeld) ctx.set('Preference-Applied', `wait=${waitSeconds}`);
  return isHeld;
}

/** Holds the response until the task ends, at most for `waitSeconds`, and returns the task as it is after the wait. */
export async function taskAfterWait(
  ctx: Context,
  { db, taskWaiters }: { readonly db: Database; readonly taskWaiters: TaskWaiters },
  { task, waitSeconds }: { readonly task: Task; readonly waitSeconds: number },
): Promise<Task> {
  const { taskId, accountId } = task;
  const isHeld =
    !isFinalState(task.state) && (await holdUntilEnd(ctx, taskWaiters, { taskId, accountId, waitSeconds }));
  return isHeld ? requireExisting(await findTask(db, taskId), 'task_not_found') : task;
}

type Hold = Pick<TaskWait, 'taskId' | 'accountId'> & { readonly waitSeconds: number };

/** Returns false if the response was not held. */
async function holdUntilEnd(ctx: Context, taskWaiters: TaskWaiters, { waitSeconds, ...task }: Hold): Promise<boolean> {
  if (waitSeconds === 0) return false;
  const closed = new AbortController();
  ctx.res.once('close', () => closed.abort());
  const held = taskWaiters.wait({ ...task, waitMs: waitSeconds * 1000, signal: closed.signal });
  if (held === undefined) return false;
  ctx.state.isHeld = true;
  await held;
  return true;
}
