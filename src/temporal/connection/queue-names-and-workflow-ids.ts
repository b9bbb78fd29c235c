import { generationQueues } from '../../catalogue/models/models-served-by-workers.ts';

// The names of an installation's queues and workflows in Temporal.

/** The queues of an installation, as an operator names them; a worker serves some of them, or all. */
export const queueNames = ['tasks', ...generationQueues, 'callbacks'] as const;
export type QueueName = (typeof queueNames)[number];

/** The names of an installation's queues in Temporal. */
export type TaskQueues = Readonly<Record<QueueName, string>>;

/** A task that waits longer for a free worker is refunded; its deadline counts only while the generation runs. */
export const maxQueueMs = 24 * 60 * 60_000;

export function taskQueuesOf(main: string): TaskQueues {
  return {
    // Workflows, and the short activities on database and store.
    tasks: main,
    // `generateVideo` on our own machines, alone: its workers are limited by CPU.
    generation: `${main}-generation`,
    // `generateVideo` by upstreams, alone: hundreds of attempts that do little but wait.
    'generation-remote': `${main}-generation-remote`,
    // `sendCallback`, alone: slow receivers must not hold up money or media.
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
