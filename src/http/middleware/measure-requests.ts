import type { Context, Step } from '../context.ts';
import type { Events } from '../../metrics/counters.ts';

/** Any client may send a word of its own here. */
const methods: readonly string[] = ['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'PATCH', 'DELETE'];

/** Reports each request once it is over. The time of a download is also that of its client. */
export function measureRequests({ emit }: Events): Step {
  return async (ctx, next) => {
    const startedAt = performance.now();
    ctx.res.once('close', () => {
      const durationSeconds = ctx.state.isHeld === true ? undefined : (performance.now() - startedAt) / 1000;
      emit({
        kind: 'request_finished',
        route: routeOf(ctx),
        method: methods.includes(ctx.method) ? ctx.method : '(other)',
        status: ctx.res.headersSent ? String(ctx.res.statusCode) : 'aborted',
        durationSeconds,
      });
    });
    await next();
  };
}

/** The pattern that took the request, never its path: `(none)` when no route did. */
export function routeOf(ctx: Context): string {
  // Set by the router, whose own type of a context the steps around it do not have.
  const { _matchedRoute: matched } = ctx as { readonly _matchedRoute?: string | RegExp };
  if (matched === undefined) return '(none)';
  return typeof matched === 'string' ? matched : `${beginningOf(matched)}*`;
}

/** `/media/` of `^\/media\/.*$`. */
function beginningOf({ source }: RegExp): string {
  const [beginning = ''] = /^[\w/-]*/.exec(source.replace(/^\^/, '').replaceAll('\\/', '/')) ?? [];
  return beginning;
}
