import { z } from 'zod';
import { minuteMs } from '../../platform/timing/milliseconds-per-unit.ts';
import type { AppRouter, Context } from '../core/request-context-and-responses.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import { requireExisting, HttpError } from '../core/http-error.ts';
import { uncheckedIdField, unixMsSchema } from '../core/request-fields.ts';
import type { WithClock, WithDb } from '../core/endpoint-spec.ts';
import type { ResultStore } from '../../media/store/result-store.ts';
import type { Task } from '../../catalogue/tasks/task.ts';
import { archivedVideoName, maxArchived, zipOfFiles } from '../../library/gallery/zip-archive.ts';
import { videoNotFoundError, requireUuidTaskIds } from './gallery-routes.ts';
import { findAnyVideosByIds, findAccountVideosByIds } from '../../library/gallery/videos.ts';

/** A browser follows the link immediately. */
export const archiveLinkMs = 10 * minuteMs;

const idsError = `must be 1 to ${maxArchived} task ids`;

type Deps = WithDb & { readonly resultStore: ResultStore };

export const archiveVideos = defineEndpoint({
  operationId: 'archiveVideos',
  route: 'POST /api/v1/gallery/archive',
  scope: 'tasks:read',
  changesNothing: true,
  summary: 'Download videos as a ZIP file',
  description:
    'Returns a link to a ZIP file of these videos, which works without a key for ten minutes. An account downloads one archive at a time.',
  body: z.strictObject({
    taskIds: z
      .array(uncheckedIdField, { error: idsError })
      .min(1, { error: idsError })
      .max(maxArchived, { error: idsError }),
  }),
  data: z.strictObject({
    url: z.url(),
    bytes: z.int().meta({ description: 'The bytes of the videos.' }),
    expireTime: unixMsSchema,
  }),
  failures: ['task_not_found', 'archive_running'],
  handler: async ({ caller: { accountId }, input }, { db, resultStore, now }: Deps & WithClock) => {
    const taskIds = [...new Set(requireUuidTaskIds(input.taskIds))];
    const videos = await findAccountVideosByIds(db, accountId, taskIds);
    if (videos.length < taskIds.length) throw videoNotFoundError();
    requireNoArchive(accountId);
    const url = resultStore.archiveLink(taskIds.join(','), archiveLinkMs);
    const bytes = videos.reduce((sum, { result }) => sum + (result?.bytes ?? 0), 0);
    return { url, bytes, expireTime: now() + archiveLinkMs };
  },
});

const running = new Set<string>();

function requireNoArchive(accountId: string): void {
  if (running.has(accountId)) throw new HttpError('archive_running');
}

/** Serves archives under signed links, without an API key. */
export function addArchiveRoute(router: AppRouter, { db, resultStore }: Deps): void {
  router.get('/media/archives/:file', async (ctx) => {
    const taskIds = signedIds(ctx, resultStore);
    const videos = await findAnyVideosByIds(db, taskIds);
    const accountId = videos[0]?.accountId;
    if (accountId === undefined || videos.length < taskIds.length) throw new HttpError('media_deleted');
    const entries = videos.map((video) => entryOf(video, resultStore));
    requireNoArchive(accountId);
    running.add(accountId);
    const { body, sizeBytes } = await zipOfFiles(entries).catch((error: unknown) => {
      running.delete(accountId);
      throw error;
    });
    // Koa destroys the stream when the client disconnects.
    body.once('close', () => running.delete(accountId));
    ctx.status = 200;
    ctx.body = body;
    ctx.length = sizeBytes;
    ctx.set({
      'Content-Type': 'application/zip',
      'Content-Disposition': `attachment; filename="videos-${new Date().toISOString().slice(0, 10)}.zip"`,
      'Cache-Control': 'no-store',
    });
  });
}

/** The name of the archive lists its tasks. */
function signedIds(ctx: Context, resultStore: ResultStore): readonly string[] {
  const name = /^\/media\/archives\/([\da-f,-]+)\.zip$/.exec(ctx.path)?.[1];
  const query = new URLSearchParams(ctx.querystring);
  const [expires, signature] = [query.getAll('expires').join(), query.getAll('signature').join()];
  const isSigned = name !== undefined && resultStore.isArchiveSigned(name, { expires, signature });
  return requireExisting(isSigned ? name : undefined, 'link_invalid').split(',');
}

function entryOf(video: Task, resultStore: ResultStore) {
  const { result, createdAt } = video;
  if (result === undefined) throw new Error(`task ${video.taskId} has no video`);
  const { videoKey, bytes: sizeBytes } = result;
  const open = async () => requireExisting(await resultStore.read(videoKey), 'media_deleted');
  return { name: archivedVideoName(video), sizeBytes, modifiedAt: new Date(createdAt), open };
}
