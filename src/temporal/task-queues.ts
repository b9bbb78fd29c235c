// The names of an installation's queues and workflows in Temporal.

/** The Temporal task queues of one installation; workers may serve any of them. */
export type TaskQueues = {
  /** Workflows, and the short activities on database and store. */
  readonly main: string;
  /** `generateVideo` on our own machines, alone: its workers are limited by CPU. */
  readonly generation: string;
  /** `generateVideo` by upstreams, alone: hundreds of attempts that do little but wait. */
  readonly remote: string;
  /** `sendCallback`, alone: slow receivers must not hold up money or media. */
  readonly callbacks: string;
};

export function taskQueuesOf(main: string): TaskQueues {
  return {
    main,
    generation: `${main}-generation`,
    remote: `${main}-generation-remote`,
    callbacks: `${main}-callbacks`,
  };
}

/** The workflow of a task has the task's own id, so that a second start is harmless. */
export function taskWorkflowId(taskId: string): string {
  return taskId;
}

export function closingWorkflowId(accountId: string): string {
  return `close-account-${accountId}`;
}

/** The delivery of a task's callback, or of an event. */
export function callbackWorkflowId(deliveryId: string): string {
  return `callback-${deliveryId}`;
}
