import type { Router } from '@koa/router';
import { isFromThisMachine } from '../from-this-machine.ts';
import type { HttpDeps } from '../http-deps.ts';
import type { Context, Extras, RequestState } from '../request-state.ts';
import { HttpError } from '../errors.ts';

/**
 * `GET /metrics` on the public port, for this machine alone; to everybody else there is no such endpoint. Tells nothing about
 * any account, but how much business there is, and whether its books are in order, is nobody else's concern.
 */
export function metricsRoute(router: Router<RequestState, Extras>, { metrics }: HttpDeps): void {
  if (metrics === undefined) return;
  router.get('/metrics', async (ctx) => {
    if (!isFromThisMachine(ctx.req)) throw new HttpError('unknown_endpoint');
    await showMetrics(ctx, metrics);
  });
}

/** Answers in Prometheus' own text format, the one answer besides media that is no envelope. */
export async function showMetrics(ctx: Context, metrics: NonNullable<HttpDeps['metrics']>): Promise<void> {
  ctx.body = await metrics.metrics();
  ctx.set('Content-Type', metrics.contentType);
}
