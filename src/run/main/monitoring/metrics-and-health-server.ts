import { createMetricsAndHealthApp } from '../../../api/app.ts';
import { startHttpServer } from '../../../api/core/server/http-server.ts';
import type { Log } from '../../../platform/log/log.ts';
import type { Metrics } from '../../metrics/create-metrics-registry.ts';
import { explainListenError } from '../../../platform/process/folder-and-port-errors.ts';
import type { CompleteSettings } from '../../config/complete-settings-and-derived-values.ts';
import type { DrainablePart } from '../run-until-signal.ts';

const drainMs = 1_000;

/** Serves `/metrics`, `/healthz` and `/readyz` of this process on `METRICS_PORT`, if set. Close it last, because a draining process is alive. */
export async function startMetricsAndHealthServer(
  { host, metricsPort }: Pick<CompleteSettings, 'host' | 'metricsPort'>,
  log: Log,
  { registry, readiness }: Metrics,
): Promise<DrainablePart> {
  if (metricsPort === undefined) return { close: () => Promise.resolve() };
  const app = createMetricsAndHealthApp({ log, metrics: registry, readiness: () => reasonsOf(readiness) });
  const limits = { maxConnections: 100 };
  const server = await startHttpServer({ app, host, port: metricsPort, log, limits }).catch((error: unknown) => {
    throw explainListenError(error, { host, port: metricsPort }, 'METRICS_PORT');
  });
  log.info({ port: server.port }, 'metrics server started');
  return { close: () => server.close(drainMs) };
}

function reasonsOf(readiness: Metrics['readiness']): readonly string[] {
  return readiness.size === 0 ? ['starting'] : [...readiness.values()].flatMap((reasons) => reasons());
}
