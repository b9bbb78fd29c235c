import { z } from 'zod';
import { idField } from '../core/request-fields.ts';

const maxTasks = 100;
const idsError = `must be an array of 1 to ${maxTasks} task ids`;

export const taskIdsField = z
  .array(idField('a task'), { error: idsError })
  .min(1, { error: idsError })
  .max(maxTasks, { error: idsError });

/** The response to a request that acts on several tasks. */
export function outcomesSchemaOf<Outcome extends z.ZodType>(outcome: Outcome) {
  return z.strictObject({
    tasks: z.array(outcome).meta({ description: 'One for each task that was found.' }),
    notFound: z.int().nonnegative().meta({ description: 'The number of ids that no task has.' }),
  });
}

/**
 * Acts on one task after the other. Each task changes in a transaction of its
 * own, so a request that is cut off can be repeated without harm.
 */
export async function actOnEachTask<Outcome>(
  ids: readonly string[],
  act: (taskId: string) => Promise<Outcome | undefined>,
) {
  const unique = [...new Set(ids)];
  const tasks: Outcome[] = [];
  for (const taskId of unique) {
    const outcome = await act(taskId);
    if (outcome !== undefined) tasks.push(outcome);
  }
  return { tasks, notFound: unique.length - tasks.length };
}
