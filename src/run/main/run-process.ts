import { readConfig } from '../config/config.ts';
import { createLog, type Log } from '../../platform/log/log.ts';
import { createMetrics, type Metrics } from '../metrics/metrics.ts';
import { exportProcessMetrics } from '../metrics/process-metrics.ts';
import { startMetricsServer } from './monitoring/metrics-server.ts';
import {
  createFatalPromise,
  printErrorAndExit,
  runUntilSignal,
  signalled,
  tolerateOutputErrors,
} from './run-until-signal.ts';
import { startTracing } from './monitoring/tracing.ts';
import { externalSettings, type Drainable, type Settings } from '../config/settings-and-derived-values.ts';

type StartPart = (
  settings: Settings,
  log: Log,
  metrics: Metrics,
  onFatal: (error: unknown) => void,
) => Promise<Drainable>;

/** Runs a process with one part and its metrics until it is stopped. `given` overrides the environment. */
export async function runProcess(start: StartPart, given: Partial<Pick<Settings, 'workerQueues'>> = {}): Promise<void> {
  process.umask(0o077);
  tolerateOutputErrors();
  // As the first process of a container, one without a listener would ignore the signal, start, and be killed in its work later.
  const signal = signalled();
  try {
    const settings = { ...externalSettings(readConfig(undefined, { isExternal: true })), ...given };
    const log = createLog({ level: settings.logLevel });
    const [metrics, fatal] = [createMetrics(), createFatalPromise()];
    exportProcessMetrics(metrics);
    const traced = await startTracing(settings, log);
    const watched = await startMetricsServer(settings, log, metrics);
    const part = await Promise.race([start(settings, log, metrics, fatal.reject), signal]);
    if (typeof part === 'string') {
      log.info({ signal: part }, 'stopped during startup');
      process.exit(0);
    }
    const both = { ...part, close: () => part.close().then(watched.close).then(traced.close) };
    await runUntilSignal(both, fatal.promise, log, { signal, delayMs: settings.shutdownDelayMs });
  } catch (error) {
    printErrorAndExit(error);
  }
}
