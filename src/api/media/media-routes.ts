import type { VerifiedLink, ResultStore } from '../../media/store/result-store.ts';
import { answerEnvelope, type AppRouter, type Context } from '../core/request-context-and-responses.ts';
import { requireExisting } from '../core/http-error.ts';
import type { WithClock } from '../core/endpoint-spec.ts';
import { type SendMediaDeps, sendMedia } from './send-media.ts';

const mediaPath = /^\/media\/.*$/s;

type Deps = SendMediaDeps & WithClock & { readonly resultStore: ResultStore };

/**
 * Serves files of the result store under signed links, without an API key. `&download=1` makes browsers save the file, because they ignore
 * the `download` attribute of a link that redirects to a bucket.
 */
export function addMediaRoute(router: AppRouter, deps: Deps): void {
  const { resultStore, now } = deps;
  router.get(mediaPath, async (ctx) => {
    const link = openedLink(ctx, resultStore);
    const seconds = Math.max(0, Math.floor((link.linkExpiresAt - now()) / 1000));
    await sendMedia(ctx, deps, { link, seconds, headers: openToAllSites });
  });
  router.options(mediaPath, (ctx) => {
    ctx.set({ ...openToAllSites, Allow: methods, 'Access-Control-Allow-Methods': methods });
    ctx.set({ 'Access-Control-Allow-Headers': 'Range, If-Range, If-None-Match', 'Access-Control-Max-Age': '86400' });
    answerEnvelope(ctx, { code: 200, msg: 'success', data: {} });
  });
}

const methods = 'GET, HEAD, OPTIONS';

/** The signature in the link is the permission, so any site may play the video. */
const openToAllSites = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Accept-Ranges, Content-Length, Content-Range, ETag, X-Request-Id',
  'Cross-Origin-Resource-Policy': 'cross-origin',
};

/** Every invalid link gets the same error, whether or not the file exists. */
function openedLink(ctx: Context, store: ResultStore): VerifiedLink {
  const query = new URLSearchParams(ctx.querystring);
  // Repeated parameters make the link invalid.
  const [expires, signature] = [query.getAll('expires').join(), query.getAll('signature').join()];
  // The path is not decoded: keys contain no escapes.
  const disposition = query.get('download') === '1' ? 'attachment' : 'inline';
  return requireExisting(
    store.open({ key: ctx.path.slice('/media/'.length), expires, signature }, disposition),
    'link_invalid',
  );
}
