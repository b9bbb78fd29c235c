import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { ffmpegBinary } from '../media/ffmpeg-binary.ts';
import { createMetrics } from '../metrics.ts';
import { startApiRole } from '../roles/api-role.ts';
import { startMetricsRole } from '../roles/metrics-role.ts';
import { fatalErrors } from '../roles/run-until-signal.ts';
import type { Role, Settings } from '../roles/settings.ts';
import { startWorkerRole, type WorkerRole } from '../roles/worker-role.ts';
import { startEmbeddedStack } from './embedded-stack.ts';

export type Service = Role & {
  readonly settings: Settings;
  readonly log: Log;
  readonly logPath: string;
  /** Rejects when a worker cannot go on. */
  readonly fatal: Promise<never>;
};

/** After this time the person who started the service reads that Temporal is still unavailable. */
const workersLateMs = 10_000;

/**
 * The whole service in this process: servers of its own where the configuration leaves them to us, API and workers. It
 * resolves once the API listens; the workers follow as soon as Temporal lets them. The program's log goes to a file in the
 * data folder; `say` takes sentences for the person who started it; `signal` breaks the start off, and it rejects then.
 */
export async function startService(
  config: Config,
  say: (message: string) => void,
  signal: AbortSignal,
): Promise<Service> {
  // Faults of this machine are found before anything is started.
  ffmpegBinary(config.ffmpegPath);
  const stack = await startEmbeddedStack(config, say, signal);
  const roles: Role[] = [];
  const close = async () => {
    for (const role of roles.toReversed()) await role.close();
    await stack.stop();
  };
  try {
    const { settings, log, logPath } = stack;
    const fatal = fatalErrors();
    const metrics = createMetrics();
    roles.push(await startMetricsRole(settings, log, metrics));
    const worker = await startWorkerRole(settings, log, fatal.reject, metrics);
    roles.push(worker);
    reportLateWorkers(worker, say);
    roles.push(await startApiRole(settings, log, metrics));
    const leave = () => {
      for (const role of roles) role.leave?.();
    };
    return { settings, log, logPath, fatal: fatal.promise, leave, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function reportLateWorkers({ running }: WorkerRole, say: (message: string) => void): void {
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    say('Temporal does not answer yet. Tasks are accepted, and are generated once it does; the log says more.');
  }, workersLateMs);
  running.then(
    () => {
      clearTimeout(timer);
      if (isLate) say('Temporal answers; tasks are being generated.');
    },
    () => clearTimeout(timer),
  );
}
