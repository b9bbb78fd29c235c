import type { Logger } from 'pino';
import { describeError } from '../describe-error.ts';
import { drainUnreadBody } from '../drain-unread-body.ts';
import { answer } from '../envelope.ts';
import { failureAnswer, failureOf } from '../failure-of.ts';
import type { HttpFailure } from '../http-failure.ts';
import type { Context, Step } from '../request-state.ts';

/** The one translator: whatever is thrown below becomes an envelope, and a line in the log when it is our fault. */
export function answerFailures(log: Logger): Step {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      await answerFailure(ctx, failureOf(error), log);
    }
    if (!ctx.headerSent) await drainUnreadBody(ctx.req, ctx.res);
  };
}

async function answerFailure(ctx: Context, failure: HttpFailure, log: Logger): Promise<void> {
  ctx.state.failure = failure.failure;
  logOurFaults(ctx, failure, log);
  if (ctx.headerSent) {
    // Half an answer is out; only a broken connection tells the client that the rest is missing.
    ctx.res.destroy();
    return;
  }
  const { envelope, headers } = failureAnswer(failure);
  forgetHeaders(ctx);
  ctx.respond = true;
  answer(ctx, envelope);
  ctx.set(headers);
}

function logOurFaults(ctx: Context, { failure, details }: HttpFailure, log: Logger): void {
  const { requestId } = ctx.state;
  if (failure === 'internal') log.error({ requestId, error: describeError(details.cause) }, 'a request crashed');
  else if (details.cause !== undefined)
    log.warn({ requestId, failure, error: describeError(details.cause) }, 'a request failed');
}

const kept: readonly string[] = ['x-request-id', 'x-content-type-options'];

/** What a handler had set for its own answer does not belong to this one. */
function forgetHeaders(ctx: Context): void {
  for (const name of ctx.res.getHeaderNames()) if (!kept.includes(name)) ctx.remove(name);
}
