import type { Router } from '@koa/router';
import { z } from 'zod';
import { isFromThisMachine } from '../client-address.ts';
import type { Context, Extras, RequestState, Step } from '../context.ts';
import { withinMs } from '../../domain/time-limit.ts';
import { defineEndpoint } from '../define-endpoint.ts';
import { HttpError } from '../errors.ts';
import type { HttpDeps } from '../http-deps.ts';

const healthz = defineEndpoint({
  operationId: 'healthz',
  route: 'GET /healthz',
  scope: 'none',
  // Says nothing about the parts that the process depends on.
  summary: 'Whether the process lives',
  data: z.strictObject({}),
  handler: async () => ({}),
});

/** Probes give up after a few seconds themselves. */
const timeoutMs = 3_000;

const readyz = defineEndpoint({
  operationId: 'readyz',
  route: 'GET /readyz',
  scope: 'none',
  summary: 'Whether requests should be sent here',
  data: z.strictObject({}),
  failures: ['not_ready', 'database_unavailable', 'database_busy'],
  handler: async (_call, deps) => {
    if (deps.isLeaving?.() === true) throw new HttpError('not_ready', { data: { away: ['stopping'] } });
    const isInTime = await withinMs(
      timeoutMs,
      deps.db.run(selectOne).then(() => true),
      () => false,
    );
    if (!isInTime) throw new HttpError('not_ready', { data: { away: ['no answer in time'] } });
    return {};
  },
});

const selectOne = { name: 'ready', text: 'select 1 as one' };

export const healthEndpoints = [healthz, readyz];

/**
 * `/metrics` on the public port, for this machine alone; any other client gets 404. They say nothing about single
 * accounts, but the volume of business and the state of the books are for the operator only.
 */
export function metricsRoute(router: Router<RequestState, Extras>, { metrics }: HttpDeps): void {
  if (metrics !== undefined) router.get('/metrics', onlyThisMachine, (ctx) => showMetrics(ctx, metrics));
}

/** Before a route that does not exist for others; the app's 405 and hints do not betray it either. */
export const onlyThisMachine: Step = async (ctx, next) => {
  if (!isFromThisMachine(ctx.req)) throw new HttpError('unknown_endpoint');
  await next();
};

/** Answers in Prometheus' text format, without an envelope. */
export async function showMetrics(ctx: Context, metrics: NonNullable<HttpDeps['metrics']>): Promise<void> {
  ctx.body = await metrics.metrics();
  ctx.set('Content-Type', metrics.contentType);
}
