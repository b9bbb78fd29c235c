import { answer } from '../envelope.ts';
import { HttpFailure } from '../http-failure.ts';
import type { Step } from '../request-state.ts';

/** Tells the methods of the routes that a path fits; none for a path that nobody serves. */
export type MethodsOf = (path: string) => readonly string[];

/** Runs when no route took the request: 404, 405 with `Allow`, or the answer to OPTIONS. */
export function refuseUnknownRoutes(methodsOf: MethodsOf): Step {
  return (ctx) => {
    const methods = methodsOf(ctx.path);
    if (methods.length === 0) throw new HttpFailure('no_such_route');
    const headers = { Allow: [...new Set([...methods, 'OPTIONS'])].toSorted().join(', ') };
    if (ctx.method !== 'OPTIONS') throw new HttpFailure('method_not_allowed', { headers });
    ctx.set(headers);
    answer(ctx, { code: 200, msg: 'success', data: {} });
  };
}
