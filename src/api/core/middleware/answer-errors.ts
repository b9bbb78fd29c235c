import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import type { Logger } from 'pino';
import { errorShapeOfPath } from '../../dialects/shapes.ts';
import { describeErrorForLog } from '../../../platform/setup-errors-and-error-messages.ts';
import { answerEnvelope, answerJson, type Context, type AppMiddleware } from '../request-context-and-responses.ts';
import { type HttpError } from '../http-error.ts';
import { replaceIfDiskIsFull, toHttpError } from '../to-http-error.ts';

export function answerErrors(log: Logger, diskProblem: () => string | undefined = () => undefined): AppMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      await answerError(ctx, replaceIfDiskIsFull(toHttpError(error), diskProblem()), log);
    }
    if (!ctx.headerSent) await drainUnreadBody(ctx.req, ctx.res);
  };
}

async function answerError(ctx: Context, error: HttpError, log: Logger): Promise<void> {
  ctx.state.errorCode = error.code;
  logError(ctx, error, log);
  if (ctx.headerSent) {
    // The response has begun; only a broken connection shows the client that the rest is missing.
    ctx.res.destroy();
    return;
  }
  // Removes headers that the handler set for its own response.
  for (const name of ctx.res.getHeaderNames()) if (!preservedHeaders.includes(name)) ctx.remove(name);
  ctx.respond = true;
  const shape = errorShapeOfPath(ctx.path);
  if (shape === undefined) answerEnvelope(ctx, error.envelope);
  else answerJson(ctx, error.envelope.code, shape.errorBody(error));
  ctx.set(error.headers);
}

export function logError(ctx: Context, { code, cause }: HttpError, log: Logger): void {
  const { requestId } = ctx.state;
  if (code === 'internal') log.error({ requestId, error: describeErrorForLog(cause) }, 'request crashed');
  else if (cause !== undefined)
    log.warn({ requestId, errorCode: code, error: describeErrorForLog(cause) }, 'request failed');
}

const preservedHeaders: readonly string[] = ['x-request-id', 'x-content-type-options', 'strict-transport-security'];

const maxDrainMs = 2_000;

/** Closing a connection with unread bytes resets it, and the client would lose the response. Node drains connections that stay open. */
async function drainUnreadBody(req: IncomingMessage, res: ServerResponse): Promise<void> {
  if (req.complete || req.destroyed || res.shouldKeepAlive) return;
  await finished(req.resume(), { signal: AbortSignal.timeout(maxDrainMs) }).catch(() => undefined);
}
