import { hookPath } from '../../domain/hook-link.ts';
import { recordHint } from '../../stores/hints.ts';
import { answer, type AppRouter } from '../context.ts';
import { HttpError } from '../errors.ts';
import type { HttpDeps } from '../http-deps.ts';
import { limitHints } from '../limits/rate-limits.ts';
import { readBody } from '../server/read-json.ts';

/**
 * `POST /hooks/<token>`: an upstream announces that a job of ours has changed. It is told nothing, and nothing that it says is
 * believed: the job is only asked about earlier. Needs no API key.
 */
export function hookRoute(router: AppRouter, { db, hookLinks, hints }: HttpDeps): void {
  router.post(new RegExp(`^${hookPath}`), async (ctx) => {
    const call = hookLinks.callOf(ctx.path.slice(hookPath.length));
    if (call === undefined) throw new HttpError('unknown_endpoint');
    limitHints(ctx, hints);
    await recordHint(db, call);
    // Only so that its sender can send it to its end.
    await readBody(ctx.req);
    answer(ctx, { code: 200, msg: 'success', data: {} });
  });
}
