import { HttpFailure } from '../http-failure.ts';
import type { Step, WithCaller } from '../request-state.ts';

/** A suspended account may read what it has paid for, but start nothing new. Comes after `authenticate`. */
export const refuseSuspended: Step<WithCaller> = async (ctx, next) => {
  if (ctx.state.caller.suspended) throw new HttpFailure('account_suspended');
  await next();
};
