import type { TaskQueues } from '../domain/task-queues.ts';
import type { ApiEngine } from './api-engine.ts';
import type { TemporalTarget } from './connect.ts';

/**
 * The API's engine, whose code, Temporal's client, is loaded on the first call or on `open`: it is two fifths of what an API has
 * to load, and tasks are accepted without it.
 */
export function engineLater(
  target: TemporalTarget,
  queues: TaskQueues,
): ApiEngine & { readonly open: () => Promise<unknown> } {
  let opening: Promise<ApiEngine> | undefined;
  const open = () => (opening ??= load());
  const load = async () => (await import('./api-engine.ts')).openApiEngine(target, queues);
  return {
    open,
    startTask: async (task) => (await open()).startTask(task),
    cancelTask: async (taskId) => (await open()).cancelTask(taskId),
    startDelivery: async (delivery) => (await open()).startDelivery(delivery),
    redeliver: async (delivery) => (await open()).redeliver(delivery),
    progressOf: async (task) => (await open()).progressOf(task),
    close: async () => (await opening)?.close(),
  };
}
