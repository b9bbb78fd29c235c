import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { ffmpegBinary } from '../media/ffmpeg-binary.ts';
import { createMetrics } from '../metrics.ts';
import { startApi } from '../main/start-api.ts';
import { startMetricsServer } from '../main/start-metrics.ts';
import { fatalErrors } from '../main/run-until-signal.ts';
import { type RunningPart, type Settings, settingsWith } from '../main/settings.ts';
import { startWorker, type RunningWorker } from '../main/start-worker.ts';
import { persistedSecret, lockDataFolder, openLog } from './data-folder.ts';
import { findDatabase, findTemporal, type Say } from './found-servers.ts';
import { freePort } from './persisted-port.ts';

export type Service = RunningPart & {
  readonly settings: Settings;
  /** The log of the whole service: a file in the data folder, since the terminal belongs to the person who started it. */
  readonly log: Log;
  readonly logPath: string;
  /** Rejects when a worker cannot go on. */
  readonly fatal: Promise<never>;
};

/**
 * The whole service in this process, on the data folder, which this process owns from then on: servers of its own where the
 * configuration leaves them to us, both started at the same time, then API and workers. It resolves once the API listens; the
 * workers follow as soon as Temporal lets them. Rejects with a sentence for the operator when something is missing or the
 * folder is in use; nothing is left running then, nor after `signal`, which breaks the start off.
 */
export async function startService(config: Config, say: Say, signal: AbortSignal): Promise<Service> {
  // Faults of this machine are found before anything is started.
  ffmpegBinary(config.ffmpegPath);
  const closings: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const closing of closings.toReversed()) await closing();
  };
  try {
    closings.push((await lockDataFolder(config.dataFolder)).release);
    const { log, path: logPath } = await openLog(config);
    const found = await Promise.allSettled([findDatabase(config, say, log, signal), findTemporal(config, say, signal)]);
    for (const part of found) if (part.status === 'fulfilled') closings.push(part.value.stop);
    const [database, temporal] = found;
    if (database.status === 'rejected') throw database.reason;
    if (temporal.status === 'rejected') throw temporal.reason;
    signal.throwIfAborted();
    const secret = config.secret ?? (await persistedSecret(config.dataFolder));
    const resultStore = config.resultStore ?? join(config.dataFolder, 'results');
    // Links need the port before the API listens.
    const port = config.port === 0 ? await freePort() : config.port;
    const parts = { ...database.value.settings, ...temporal.value.settings, secret, resultStore };
    const settings = settingsWith({ ...config, port }, parts);
    const fatal = fatalErrors();
    const metrics = createMetrics();
    closings.push((await startMetricsServer(settings, log, metrics)).close);
    const worker = await startWorker(settings, log, fatal.reject, metrics);
    closings.push(worker.close);
    reportLateWorkers(worker, say);
    const api = await startApi(settings, log, metrics);
    closings.push(api.close);
    return { ...api, settings, log, logPath, fatal: fatal.promise, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** After this time the person who started the service reads that Temporal is still unavailable. */
const workersLateMs = 10_000;

function reportLateWorkers({ running }: RunningWorker, say: Say): void {
  const timer = setTimeout(() => {
    say('Temporal does not answer yet. Tasks are accepted, and are generated once it does; the log says more.');
    running.then(() => say('Temporal answers; tasks are being generated.')).catch(() => {});
  }, workersLateMs);
  running.finally(() => clearTimeout(timer)).catch(() => {});
}
