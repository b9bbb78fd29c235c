import type { LinkedFile, ResultStore } from '../../media/folder-result-store.ts';
import { answer, type AppRouter, type Context } from '../context.ts';
import { HttpError } from '../errors.ts';
import type { HttpDeps } from '../http-deps.ts';
import { sendFile } from '../server/send-file.ts';

/** Any key: only a valid signature, and so only a key that we made, leads to a file. */
const mediaPath = /^\/media\/.*$/s;

/** `GET /media/<key>?expires=&signature=`: the files of the result store. Needs no API key. */
export function mediaRoute(router: AppRouter, { resultStore, now = Date.now }: HttpDeps): void {
  router.get(mediaPath, async (ctx) => {
    const file = linkedFile(ctx, resultStore);
    const { contentType, downloadName, linkExpiresAt } = file;
    ctx.set({
      ...openToAllSites,
      'Content-Type': contentType,
      'Content-Disposition': `inline; filename="${downloadName}"`,
      'Cache-Control': `private, max-age=${Math.max(0, Math.floor((linkExpiresAt - now()) / 1000))}`,
    });
    await sendFile(ctx, file);
  });
  router.options(mediaPath, (ctx) => {
    ctx.set({ ...openToAllSites, Allow: methods, 'Access-Control-Allow-Methods': methods });
    ctx.set({ 'Access-Control-Allow-Headers': 'Range, If-Range, If-None-Match', 'Access-Control-Max-Age': '86400' });
    answer(ctx, { code: 200, msg: 'success', data: {} });
  });
}

const methods = 'GET, HEAD, OPTIONS';

/** A page on any site may play or fetch the video: the signature in the link is the permission. */
const openToAllSites = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Accept-Ranges, Content-Length, Content-Range, ETag, X-Request-Id',
  'Cross-Origin-Resource-Policy': 'cross-origin',
};

/** Every invalid link gets the same refusal, for any fault and whether or not the file exists. */
function linkedFile(ctx: Context, store: ResultStore): LinkedFile {
  const query = new URLSearchParams(ctx.querystring);
  // Given twice they are no number and no signature.
  const [expires, signature] = [query.getAll('expires').join(), query.getAll('signature').join()];
  // Taken as it came, not decoded: a key needs no escapes, so a path with one is not a key.
  const file = store.open({ key: ctx.path.slice('/media/'.length), expires, signature });
  if (file === undefined) throw new HttpError('link_invalid');
  return file;
}
