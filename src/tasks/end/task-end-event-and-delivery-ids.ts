// The ids of the deliveries about the end of a task. Workflows import this file, so it reaches no database.

/**
 * The id of the event is derived from that of the task, so that there is one at most, and code that has the task finds it: it is the id of
 * the task as a UUID of version 8, where tasks have version 7.
 */
export function taskEventId(taskId: string): string {
  return `${taskId.slice(0, 14)}8${taskId.slice(15)}`;
}

/** SQL for `taskEventId`. */
export function taskEventIdSql(taskId: string): string {
  return `overlay(${taskId}::text placing '8' from 15 for 1)::uuid`;
}

/** The notifications at the end of a task: its callback, and its event. */
export type OwedNotifications = { readonly hasCallback: boolean; readonly hasEvent?: boolean | undefined };

/** The ids of the deliveries that are owed for a task that has ended. */
export function owedDeliveryIds(
  taskId: string,
  { hasCallback, hasEvent = false }: OwedNotifications,
): readonly string[] {
  return [...(hasCallback ? [taskId] : []), ...(hasEvent ? [taskEventId(taskId)] : [])];
}
