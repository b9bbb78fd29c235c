import { readConfig } from '../config.ts';
import { createLog, type Log } from '../log.ts';
import { createMetrics, type Metrics } from '../metrics.ts';
import { startMetricsRole } from './metrics-role.ts';
import { fatalErrors, runUntilSignal, sayAndExit } from './run-until-signal.ts';
import { externalSettings, type Role, type Settings } from './settings.ts';

type StartRole = (settings: Settings, log: Log, metrics: Metrics, onFatal: (error: unknown) => void) => Promise<Role>;

/** The whole life of a process with one role and its metrics. */
export async function runRole(start: StartRole): Promise<void> {
  process.umask(0o077);
  try {
    const settings = externalSettings(readConfig());
    const log = createLog({ level: settings.logLevel });
    const [metrics, fatal] = [createMetrics(), fatalErrors()];
    const watched = await startMetricsRole(settings, log, metrics);
    const role = await start(settings, log, metrics, fatal.reject);
    const both = { ...role, close: () => role.close().then(watched.close) };
    await runUntilSignal(both, fatal.promise, log, { delayMs: settings.shutdownDelayMs });
  } catch (error) {
    sayAndExit(error);
  }
}
