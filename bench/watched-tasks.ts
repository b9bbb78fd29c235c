import { waitFor } from '../test/support/wait-for.ts';
import type { Child } from './child.ts';

/**
 * The messages of `watched-worker`: when each job was done, in Unix milliseconds with fractions.
 */
export type WatchedTasks = {
  readonly done: ReadonlyMap<string, number>;
  ready(): Promise<unknown>;
};

export function watchTasks(worker: Child): WatchedTasks {
  const done = new Map<string, number>();
  let isReady = false;
  worker.onSaid((said) => {
    if (said === 'ready') isReady = true;
    if (typeof said !== 'object' || said === null || !('at' in said)) return;
    if ('done' in said) done.set(String(said.done), Number(said.at));
  });
  return {
    done,
    ready: () => waitFor('the worker', () => (isReady ? true : undefined)),
  };
}
