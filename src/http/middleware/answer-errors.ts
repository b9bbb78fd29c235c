import type { Logger } from 'pino';
import { describeError } from '../describe-error.ts';
import { drainUnreadBody } from '../drain-unread-body.ts';
import { answer } from '../envelope.ts';
import type { Context, Step } from '../request-state.ts';
import { answerTo, type HttpError, toHttpError } from '../errors.ts';

/** The one translator: whatever is thrown below becomes an envelope, and a line in the log when it is our fault. */
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
    // Half an answer is out; only a broken connection tells the client that the rest is missing.
    ctx.res.destroy();
    return;
  }
  const { envelope, headers } = answerTo(error);
  forgetHeaders(ctx);
  ctx.respond = true;
  answer(ctx, envelope);
  ctx.set(headers);
}

function logOurFaults(ctx: Context, { code, details }: HttpError, log: Logger): void {
  const { requestId } = ctx.state;
  if (code === 'internal') log.error({ requestId, error: describeError(details.cause) }, 'a request crashed');
  else if (details.cause !== undefined)
    log.warn({ requestId, errorCode: code, error: describeError(details.cause) }, 'a request failed');
}

const kept: readonly string[] = ['x-request-id', 'x-content-type-options'];

/** What a handler had set for its own answer does not belong to this one. */
function forgetHeaders(ctx: Context): void {
  for (const name of ctx.res.getHeaderNames()) if (!kept.includes(name)) ctx.remove(name);
}
