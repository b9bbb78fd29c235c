import { NativeConnection, Worker } from '@temporalio/worker';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { ActivityDeps } from '../../activities/deps.ts';
import { sweepWorkFolder } from '../../activities/task-files.ts';
import { provideFontSettings } from '../config/config.ts';
import { taskQueuesOf } from '../temporal/task-queues.ts';
import type { Log } from '../platform/log.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { connectTemporal } from '../temporal/connect.ts';
import { registerSearchAttributes } from '../temporal/search-attributes.ts';
import { ensureSchedules } from '../temporal/schedules.ts';
import { makePrivateFolder } from '../media/startup-errors.ts';
import { openStore, openStoreForLinks } from '../media/open-store.ts';
import { watchReadiness } from './readiness.ts';
import { retry } from '../platform/retry.ts';
import type { RunningPart, Settings } from '../config/settings.ts';
import { installTemporalRuntime } from '../temporal/temporal-runtime.ts';
import { watchSchedules } from '../temporal/watch-schedules.ts';
import { openWorkerDependencies } from './worker-dependencies.ts';
import { mainQueue, workerOptions } from './worker-options.ts';

/** Longer than the longest deadline, so no attempt uses an older folder. */
const staleWorkMs = 26 * 60 * 60_000;

const readinessPauseMs = 5_000;
const scheduleCheckMs = 60_000;

export type RunningWorker = RunningPart & {
  /** Resolves once the worker of each queue polls, and the schedules exist; rejects when the worker is closed before. */
  readonly running: Promise<void>;
};

/**
 * Starts the workers of this process's queues. Local dependencies are checked before this resolves; steps that need Temporal are retried
 * in the background. Tests replace dependencies of the activities with `wrap`, and shorten `checkMs`.
 */
export async function startWorker(
  settings: Settings,
  log: Log,
  onFatal: (error: unknown) => void,
  metrics = createMetrics(),
  wrap: (deps: ActivityDeps) => ActivityDeps = (deps) => deps,
  checkMs = scheduleCheckMs,
): Promise<RunningWorker> {
  await installTemporalRuntime(log, settings);
  const { workerQueues } = settings;
  const runsWorkflows = workerQueues.includes('tasks');
  if (runsWorkflows) await access(mainQueue.workflowBundle.codePath);
  // Callbacks contain links only.
  const usesFiles = workerQueues.some((name) => name !== 'callbacks');
  const media = await (usesFiles ? openStore(settings, log, { writes: true }) : openStoreForLinks(settings));
  if (usesFiles) {
    await makePrivateFolder(settings.workFolder, 'VIDEOGEN_DATA');
    await sweepWorkFolder(settings.workFolder, staleWorkMs);
    provideFontSettings(join(settings.dataFolder, 'fonts'));
  }
  const dependencies = openWorkerDependencies(settings, log, metrics, media);
  const deps = wrap(dependencies.deps);
  // The SDK's own retries would throw from a timer once the connection is closed.
  const temporal = connectTemporal(settings.temporal, { retries: false });
  const readiness = await watchReadiness({
    part: 'worker',
    databaseUrl: settings.databaseUrl,
    temporal: temporal.client,
    events: deps.events,
    log,
    pauseMs: readinessPauseMs,
  });
  let phase: 'starting' | 'running' | 'stopping' = 'starting';
  metrics.readiness.set('worker', () => [...(phase === 'running' ? [] : [phase]), ...readiness.reasons()]);
  const stopping = new AbortController();
  const step = (name: string) => ({ step: name, log, signal: stopping.signal });
  const workers: Worker[] = [];
  const runs: Promise<void>[] = [];
  let opened: NativeConnection | undefined;
  const start = async () => {
    const connect = () => NativeConnection.connect(settings.temporal.connection);
    const connection = (opened = await retry(step('connect to Temporal'), connect));
    if (runsWorkflows) await retry(step('register search attributes'), () => registerSearchAttributes(temporal.client));
    for (const options of workerOptions(settings, deps)) {
      const create = () => Worker.create({ ...options, connection });
      const worker = await retry(step(`start the worker of ${options.taskQueue}`), create);
      workers.push(worker);
      const run = worker.run();
      runs.push(run);
      run.catch(onFatal);
    }
    phase = 'running';
    log.info(
      { queues: workerQueues, taskQueue: settings.taskQueue, concurrency: settings.generationConcurrency },
      'worker is running',
    );
    // Last, because a restarted Temporal takes up to seven seconds (measured) to read a schedule, and tasks must not wait for it.
    if (!runsWorkflows) return;
    const queues = taskQueuesOf(settings.taskQueue);
    await retry(step('ensure the schedules'), () => ensureSchedules(temporal.client, queues));
    const watched = { client: temporal.client, queues, log, events: deps.events, pauseMs: checkMs };
    watching = watchSchedules(watched, stopping.signal);
  };
  let watching: Promise<void> | undefined;
  const running = start();
  running.catch((error: unknown) => {
    if (!stopping.signal.aborted) onFatal(error);
  });
  const close = async () => {
    phase = 'stopping';
    stopping.abort();
    await running.catch(() => {});
    await watching;
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    await Promise.allSettled(runs);
    // Fails while a worker that is being created uses it; the process exits anyway.
    await opened?.close().catch((error: unknown) => log.warn({ err: error }, 'connection not closed'));
    await Promise.allSettled([readiness.close(), temporal.close(), dependencies.close()]);
  };
  return { running, close };
}
