import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { loadWorkerRole } from '../roles/load-temporal.ts';
import { fatalErrors } from '../roles/run-until-signal.ts';
import type { Role, Settings } from '../roles/settings.ts';
import { startEmbeddedStack } from './embedded-stack.ts';

export type Service = Role & {
  readonly settings: Settings;
  readonly temporalUiUrl: string | undefined;
  readonly log: Log;
  readonly logPath: string;
  /** Rejects when a worker cannot go on. */
  readonly fatal: Promise<never>;
};

/**
 * The whole service in this process: servers of its own where the configuration leaves them to us, API and workers. The
 * program's log goes to a file in the data folder; `say` takes sentences for the person who started it.
 */
export async function startService(config: Config, say: (message: string) => void): Promise<Service> {
  // A fault in what is loaded meanwhile is met again, and reported, below.
  const stack = await startEmbeddedStack(config, say, () => void loadApi().catch(() => {}));
  const running: { api?: Role; worker?: Role; metrics?: Role } = {};
  const close = async () => {
    for (const role of [running.api, running.worker, running.metrics]) await role?.close();
    await stack.stop();
  };
  try {
    const { settings, temporalUiUrl } = stack;
    const { openLog, createMetrics, startMetricsRole, startApiRole } = await loadApi();
    const { log, path: logPath } = await openLog(config);
    const fatal = fatalErrors();
    const metrics = createMetrics();
    running.metrics = await startMetricsRole(settings, log, metrics);
    running.api = await startApiRole({ ...settings, temporalUiUrl }, log, metrics);
    // From here on tasks are accepted, and wait for the workers, whose code takes as long again to load.
    const { startWorkerRole } = await loadWorkerRole();
    running.worker = await startWorkerRole(settings, log, fatal.reject, metrics);
    return { settings, temporalUiUrl, log, logPath, fatal: fatal.promise, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Half a second of code, in the order in which it is wanted. */
async function loadApi() {
  await import('../stores/migrator.ts');
  return {
    ...(await import('./open-log.ts')),
    ...(await import('../metrics.ts')),
    ...(await import('../roles/metrics-role.ts')),
    ...(await import('../roles/api-role.ts')),
  };
}
