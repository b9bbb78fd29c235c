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
  const [expires, signature] = [query.getAll('expires'), query.getAll('signature')];
  const file = store.open({
    // Taken as it came, not decoded: a key needs no escapes, so a path with one is not a key.
    key: ctx.path.slice('/media/'.length),
    expires: expires.length === 1 ? (expires[0] ?? '') : '',
    signature: signature.length === 1 ? (signature[0] ?? '') : '',
  });
  if (file === undefined) throw new HttpError('link_invalid');
  return file;
}
