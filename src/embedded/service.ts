import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import type { Config } from '../config.ts';
import { createLog, type Log } from '../log.ts';
import { createMetrics } from '../metrics.ts';
import { fatalErrors } from '../roles/run-until-signal.ts';
import type { Role, Settings } from '../roles/settings.ts';
import { startEmbeddedStack } from './embedded-stack.ts';
import { boundServerLog } from './server-log.ts';

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
  const starting = startEmbeddedStack(config, say);
  const loading = loadRoles();
  const stack = await starting;
  const started: Role[] = [{ close: () => stack.stop() }];
  const close = async () => {
    for (const role of started.toReversed()) await role.close();
  };
  try {
    const { settings, temporalUiUrl } = stack;
    const { log, path: logPath } = await openLog(config);
    const { startMetricsRole, startWorkerRole, startApiRole } = await loading;
    const fatal = fatalErrors();
    const metrics = createMetrics();
    started.push(await startMetricsRole(settings, log, metrics));
    // Neither needs the other: tasks are accepted while the workers come up.
    const roles = [startWorkerRole(settings, log, fatal.reject, metrics), startApiRole(settings, log, metrics)];
    const outcomes = await Promise.allSettled(roles);
    for (const outcome of outcomes) if (outcome.status === 'fulfilled') started.push(outcome.value);
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    return { settings, temporalUiUrl, log, logPath, fatal: fatal.promise, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Their code takes longest to load: meanwhile the servers start, and commands that run nothing do without it. */
async function loadRoles() {
  const [metrics, worker, api] = await Promise.all([
    import('../roles/metrics-role.ts'),
    import('../roles/worker-role.ts'),
    import('../roles/api-role.ts'),
  ]);
  return { ...metrics, ...worker, ...api };
}

async function openLog({ dataFolder, logLevel }: Config): Promise<{ log: Log; path: string }> {
  await mkdir(dataFolder, { recursive: true });
  const path = join(dataFolder, 'videogen.log');
  await boundServerLog(path);
  return { log: createLog({ level: logLevel, to: pino.destination({ dest: path, sync: false }) }), path };
}
