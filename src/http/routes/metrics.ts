import type { Router } from '@koa/router';
import type { HttpDeps } from '../http-deps.ts';
import type { Extras, RequestState } from '../request-state.ts';

/** `GET /metrics` in Prometheus' own text format, the one answer besides media that is no envelope. Tells nothing about any account. */
export function metricsRoute(router: Router<RequestState, Extras>, { metrics }: HttpDeps): void {
  if (metrics === undefined) return;
  router.get('/metrics', async (ctx) => {
    ctx.body = await metrics.metrics();
    ctx.set('Content-Type', metrics.contentType);
  });
}
