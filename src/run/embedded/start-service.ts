import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Config } from '../config/config.ts';
import { SetupError } from '../../platform/setup-errors-and-error-messages.ts';
import type { Log } from '../../platform/log/log.ts';
import { exportProcessMetrics } from '../metrics/process-metrics.ts';
import { retryStartStep } from '../../platform/timing/retry-start-step.ts';
import { createFatalPromise } from '../main/run-until-signal.ts';
import { defaultStoreLocation } from '../../media/store/open-store.ts';
import { type CompleteSettings, mergeSettingsFoundAtStart } from '../config/complete-settings-and-derived-values.ts';
import { type DrainablePart } from '../main/run-until-signal.ts';
import { startApi } from '../main/start-api.ts';
import { startMetricsAndHealthServer } from '../main/monitoring/metrics-and-health-server.ts';
import { type RunningWorker, startWorker } from '../main/start-worker.ts';
import { startTracing } from '../main/monitoring/tracing.ts';
import { createMetrics } from '../metrics/create-metrics-registry.ts';
import { migrateToLatest, describeNewerSchema } from '../schema/migrator.ts';
import { findOrDownloadFfmpeg } from './find-or-download-ffmpeg.ts';
import { refundAfterRestore } from './refund-after-restore.ts';
import { explainListenError } from '../../platform/process/folder-and-port-errors.ts';
import { embeddedFoldersByName, postgresFolder, temporalFolder } from './server-folders.ts';
import { recordCataloguePath } from './recorded-catalogue-path.ts';
import { lockDataFolder, openLog, readOrCreateSecret, recordServiceUrl } from './data-folder-lock-and-files.ts';
import { reserveFreePort } from './local-ports.ts';
import { startPostgres } from './postgres/postgres-server.ts';
import { findOrDownloadTemporalCli } from './temporal/temporal-cli.ts';
import { startTemporal } from './temporal/temporal-server.ts';

export type RunningService = DrainablePart & {
  readonly settings: CompleteSettings;
  /** Writes to a file in the data folder. */
  readonly log: Log;
  readonly logPath: string;
  /** Rejects when a worker cannot continue. */
  readonly fatal: Promise<never>;
};

export type StartOptions = {
  /** The data folder, or a part of it, is an older copy. */
  readonly isRestored?: boolean | undefined;
};

/** Starts the whole service on its data folder; resolves once the API listens. When it rejects, nothing is left running. */
export async function startService(
  config: Config,
  say: Say,
  signal: AbortSignal,
  { isRestored = false }: StartOptions = {},
): Promise<RunningService> {
  const closings: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const closing of closings.toReversed()) await closing();
  };
  // Nothing is created for a port that is taken. That an existing folder is in use explains more than that its port is.
  if (!existsSync(config.dataFolder)) await requireFreePorts(config);
  try {
    closings.push((await lockDataFolder(config.dataFolder)).release);
    await requireFreePorts(config);
    // No video can be delivered without ffmpeg, so it is found before any server starts.
    const { cacheFolder, ffmpegPath: explicitPath } = config;
    const ffmpegPath = await findOrDownloadFfmpeg({ explicitPath, cacheFolder, log: say });
    const { log, path: logPath } = await openLog(config);
    const found = await Promise.allSettled([
      findOrStartAndMigrateDatabase(config, say, log, signal),
      findOrStartTemporal(config, say, signal),
    ]);
    for (const part of found) if (part.status === 'fulfilled') closings.push(part.value.stop);
    const [database, temporal] = found;
    if (database.status === 'rejected') throw database.reason;
    if (temporal.status === 'rejected') throw temporal.reason;
    signal.throwIfAborted();
    const secret = config.secret ?? (await readOrCreateSecret(config.dataFolder));
    const resultStore = config.resultStore ?? defaultStoreLocation(config);
    // Links need the port before the API listens.
    const port = config.port === 0 ? await reserveFreePort() : config.port;
    const embeddedFolders = embeddedFoldersByName(config);
    const parts = { ...database.value.settings, ...temporal.value.settings, embeddedFolders, secret, resultStore };
    const settings = mergeSettingsFoundAtStart({ ...config, port, ffmpegPath }, parts);
    const fatal = createFatalPromise();
    const metrics = createMetrics();
    exportProcessMetrics(metrics);
    closings.push((await startTracing(settings, log)).close);
    closings.push((await startMetricsAndHealthServer(settings, log, metrics)).close);
    if (isRestored) await refundAfterRestore(settings, say, signal);
    const worker = await startWorker(settings, log, fatal.reject, metrics);
    closings.push(worker.close);
    reportLateWorkers(worker, say);
    const api = await startApi(settings, log, metrics, say);
    closings.push(api.close);
    await recordCataloguePath(config.dataFolder, config.catalogueFile);
    closings.push((await recordServiceUrl(config.dataFolder, settings.publicUrl)).remove);
    return { ...api, settings, log, logPath, fatal: fatal.promise, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The ports are tried before anything is created or started. */
async function requireFreePorts({ host, port, metricsPort }: Config): Promise<void> {
  for (const [setting, number] of [
    ['PORT', port],
    ['METRICS_PORT', metricsPort],
  ] as const) {
    if (number === undefined || number === 0) continue;
    const server = createServer();
    await once(server.listen({ port: number, host }), 'listening').catch((error: unknown) => {
      throw explainListenError(error, { host, port: number }, setting);
    });
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }
}

/** A message appears if Temporal is still unavailable after this time. */
const workersLateMs = 10_000;

function reportLateWorkers({ running }: RunningWorker, say: Say): void {
  const timer = setTimeout(() => {
    say('Temporal is unavailable. Tasks are accepted, and generated once it responds; see the log.');
    running.then(() => say('Temporal is available; tasks are being generated.')).catch(() => {});
  }, workersLateMs);
  running.finally(() => clearTimeout(timer)).catch(() => {});
}

/** Prints a sentence for the operator. */
export type Say = (message: string) => void;

const notOurs = () => Promise.resolve();

/** A start waits this long for an unavailable database. */
const databaseWaitMs = 120_000;

/** Returns the configured database, or starts the embedded one, and migrates it. */
export async function findOrStartAndMigrateDatabase(config: Config, say: Say, log: Log, signal: AbortSignal) {
  const { url, stop } =
    config.databaseUrl === undefined
      ? await startPostgres({ folder: postgresFolder(config), log: say, signal })
      : { url: config.databaseUrl, stop: notOurs };
  // `AbortSignal.timeout` would never abort the combined signal on Node 20 once the garbage collector has run.
  const waited = new AbortController();
  const timer = setTimeout(() => waited.abort(), databaseWaitMs);
  const either = AbortSignal.any([signal, waited.signal]);
  try {
    const step = { step: 'migrate the database', log, signal: either, onFirstFailure: say };
    await retryStartStep(step, () => migrateToLatest(url, (newer) => say(describeNewerSchema(newer))));
    return { settings: { databaseUrl: url }, stop };
  } catch (cause) {
    await stop();
    if (!waited.signal.aborted) throw cause;
    throw new SetupError(`the database did not respond within ${databaseWaitMs / 1000} s`, { cause });
  } finally {
    clearTimeout(timer);
  }
}

/** Hides the runs of `reconcile`, one for each minute. */
const tasksOnly = encodeURIComponent('WorkflowType="videoTask"');

/** Returns the configured Temporal, or starts the embedded one. */
export async function findOrStartTemporal(config: Config, say: Say, signal: AbortSignal) {
  if (config.temporal !== undefined)
    return { settings: { temporal: config.temporal, embeddedPorts: [] }, stop: notOurs };
  const { cacheFolder, temporalCliPath: explicitPath, path: searchPath, temporalNamespace: namespace } = config;
  const cliPath = await findOrDownloadTemporalCli({ cacheFolder, explicitPath, searchPath, log: say });
  const folder = temporalFolder(config);
  const { address, uiUrl, ports, stop } = await startTemporal({ cliPath, folder, namespace, log: say, signal });
  const settings = {
    temporal: { connection: { address }, namespace },
    temporalUiUrl: `${uiUrl}/namespaces/${namespace}/workflows?query=${tasksOnly}`,
    embeddedPorts: ports,
  };
  return { settings, stop };
}
