/** The `webhook-id` of a task's callback: the same over all attempts and redeliveries, so that a receiver can drop repeats. */
export function webhookId(taskId: string): string {
  return `msg_${taskId.replaceAll('-', '')}`;
}
