import { HttpFailure } from '../http-failure.ts';
import type { Step, WithCaller } from '../request-state.ts';

/** The dialect's own endpoints do not exist for any other key. Comes after `authenticate`. */
export const requireKie: Step<WithCaller> = async (ctx, next) => {
  if (ctx.state.caller.dialect !== 'kie') throw new HttpFailure('no_such_route');
  await next();
};
