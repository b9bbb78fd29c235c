import type { AppRouter, Context } from '../core/request-context-and-responses.ts';
import { refusalHeaders } from '../core/limits/rate-headers.ts';
import type { WithClock, WithDb } from '../core/endpoint-spec.ts';
import type { RateLimiter } from '../core/limits/rate-limits.ts';
import type { ResultStore } from '../../media/store/result-store.ts';
import { hourMs } from '../../platform/timing/milliseconds-per-unit.ts';
import { findSharedVideo, sharePathPrefix } from '../../library/gallery/share-links.ts';
import { tooManyRequestsPage, missingVideoPage, sharePageHtml, sharePageHeaders } from './share-page.ts';

/** The life of a link to media on a page. A page that was loaded before its link was revoked can play the video for this long. */
const maxMediaMs = hourMs;

type Deps = WithDb &
  WithClock & {
    readonly resultStore: ResultStore;
    readonly sharePages: RateLimiter;
    readonly consoleMediaOrigins: readonly string[];
  };

/** Serves the pages of share links to anyone. Each request signs new links to the media. */
export function addSharePageRoute(router: AppRouter, deps: Deps): void {
  const { db, resultStore, sharePages, consoleMediaOrigins, now } = deps;
  const headers = sharePageHeaders(consoleMediaOrigins);
  const show = (ctx: Context, status: number, page: string) => {
    ctx.status = status;
    ctx.set(headers);
    ctx.body = page;
  };
  router.get(`${sharePathPrefix}:token`, async (ctx) => {
    const taken = sharePages.take(ctx.state.clientAddress());
    if (!taken.isAllowed) {
      show(ctx, 429, tooManyRequestsPage);
      ctx.set(refusalHeaders('share-pages', sharePages.rate, taken));
      return;
    }
    const shared = await findSharedVideo(db, ctx.path.slice(sharePathPrefix.length));
    if (shared === undefined) return show(ctx, 404, missingVideoPage);
    const { title, accountName, expiresAt, result } = shared;
    const lifeMs = Math.min(maxMediaMs, expiresAt - now());
    const [videoUrl, posterUrl] = [
      resultStore.link(result.videoKey, lifeMs),
      resultStore.link(result.posterKey, lifeMs),
    ];
    show(ctx, 200, sharePageHtml({ title, accountName, videoUrl, posterUrl, ...result }));
  });
}
