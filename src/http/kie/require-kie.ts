import { HttpFailure } from '../http-failure.ts';
import type { Step, WithCaller } from '../request-state.ts';

/** Said to whoever speaks the dialect with a native key. */
export const howToGetKieKey =
  'make a key of that dialect with POST /api/v1/keys {"name": "…", "dialect": "kie"}, or have the operator make one ' +
  'with videogen key create --dialect kie';

/** Keeps the dialect's own endpoints to its keys. Comes after `authenticate`. */
export const requireKie: Step<WithCaller> = async (ctx, next) => {
  if (ctx.state.dialect !== 'kie') {
    throw new HttpFailure('dialect_required', { msg: `this endpoint belongs to the dialect kie; ${howToGetKieKey}` });
  }
  await next();
};
