/** The workflow of a task has the task's own id, so that a second start is harmless. */
export function taskWorkflowId(taskId: string): string {
  return taskId;
}

export function callbackWorkflowId(taskId: string): string {
  return `callback-${taskId}`;
}
