import { createMetricsApp } from '../http/app.ts';
import { startHttpServer } from '../http/server.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Role, Settings } from './settings.ts';

/** A scrape takes no longer. */
const drainMs = 1_000;

/**
 * Serves `/metrics` and `/healthz` of this process on `METRICS_PORT`, for monitors only; nothing without that setting. Close it
 * last: a process that drains is alive.
 */
export async function startMetricsRole(
  { host, metricsPort }: Pick<Settings, 'host' | 'metricsPort'>,
  log: Log,
  { registry }: Metrics,
): Promise<Role> {
  if (metricsPort === undefined) return { close: () => Promise.resolve() };
  const app = createMetricsApp({ log, metrics: registry });
  const server = await startHttpServer({ app, host, port: metricsPort, log, limits: { maxConnections: 100 } });
  log.info({ port: server.port }, 'metrics are served');
  return { close: () => server.close(drainMs) };
}
