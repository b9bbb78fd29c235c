import { Router } from '@koa/router';
import { appAround, type HttpApp } from './app-around.ts';
import type { HttpDeps } from './http-deps.ts';
import type { Extras, RequestState } from './request-state.ts';
import { healthzRoute } from './routes/healthz.ts';
import { showMetrics } from './routes/metrics.ts';

/** What is served apart from the public port, to whoever reaches it: `/metrics` and `/healthz`. */
export function createMetricsApp({ log, metrics }: Required<Pick<HttpDeps, 'log' | 'metrics'>>): HttpApp {
  const router = new Router<RequestState, Extras>({ sensitive: true, strict: true });
  healthzRoute(router);
  router.get('/metrics', (ctx) => showMetrics(ctx, metrics));
  return appAround(router, log);
}
