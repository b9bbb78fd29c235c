import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { sweepWorkFolder } from '../../../activities/generation/work-folder.ts';
import { configureFontconfig } from '../config/config.ts';
import { taskQueuesOf } from '../../temporal/connection/queue-names-and-workflow-ids.ts';
import type { Log } from '../../platform/log/log.ts';
import { createMetrics } from '../metrics/create-metrics-registry.ts';
import { connectTemporal } from '../../temporal/connection/connect.ts';
import { ensureSchedules } from '../../temporal/schedules/schedules.ts';
import { makePrivateFolder } from '../../platform/process/make-private-folder.ts';
import { openStore, openStoreForLinks } from '../../media/store/open-store.ts';
import type { ResultStore } from '../../media/store/result-store.ts';
import { reportChangedSecret } from './report-changed-secret.ts';
import { watchReadiness } from './monitoring/watch-readiness.ts';
import { writtenFoldersOf, watchDisks } from './monitoring/watch-disks.ts';
import { retryStartStep } from '../../platform/timing/retry-start-step.ts';
import type { CompleteSettings } from '../config/complete-settings-and-derived-values.ts';
import type { DrainablePart } from './run-until-signal.ts';
import { installTemporalRuntime } from '../../temporal/connection/temporal-runtime.ts';
import { watchSchedules } from '../../temporal/schedules/watch-schedules.ts';
import { openWorkerDependencies, type WorkerDependencies } from './worker-dependencies.ts';
import { claimAndWatchStoreAndNamespace } from './monitoring/watch-store-and-namespace-owner.ts';
import { createTemporalWorkers } from './temporal-workers.ts';
import type { WorkerParts } from './wire-activities.ts';
import { tasksQueueOptions } from './worker-options.ts';

/** Longer than the longest deadline, so no attempt uses an older folder. */
const staleWorkMs = 26 * 60 * 60_000;

const readinessPauseMs = 5_000;
const scheduleCheckMs = 60_000;
/** The SDK's workers end after 50 s of rejected polls. */
const rejectionCheckMs = 10_000;

export type RunningWorker = DrainablePart & {
  /** Resolves once the worker of each queue polls, and the schedules exist; rejects when the worker is closed before. */
  readonly running: Promise<void>;
};

/**
 * Starts the workers of this process's queues. Local dependencies are checked before this resolves; steps that need Temporal are retried
 * in the background. Tests replace parts with `wrap`, and shorten the pauses between checks to `checkMs`.
 */
export async function startWorker(
  settings: CompleteSettings,
  log: Log,
  onFatal: (error: unknown) => void,
  metrics = createMetrics(),
  wrap: (parts: WorkerParts) => WorkerParts = (parts) => parts,
  checkMs?: number,
): Promise<RunningWorker> {
  await installTemporalRuntime(log, settings);
  const media = await prepareFiles(settings, log);
  // Both watches start below, before any work does.
  const refusesWork = () => [...belonging.problems(), ...disks.problems()][0];
  const dependencies = openWorkerDependencies(settings, log, metrics, media, refusesWork);
  const belonging = await belongingOf(settings, dependencies, log);
  await reportChangedSecret(dependencies.parts.db, settings, log);
  const parts = wrap(dependencies.parts);
  // The SDK's own retries would throw from a timer once the connection is closed.
  const temporal = connectTemporal(settings.temporal, { retries: false });
  const { events } = parts;
  const { databaseUrl } = settings;
  const watched = { part: 'worker', databaseUrl, temporal: temporal.client, events, log } as const;
  const readiness = await watchReadiness({ ...watched, pauseMs: readinessPauseMs });
  const folders = usesFiles(settings) ? writtenFoldersOf(settings) : {};
  const disks = await watchDisks({ part: 'worker', folders, events, log, pauseMs: readinessPauseMs });
  let phase: 'starting' | 'running' | 'stopping' = 'starting';
  metrics.readiness.set('worker', () => [
    ...(phase === 'running' ? [] : [phase]),
    ...readiness.reasons(),
    ...belonging.problems(),
    ...disks.problems(),
  ]);
  const stopping = new AbortController();
  const pollers = createTemporalWorkers(settings, {
    parts,
    log,
    onFatal,
    client: temporal.client,
    signal: stopping.signal,
  });
  let [watching, keeping]: (Promise<void> | undefined)[] = [];
  const setPolling = (isPolling: boolean) => {
    if (!stopping.signal.aborted) phase = isPolling ? 'running' : 'starting';
  };
  const start = async () => {
    await pollers.start();
    phase = 'running';
    const { generationConcurrency: concurrency, workerQueues: names, taskQueue } = settings;
    log.info({ queues: names, taskQueue, concurrency }, 'worker is running');
    keeping = pollers.keepPolling(checkMs ?? rejectionCheckMs, setPolling);
    // Last, because a restarted Temporal takes up to seven seconds (measured) to read a schedule, and tasks must not wait for it.
    if (!runsWorkflows(settings)) return;
    const queues = taskQueuesOf(taskQueue);
    const { client } = temporal;
    const ensure = () => ensureSchedules(client, queues);
    await retryStartStep({ step: 'ensure the schedules', log, signal: stopping.signal }, ensure);
    const pauseMs = checkMs ?? scheduleCheckMs;
    watching = watchSchedules({ client, queues, log, events, pauseMs }, stopping.signal);
  };
  const running = start();
  running.catch((error: unknown) => {
    if (!stopping.signal.aborted) onFatal(error);
  });
  const close = async () => {
    phase = 'stopping';
    stopping.abort();
    await running.catch(() => {});
    // A check of the schedules may wait for a Temporal that hangs; meanwhile no further task begins.
    await Promise.all([watching, keeping, pollers.close()]);
    await Promise.allSettled([
      readiness.close(),
      belonging.close(),
      disks.close(),
      temporal.close(),
      dependencies.close(),
    ]);
  };
  return { running, close };
}

function runsWorkflows({ workerQueues }: CompleteSettings): boolean {
  return workerQueues.includes('tasks');
}

/** A worker that only sends callbacks uses no store. */
async function belongingOf(settings: CompleteSettings, dependencies: WorkerDependencies, log: Log) {
  if (!usesFiles(settings)) return { problems: () => [], close: () => Promise.resolve() };
  return await claimAndWatchStoreAndNamespace({ db: dependencies.parts.db, settings, log, isWorker: true }).catch(
    async (error: unknown) => {
      await dependencies.close();
      throw error;
    },
  );
}

/** Callbacks contain links only. */
function usesFiles({ workerQueues }: CompleteSettings): boolean {
  return workerQueues.some((name) => name !== 'callbacks');
}

/** Opens the result store, and checks the local files that the queues of this worker use. */
async function prepareFiles(settings: CompleteSettings, log: Log): Promise<ResultStore> {
  if (runsWorkflows(settings)) await access(tasksQueueOptions.workflowBundle.codePath);
  if (!usesFiles(settings)) return openStoreForLinks(settings);
  const media = await openStore(settings, log, { writes: true });
  await makePrivateFolder(settings.workFolder, 'VIDEOGEN_DATA');
  await sweepWorkFolder(settings.workFolder, staleWorkMs);
  configureFontconfig(join(settings.dataFolder, 'fonts'));
  return media;
}
