import type { ActivityDeps } from '../../activities/deps.ts';
import type { Provider } from '../../src/providers/provider.ts';

/** Where a process dies: at its n-th call to the world, before that call or after it (its answer is lost). Counted from 0. */
export type DeathPoint = { readonly call: number; readonly when: 'before' | 'after' };

/** The process is gone: nothing that it would have done afterwards happens. */
export class Killed extends Error {
  override readonly name = 'Killed';
}

/**
 * What an activity works with, in a process that dies at a point: from then on each of its calls throws. `calls` names
 * them in order, so a test knows when it has been through all the points.
 */
export function interruptedDeps(deps: ActivityDeps, death: DeathPoint): { deps: ActivityDeps; calls: string[] } {
  const calls: string[] = [];
  let isDead = false;
  const call = async <T>(name: string, work: () => T | Promise<T>): Promise<T> => {
    if (isDead) throw new Killed(name);
    const isHere = calls.push(name) - 1 === death.call;
    if (isHere && death.when === 'before') isDead = true;
    if (isDead) throw new Killed(`before ${name}`);
    const answer = await work();
    if (isHere) isDead = true;
    if (isDead) throw new Killed(`after ${name}`);
    return answer;
  };
  const { db, media, engine } = deps;
  const wrapped: ActivityDeps = {
    ...deps,
    db: { ...db, run: (statement, values) => call(statement.name, () => db.run(statement, values)) },
    media: {
      put: (key, path) => call('put', () => media.put(key, path)),
      fetchTo: (key, path) => call('fetchTo', () => media.fetchTo(key, path)),
      move: (moves) => call('move', () => media.move(moves)),
      delete: (key) => call('delete', () => media.delete(key)),
    },
    engine: {
      startTask: (task) => call('startTask', () => engine.startTask(task)),
      describeTask: (taskId) => call('describeTask', () => engine.describeTask(taskId)),
      cancelTask: (taskId) => call('cancelTask', () => engine.cancelTask(taskId)),
      terminateTask: (taskId, reason) => call('terminateTask', () => engine.terminateTask(taskId, reason)),
      startDelivery: (delivery) => call('startDelivery', () => engine.startDelivery(delivery)),
      wakeDelivery: (delivery) => call('wakeDelivery', () => engine.wakeDelivery(delivery)),
    },
    inspectVideo: (...args) => call('inspectVideo', () => deps.inspectVideo(...args)),
    providers: new Map([...deps.providers].map(([name, provider]) => [name, interrupted(provider)])),
  };

  function interrupted(provider: Provider): Provider {
    return {
      name: provider.name,
      isLocal: provider.isLocal ?? false,
      submit: (...args) => call('submit', () => provider.submit(...args)),
      recover: (...args) => call('recover', () => provider.recover(...args)),
      follow: (...args) => call('follow', () => provider.follow(...args)),
      result: (...args) => call('result', () => provider.result(...args)),
      cancel: (...args) => call('cancel', () => provider.cancel(...args)),
    };
  }
  return { deps: wrapped, calls };
}
