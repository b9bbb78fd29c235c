import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Context, Step } from '../context.ts';

/** Gives the request an id of our own. A client's id is only logged: two clients may use the same one. */
export const identifyRequest: Step = async (ctx, next) => {
  ctx.state.requestId = randomUUID();
  ctx.set('X-Request-Id', ctx.state.requestId);
  ctx.set('X-Content-Type-Options', 'nosniff');
  await next();
};

const probes: readonly string[] = ['/healthz', '/readyz', '/metrics'];

/**
 * Writes one line per request once it is over, also when the client went away. Never the query (a link's signature is
 * in it), never headers but the client's own request id, never bodies.
 */
export function logRequests(log: Logger): Step {
  return async (ctx, next) => {
    const startedAt = performance.now();
    ctx.res.once('close', () => {
      const level = ctx.res.statusCode >= 500 ? 'warn' : probes.includes(ctx.path) ? 'debug' : 'info';
      log[level]({ ...line(ctx), durationMs: Math.round(performance.now() - startedAt) }, 'request');
    });
    await next();
  };
}

/** The log leaves out what is undefined. */
function line(ctx: Context) {
  const { requestId, errorCode, accountId, operatorId } = ctx.state;
  const clientRequestId = ctx.get('X-Request-Id');
  return {
    requestId,
    method: ctx.method,
    path: ctx.path,
    // What stands there before an answer is Koa's 404, which was not sent.
    status: ctx.res.headersSent ? ctx.res.statusCode : undefined,
    errorCode,
    accountId,
    operatorId,
    clientRequestId: /^[\x21-\x7e]{1,128}$/.test(clientRequestId) ? clientRequestId : undefined,
    // The connection broke before the whole answer was handed over.
    aborted: ctx.res.writableFinished ? undefined : true,
  };
}
