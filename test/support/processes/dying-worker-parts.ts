import type { WorkerParts } from '../../../src/run/main/wire-activities.ts';
import type { StoredFile } from '../../../src/media/store/result-store.ts';
import type { Provider } from '../../../src/providers/provider-contract.ts';
import type { SharedJobPoller } from '../../../src/providers/jobs/shared-job-poller.ts';
import {
  providerWithTermsAndPoller,
  type ProviderWithTermsAndPoller,
  type OpenProviders,
} from '../../../src/providers/open-providers.ts';

/** A process dies at its n-th call, before it or after it (its response is lost). Counted from 0. */
export type DeathPoint = { readonly call: number; readonly when: 'before' | 'after' };

/** The process has died: nothing that it would have done afterwards happens. */
export class Killed extends Error {
  override readonly name = 'Killed';
}

/**
 * Parts of a worker process that dies at a point, or when the test aborts `dead` with `Killed`: from then on each of
 * its calls throws. `calls` names them in order, so that a test can go through all points.
 */
export function interruptedParts(
  parts: WorkerParts,
  death: DeathPoint | undefined,
  dead = new AbortController(),
): { parts: WorkerParts; calls: string[] } {
  const calls: string[] = [];
  const until = (signal: AbortSignal) => AbortSignal.any([signal, dead.signal]);
  const die = (at: string) => dead.abort(new Killed(at));
  const call = async <T>(name: string, work: () => T | Promise<T>): Promise<T> => {
    dead.signal.throwIfAborted();
    const isHere = calls.push(name) - 1 === death?.call;
    if (isHere && death?.when === 'before') die(`before ${name}`);
    dead.signal.throwIfAborted();
    const answer = await work();
    if (isHere) die(`after ${name}`);
    dead.signal.throwIfAborted();
    return answer;
  };
  const { db, media, engine, videoTools } = parts;
  const wrapped: WorkerParts = {
    ...parts,
    db: {
      ...db,
      run: (statement, values) => call(statement.name, () => db.run(statement, values)),
      // A process that dies inside a transaction rolls it back, as if it had not begun.
      transaction: (work) => call('transaction', () => db.transaction(work)),
    },
    media: {
      put: (key, path) => call('put', () => media.put(key, path)),
      fetchTo: (key, path) => call('fetchTo', () => media.fetchTo(key, path)),
      move: (moves) => call('move', () => media.move(moves)),
      delete: (key) => call('delete', () => media.delete(key)),
      deleteFolder: (folder) => call('deleteFolder', () => media.deleteFolder(folder)),
      sizeOf: (key) => call('sizeOf', () => media.sizeOf(key)),
      list: (folder) => listed(folder),
      link: media.link,
      uploadLink: media.uploadLink,
    },
    engine: {
      startTask: (task) => call('startTask', () => engine.startTask(task)),
      describeTask: (taskId) => call('describeTask', () => engine.describeTask(taskId)),
      cancelWorkflow: (taskId) => call('cancelWorkflow', () => engine.cancelWorkflow(taskId)),
      deleteTaskHistories: (taskId) => call('deleteTaskHistories', () => engine.deleteTaskHistories(taskId)),
      terminateTask: (taskId, reason) => call('terminateTask', () => engine.terminateTask(taskId, reason)),
      startClosing: (accountId) => call('startClosing', () => engine.startClosing(accountId)),
      startDelivery: (delivery) => call('startDelivery', () => engine.startDelivery(delivery)),
      wakeDelivery: (delivery) => call('wakeDelivery', () => engine.wakeDelivery(delivery)),
    },
    videoTools: {
      ...videoTools,
      inspectVideo: (...args) => call('inspectVideo', () => videoTools.inspectVideo(...args)),
    },
    providers: { ...interruptedProviders(parts.providers), test: parts.providers.test },
  };

  async function* listed(folder: string): AsyncGenerator<StoredFile> {
    await call('list', () => undefined);
    yield* media.list(folder);
  }

  function interruptedProviders({ ofEntry, ofJob }: OpenProviders): OpenProviders {
    const opened = new Map<Provider, ProviderWithTermsAndPoller>();
    const interrupted = (open: ProviderWithTermsAndPoller | undefined) => {
      if (open === undefined) return undefined;
      const known = opened.get(open.provider);
      if (known !== undefined) return known;
      const { poller, ...rest } = providerWithTermsAndPoller(dying(open.provider), open.terms);
      // Polling ends with the process.
      const follow: SharedJobPoller['follow'] = (job, options) =>
        poller.follow(job, { ...options, signal: until(options.signal) });
      const made = { ...rest, poller: { follow } };
      opened.set(open.provider, made);
      return made;
    };
    return { ofEntry: (entry) => interrupted(ofEntry(entry)), ofJob: (job) => interrupted(ofJob(job)) };
  }

  function dying(provider: Provider): Provider {
    if (provider.runs !== 'upstream')
      return {
        ...provider,
        run: (request, report, to) =>
          call('run', () => provider.run(request, report, { ...to, signal: until(to.signal) })),
      };
    return {
      ...provider,
      submit: (request, signal) => call('submit', () => provider.submit(request, until(signal))),
      recover: (lost, signal) => call('recover', () => provider.recover(lost, until(signal))),
      status: (...args) => call('status', () => provider.status(...args)),
      result: (job, known, to) =>
        call('result', () => provider.result(job, known, { ...to, signal: until(to.signal) })),
      cancel: (...args) => call('cancel', () => provider.cancel(...args)),
    };
  }
  return { parts: wrapped, calls };
}
