import type { Client } from '@temporalio/client';
import type { FinalTask } from '../judge/evidence.ts';

/** Every task that took longer than this is explained, and the slowest in any case. */
const slowMs = 90_000;
const maxExplained = 5;

/** The story of the tasks that took longest: a line for each, and one for every event of its workflow that took time. */
export async function explainSlowTasks(temporal: Client, tasks: readonly FinalTask[]): Promise<readonly string[]> {
  const slowest = tasks.toSorted((a, b) => lifeMs(b) - lifeMs(a)).slice(0, maxExplained);
  const told = slowest.filter((task, index) => index === 0 || lifeMs(task) > slowMs);
  const stories = await Promise.all(told.map((task) => storyOf(temporal, task)));
  return stories.flat();
}

/** From acceptance to the final state; what has none lasts for ever. */
export function lifeMs({ createdAt, completedAt }: FinalTask): number {
  return (completedAt ?? Date.now()) - createdAt;
}

async function storyOf(temporal: Client, task: FinalTask): Promise<readonly string[]> {
  const since = (ms: number | null) => (ms === null ? 'never' : `${((ms - task.createdAt) / 1_000).toFixed(1)} s`);
  const end = `ended in ${task.failCode ?? task.state} after ${since(task.completedAt)}`;
  const headline = `slow: task ${task.taskId} (${task.nonce}) began to generate after ${since(task.generationStartedAt)}, ${end}`;
  const events = await eventsOf(temporal, task, since).catch((error: unknown) => [`  no history: ${String(error)}`]);
  return [headline, ...events];
}

async function eventsOf(
  temporal: Client,
  { taskId }: FinalTask,
  since: (ms: number) => string,
): Promise<readonly string[]> {
  const { events } = await temporal.workflow.getHandle(taskId).fetchHistory();
  const activities = new Map<string, string>();
  return (events ?? []).flatMap((event) => {
    const name = Object.keys(event).find((key) => key.endsWith('EventAttributes') && key in event);
    const atMs = 1_000 * Number(event.eventTime?.seconds ?? 0) + (event.eventTime?.nanos ?? 0) / 1e6;
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled) activities.set(String(event.eventId), scheduled.activityType?.name ?? '');
    const started = event.activityTaskStartedEventAttributes;
    const ended = event.activityTaskCompletedEventAttributes ?? event.activityTaskFailedEventAttributes;
    const activity = activities.get(String(started?.scheduledEventId ?? ended?.scheduledEventId ?? event.eventId));
    const why = started?.lastFailure?.message ?? event.workflowTaskFailedEventAttributes?.failure?.message;
    const attempt = started?.attempt ?? event.workflowTaskScheduledEventAttributes?.attempt;
    const words = [name?.replace('EventAttributes', ''), activity, attempt && `attempt ${attempt}`, why];
    return [`  +${since(atMs)} ${words.filter(Boolean).join(', ')}`];
  });
}
