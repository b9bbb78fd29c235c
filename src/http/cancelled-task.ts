import { z } from 'zod';
import { failCodes, type Task } from '../domain/task.ts';

/** What cancelling a task answers. */
export const cancelledTaskSchema = z
  .strictObject({
    taskId: z.string(),
    cancelled: z.boolean().meta({ description: 'False when the task had ended in another way before.' }),
    state: z.enum(['success', 'fail']),
    failCode: z.enum(failCodes).nullable(),
    creditsRefunded: z.int().nonnegative(),
  })
  .meta({ id: 'CancelledTask' });

/** Puts a task that has ended, whoever ended it, into the words of that answer. */
export function shownCancelled({ taskId, state, failure, creditsRefunded }: Task) {
  const failCode = failure?.failCode ?? null;
  return { taskId, cancelled: failCode === 'cancelled', state, failCode, creditsRefunded };
}
