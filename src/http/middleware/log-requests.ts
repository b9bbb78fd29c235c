import { context } from '@opentelemetry/api';
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Context, Step } from '../context.ts';

export const probes: readonly string[] = ['/healthz', '/readyz', '/metrics'];

/**
 * Gives the request an id of our own, and writes one line once it is over, also when the client went away. Never the query, which
 * may hold a link's signature, nor bodies, nor headers but the client's own request id, which two clients may share.
 */
export function logRequests(log: Logger): Step {
  return async (ctx, next) => {
    ctx.state.requestId = randomUUID();
    ctx.set({ 'X-Request-Id': ctx.state.requestId, 'X-Content-Type-Options': 'nosniff' });
    const startedAt = performance.now();
    const onEnd = () => {
      const level = ctx.res.statusCode >= 500 ? 'warn' : probes.includes(ctx.path) ? 'debug' : 'info';
      log[level]({ ...line(ctx), durationMs: Math.round(performance.now() - startedAt) }, 'request');
    };
    // An event has the trace of what emits it.
    ctx.res.once('close', context.bind(context.active(), onEnd));
    await next();
  };
}

/** The log leaves out what is undefined. */
function line(ctx: Context) {
  const { requestId, errorCode, accountId, operatorId, userId } = ctx.state;
  const clientRequestId = ctx.get('X-Request-Id');
  return {
    requestId,
    method: ctx.method,
    path: ctx.path,
    // Before an answer it is Koa's 404, which was not sent.
    status: ctx.res.headersSent ? ctx.res.statusCode : undefined,
    errorCode,
    accountId,
    operatorId,
    userId,
    clientRequestId: /^[\x21-\x7e]{1,128}$/.test(clientRequestId) ? clientRequestId : undefined,
    aborted: ctx.res.writableFinished ? undefined : true,
  };
}
