import { uuidPattern } from '../platform/uuid.ts';
import type { MediaSource, OpenedLink, ResultStore } from './result-store.ts';
import { answer, type AppRouter, type Context } from '../http/context.ts';
import { existing, HttpError } from '../http/errors.ts';
import type { HttpDeps } from '../http/http-deps.ts';
import { findTask } from '../tasks/tasks.ts';
import { mediaDeleted } from './deleted-media.ts';
import { sendFile } from '../http/server/send-file.ts';

const mediaPath = /^\/media\/.*$/s;

/**
 * Serves files of the result store under signed links, without an API key. `&download=1` makes browsers save the file, because they ignore
 * the `download` attribute of a link that redirects to a bucket.
 */
export function mediaRoute(router: AppRouter, deps: HttpDeps): void {
  const { resultStore, now } = deps;
  router.get(mediaPath, async (ctx) => {
    const link = openedLink(ctx, resultStore);
    const source = await resultStore.sourceOf(link, ctx.method === 'HEAD' ? 'HEAD' : 'GET');
    if (source === undefined) throw await explainMissing(deps, link.key);
    const seconds = Math.max(0, Math.floor((link.linkExpiresAt - now()) / 1000));
    ctx.set(openToAllSites);
    await sendSource(ctx, source, link, seconds).catch(async (error: unknown) => {
      const isMissing = error instanceof HttpError && error.code === 'media_missing';
      throw isMissing ? await explainMissing(deps, link.key) : error;
    });
  });
  router.options(mediaPath, (ctx) => {
    ctx.set({ ...openToAllSites, Allow: methods, 'Access-Control-Allow-Methods': methods });
    ctx.set({ 'Access-Control-Allow-Headers': 'Range, If-Range, If-None-Match', 'Access-Control-Max-Age': '86400' });
    answer(ctx, { code: 200, msg: 'success', data: {} });
  });
}

const methods = 'GET, HEAD, OPTIONS';

/** The signature in the link is the permission, so any site may play the video. */
const openToAllSites = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Accept-Ranges, Content-Length, Content-Range, ETag, X-Request-Id',
  'Cross-Origin-Resource-Policy': 'cross-origin',
};

/** Clients must come back after this time, so that they get our message about a deleted file. */
const maxRedirectSeconds = 600;

async function sendSource(ctx: Context, source: MediaSource, link: OpenedLink, seconds: number): Promise<void> {
  const { contentType, downloadName, disposition } = link;
  if (source.kind === 'redirect') {
    ctx.status = 302;
    ctx.set({ Location: source.url, 'Cache-Control': `private, max-age=${Math.min(seconds, maxRedirectSeconds)}` });
    return;
  }
  ctx.set({
    'Content-Type': contentType,
    'Content-Disposition': `${disposition}; filename="${downloadName}"`,
    'Cache-Control': `private, max-age=${seconds}`,
  });
  if (source.kind === 'file') return sendFile(ctx, source);
  ctx.status = 200;
  if (source.body !== undefined) ctx.body = source.body;
  ctx.length = source.sizeBytes;
}

const keyOfTask = new RegExp(`^results/(${uuidPattern})/`);

/** Runs only for missing files, so that others need no database. */
async function explainMissing({ db, retentionMs }: HttpDeps, key: string): Promise<HttpError> {
  const taskId = keyOfTask.exec(key)?.[1];
  const task = taskId === undefined ? undefined : await findTask(db, taskId);
  if (task === undefined) return new HttpError('media_deleted');
  return task.mediaDeletedAt === undefined ? new HttpError('media_missing') : mediaDeleted(task, retentionMs);
}

/** Every invalid link gets the same error, whether or not the file exists. */
function openedLink(ctx: Context, store: ResultStore): OpenedLink {
  const query = new URLSearchParams(ctx.querystring);
  // Repeated parameters make the link invalid.
  const [expires, signature] = [query.getAll('expires').join(), query.getAll('signature').join()];
  // The path is not decoded: keys contain no escapes.
  const disposition = query.get('download') === '1' ? 'attachment' : 'inline';
  return existing(
    store.open({ key: ctx.path.slice('/media/'.length), expires, signature }, disposition),
    'link_invalid',
  );
}
