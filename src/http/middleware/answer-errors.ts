import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import type { Logger } from 'pino';
import { answer, type Context, type Step } from '../context.ts';
import { describeError } from '../../domain/errors.ts';
import { type HttpError, toHttpError } from '../errors.ts';

/** The error handler: every error becomes an envelope, and a line in the log when it is our fault. */
export function answerErrors(log: Logger): Step {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      await answerError(ctx, toHttpError(error), log);
    }
    if (!ctx.headerSent) await drainUnreadBody(ctx.req, ctx.res);
  };
}

async function answerError(ctx: Context, error: HttpError, log: Logger): Promise<void> {
  ctx.state.errorCode = error.code;
  logOurFaults(ctx, error, log);
  if (ctx.headerSent) {
    // Half an answer is sent; only a broken connection shows the client that the rest is missing.
    ctx.res.destroy();
    return;
  }
  // What a handler had set for its own answer does not belong to this one.
  for (const name of ctx.res.getHeaderNames()) if (!preservedHeaders.includes(name)) ctx.remove(name);
  ctx.respond = true;
  answer(ctx, error.envelope);
  ctx.set(error.headers);
}

function logOurFaults(ctx: Context, { code, cause }: HttpError, log: Logger): void {
  const { requestId } = ctx.state;
  if (code === 'internal') log.error({ requestId, error: describeError(cause) }, 'a request crashed');
  else if (cause !== undefined)
    log.warn({ requestId, errorCode: code, error: describeError(cause) }, 'a request failed');
}

const preservedHeaders: readonly string[] = ['x-request-id', 'x-content-type-options', 'strict-transport-security'];

const maxDrainMs = 2_000;

/**
 * Reads the rest of a refused body before the answer closes the connection: closing with unread bytes resets it, and the client
 * would lose the answer. Of a connection that stays open Node reads the rest itself.
 */
async function drainUnreadBody(req: IncomingMessage, res: ServerResponse): Promise<void> {
  if (req.complete || req.destroyed || res.shouldKeepAlive) return;
  // A client that sends for longer does without our answer.
  await finished(req.resume(), { signal: AbortSignal.timeout(maxDrainMs) }).catch(() => undefined);
}
