import type { TaskQueues } from '../domain/task-queues.ts';
import { connectTemporal, type TemporalTarget } from './connect.ts';
import { createEngine, type Engine } from './engine.ts';
import { createTaskProgress, type LiveTask } from './task-progress.ts';

/** What the API asks of Temporal; each call is as in `createEngine` and `createTaskProgress`. */
export type ApiEngine = Pick<Engine, 'startTask' | 'cancelTask' | 'startDelivery' | 'redeliver'> & {
  readonly progressOf: (task: LiveTask) => Promise<number>;
  readonly close: () => Promise<void>;
};

/** The API's connection to Temporal. It connects on its first call, and fails at once while Temporal is away. */
export function openApiEngine(target: TemporalTarget, queues: TaskQueues): ApiEngine {
  const { client, close } = connectTemporal(target, { retries: false });
  return { ...createEngine(client, queues), progressOf: createTaskProgress(client), close };
}
