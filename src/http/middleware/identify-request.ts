import { randomUUID } from 'node:crypto';
import type { Step } from '../request-state.ts';

/** Gives the request an id of our own. A client's id is only logged: two clients may use the same one. */
export const identifyRequest: Step = async (ctx, next) => {
  ctx.state.requestId = randomUUID();
  ctx.set('X-Request-Id', ctx.state.requestId);
  ctx.set('X-Content-Type-Options', 'nosniff');
  await next();
};
