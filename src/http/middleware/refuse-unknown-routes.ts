import { answer } from '../envelope.ts';
import { nearestRoute, type Route } from '../nearest-route.ts';
import type { Step } from '../request-state.ts';
import { HttpError } from '../errors.ts';

export type KnownRoutes = {
  /** The methods of the routes that a path fits; none for an unknown path. */
  readonly methodsOf: (path: string) => readonly string[];
  /** Every route of a fixed path. */
  readonly routes: readonly Route[];
};

/** Runs when no route took the request: 404, 405 with `Allow`, or the answer to OPTIONS. */
export function refuseUnknownRoutes({ methodsOf, routes }: KnownRoutes): Step {
  return (ctx) => {
    const methods = methodsOf(ctx.path);
    if (methods.length === 0) throw new HttpError('unknown_endpoint', { msg: noSuchRoute(ctx, routes) });
    const allow = [...new Set([...methods, 'OPTIONS'])].toSorted().join(', ');
    if (ctx.method !== 'OPTIONS') {
      const msg = `the method ${ctx.method} is not allowed; allowed: ${allow}`;
      throw new HttpError('method_not_allowed', { msg, headers: { Allow: allow } });
    }
    ctx.set({ Allow: allow });
    answer(ctx, { code: 200, msg: 'success', data: {} });
  };
}

function noSuchRoute(wrong: Route, routes: readonly Route[]): string {
  const meant = nearestRoute(wrong, routes);
  const hint = meant === undefined ? '' : `; did you mean ${meant.method} ${meant.path}?`;
  const all = routes.some(({ path }) => path === '/docs') ? `${hint === '' ? ';' : ''} all endpoints: /docs` : '';
  return `no such endpoint${hint}${all}`;
}
