import { uuidPattern } from '../../platform/text/uuid.ts';
import type { Context } from '../core/request-context-and-responses.ts';
import { HttpError } from '../core/http-error.ts';
import { sendFile } from '../core/server/send-file.ts';
import { dayMs } from '../../platform/timing/milliseconds-per-unit.ts';
import type { Task } from '../../catalogue/tasks/task.ts';
import { findTask } from '../../tasks/task-rows.ts';
import type { WithDb } from '../core/endpoint-spec.ts';
import type { MediaSendMethod, VerifiedLink, ProxiedRange, ResultStore } from '../../media/store/result-store.ts';

export type SendMediaDeps = WithDb & {
  readonly resultStore: Pick<ResultStore, 'sourceOf'>;
  readonly retentionMs: number;
};

type SentMedia = {
  readonly link: VerifiedLink;
  /** The response may be cached for this time. */
  readonly seconds: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly passing?: ProxiedRange;
};

/** Sends a file of the result store, or redirects to it in a bucket. Explains a missing one. */
export async function sendMedia(ctx: Context, deps: SendMediaDeps, sent: SentMedia): Promise<void> {
  const { link, passing } = sent;
  const source = await deps.resultStore.sourceOf(link, ctx.method === 'HEAD' ? 'HEAD' : 'GET', passing);
  if (source === undefined) throw await explainMissing(deps, link.key);
  await sendSource(ctx, source, sent).catch(async (error: unknown) => {
    const isMissing = error instanceof HttpError && error.code === 'media_missing';
    throw isMissing ? await explainMissing(deps, link.key) : error;
  });
}

/** Clients must come back after this time, so that they get our message about a deleted file. */
const maxRedirectSeconds = 600;

async function sendSource(ctx: Context, source: MediaSendMethod, sent: SentMedia): Promise<void> {
  const { link, seconds, headers = {}, passing } = sent;
  if (source.kind === 'outside')
    throw new HttpError('range_not_satisfiable', { headers: { 'Content-Range': `bytes */${source.sizeBytes}` } });
  ctx.set(headers);
  if (source.kind === 'redirect') {
    ctx.status = 302;
    ctx.set({ Location: source.url, 'Cache-Control': `private, max-age=${Math.min(seconds, maxRedirectSeconds)}` });
    return;
  }
  ctx.set({
    'Content-Type': link.contentType,
    'Content-Disposition': `${link.disposition}; filename="${link.downloadName}"`,
    'Cache-Control': `private, max-age=${seconds}`,
  });
  if (source.kind === 'file') return sendFile(ctx, source);
  const { body, contentRange, sizeBytes } = source;
  if (passing !== undefined) ctx.set('Accept-Ranges', 'bytes');
  if (contentRange !== undefined) ctx.set('Content-Range', contentRange);
  ctx.status = contentRange === undefined ? 200 : 206;
  if (body !== undefined) ctx.body = body;
  ctx.length = sizeBytes;
}

const keyOfTask = new RegExp(`^results/(${uuidPattern})/`);

/** Runs only for missing files, so that others need no database. */
async function explainMissing({ db, retentionMs }: SendMediaDeps, key: string): Promise<HttpError> {
  const taskId = keyOfTask.exec(key)?.[1];
  const task = taskId === undefined ? undefined : await findTask(db, taskId);
  if (task === undefined) return new HttpError('media_deleted');
  return task.mediaDeletedAt === undefined ? new HttpError('media_missing') : mediaDeletedError(task, retentionMs);
}

/** Explains when and why the video of a task was deleted. */
export function mediaDeletedError(task: Task, retentionMs: number): HttpError {
  const { mediaDeletedAt, contentDeletedAt, completedAt = Infinity, state } = task;
  if (mediaDeletedAt === undefined || state !== 'success') return new HttpError('media_deleted');
  const isExpired = mediaDeletedAt - completedAt >= retentionMs;
  const isRequested = contentDeletedAt !== undefined && mediaDeletedAt >= contentDeletedAt;
  // Otherwise the store had lost it (`videogen media check --forget`), or the retention has been raised since.
  const reason = isExpired
    ? ` after its retention of ${Math.round(retentionMs / dayMs)} days`
    : isRequested
      ? ' on request'
      : '';
  const msg = `the video was deleted${reason}, on ${new Date(mediaDeletedAt).toISOString()}`;
  return new HttpError('media_deleted', { msg });
}
