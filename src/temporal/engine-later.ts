import type { ApiEngine } from './api-engine.ts';

/**
 * An engine that is there at once and loads the code it needs on the first call, or on `open`: Temporal's client is two fifths of
 * what an API has to load, and tasks are accepted without it. Loading that fails fails the call, and the next one tries again.
 */
export function engineLater(load: () => Promise<ApiEngine>): ApiEngine & { readonly open: () => Promise<unknown> } {
  let opening: Promise<ApiEngine> | undefined;
  const open = () =>
    (opening ??= load().catch((error: unknown) => {
      opening = undefined;
      throw error;
    }));
  return {
    open,
    startTask: async (task) => (await open()).startTask(task),
    cancelTask: async (taskId) => (await open()).cancelTask(taskId),
    startDelivery: async (delivery) => (await open()).startDelivery(delivery),
    redeliver: async (delivery) => (await open()).redeliver(delivery),
    // Never rejects, as little as the engine's own.
    progressOf: (task) =>
      open().then(
        (engine) => engine.progressOf(task),
        () => 0,
      ),
    close: async () => (await opening)?.close(),
  };
}
