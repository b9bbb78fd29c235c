import { readConfig } from '../config/config.ts';
import { createLog, type Log } from '../../platform/log/log.ts';
import { createMetrics, type Metrics } from '../metrics/create-metrics-registry.ts';
import { exportProcessMetrics } from '../metrics/process-metrics.ts';
import { startMetricsAndHealthServer } from './monitoring/metrics-and-health-server.ts';
import {
  createFatalPromise,
  printErrorAndExit,
  drainAndExitOnSignal,
  listenForStopSignal,
  tolerateOutputErrors,
} from './run-until-signal.ts';
import { startTracing } from './monitoring/tracing.ts';
import { settingsWithNothingEmbedded, type CompleteSettings } from '../config/complete-settings-and-derived-values.ts';
import { type DrainablePart } from './run-until-signal.ts';

type StartPart = (
  settings: CompleteSettings,
  log: Log,
  metrics: Metrics,
  onFatal: (error: unknown) => void,
) => Promise<DrainablePart>;

/** Runs a process with one part and its metrics until it is stopped. `given` overrides the environment. */
export async function runPartUntilSignal(
  start: StartPart,
  given: Partial<Pick<CompleteSettings, 'workerQueues'>> = {},
): Promise<void> {
  process.umask(0o077);
  tolerateOutputErrors();
  // As the first process of a container, one without a listener would ignore the signal, start, and be killed in its work later.
  const signal = listenForStopSignal();
  try {
    const settings = { ...settingsWithNothingEmbedded(readConfig(undefined, { isExternal: true })), ...given };
    const log = createLog({ level: settings.logLevel });
    const [metrics, fatal] = [createMetrics(), createFatalPromise()];
    exportProcessMetrics(metrics);
    const traced = await startTracing(settings, log);
    const watched = await startMetricsAndHealthServer(settings, log, metrics);
    const part = await Promise.race([start(settings, log, metrics, fatal.reject), signal]);
    if (typeof part === 'string') {
      log.info({ signal: part }, 'stopped during startup');
      process.exit(0);
    }
    const both = { ...part, close: () => part.close().then(watched.close).then(traced.close) };
    await drainAndExitOnSignal(both, fatal.promise, log, { signal, delayMs: settings.shutdownDelayMs });
  } catch (error) {
    printErrorAndExit(error);
  }
}
