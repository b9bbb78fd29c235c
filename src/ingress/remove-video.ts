import type { Caller } from '../accounts/api-key.ts';
import { HttpError } from '../http/errors.ts';
import type { HttpDeps } from '../http/http-deps.ts';
import { cancelTaskFor } from '../tasks/cancel-task.ts';
import { deleteTaskFor } from '../tasks/delete-task.ts';
import { isFinal, type Task } from '../tasks/task.ts';

/** Other APIs have one operation for both: cancels and refunds an unfinished task, and deletes the content of one that has ended. */
export async function removeVideo(deps: HttpDeps, { scopes }: Caller, task: Task): Promise<void> {
  if (!isFinal(task.state)) await cancelTaskFor(deps, task.taskId);
  else if (scopes.includes('content:delete')) await deleteTaskFor(deps, task);
  else {
    throw new HttpError('scope_missing', {
      msg: 'a task that has ended is deleted with the scope content:delete only',
    });
  }
}
