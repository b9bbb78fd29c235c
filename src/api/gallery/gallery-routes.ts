import { z } from 'zod';
import { defineEndpoint } from '../core/define-endpoint.ts';
import { HttpError } from '../core/http-error.ts';
import { oneOf, uncheckedIdField, oneLineTextField, unixMsSchema } from '../core/request-fields.ts';
import {
  booleanParameter,
  idPageParameters,
  nextCursorSchema,
  strictQuery,
  taskSearchParameter,
  textParameter,
} from '../core/query-parameters.ts';
import type { WithDb } from '../core/endpoint-spec.ts';
import type { ReadTaskRecorder } from '../../tasks/list/record-tasks-seen.ts';
import type { LinkSigner } from '../tasks/task-view.ts';
import { pickRowFieldsBySchema } from '../core/pick-row-fields-by-schema.ts';
import { ratios } from '../../catalogue/input/resolutions-ratios-and-field-bounds.ts';
import { parseTaskSearch } from '../../tasks/list/parse-task-search.ts';
import {
  setFavoritesAndTags,
  listTagNames,
  maxVideosLabeledAtOnce,
  maxTagLength,
  maxTagsOfAccount,
  maxTagsOfVideo,
  normalizedTag,
} from '../../library/gallery/favorites-and-tags.ts';
import { type GalleryVideo, listVideos, maxVideosExamined } from '../../library/gallery/videos.ts';

const videoSchema = z
  .strictObject({
    taskId: z.string(),
    model: z.string(),
    prompt: z.string(),
    ratio: z.string().meta({ description: 'The ratio of the request.' }),
    width: z.int(),
    height: z.int(),
    seconds: z.number(),
    hasAudio: z.boolean(),
    videoUrl: z.url().meta({ description: 'A freshly signed link.' }),
    posterUrl: z.url().meta({ description: 'A freshly signed link to a still of the video.' }),
    favorite: z.boolean(),
    tags: z.array(z.string()),
    createTime: unixMsSchema,
  })
  .meta({ id: 'GalleryVideo' });

type ViewDeps = { readonly resultStore: LinkSigner };
type ListDeps = WithDb & ViewDeps & { readonly seenTasks: ReadTaskRecorder; readonly searchesPrompts: boolean };

function presentVideo({ resultStore }: ViewDeps, video: GalleryVideo) {
  const { taskId, param, result, isFavorite: favorite, tags, createdAt: createTime } = video;
  if (result === undefined) throw new Error(`task ${taskId} has no video`);
  return pickRowFieldsBySchema(videoSchema, {
    taskId,
    model: param.model,
    prompt: param.input.prompt,
    ratio: param.input.ratio,
    width: result.widthPx,
    height: result.heightPx,
    seconds: Math.round(result.durationSeconds * 1000) / 1000,
    hasAudio: result.hasAudio,
    videoUrl: resultStore.link(result.videoKey),
    posterUrl: resultStore.link(result.posterKey),
    favorite,
    tags,
    createTime,
  });
}

const list = defineEndpoint({
  operationId: 'listVideos',
  route: 'GET /api/v1/gallery/videos',
  scope: 'tasks:read',
  summary: 'List videos',
  description:
    `Lists the account's videos that can be played, newest first. A request examines at most ${maxVideosExamined} videos, so a page with ` +
    'filters may have fewer videos than `limit`, or none, while `nextCursor` is not null.',
  query: strictQuery({
    model: textParameter('must be the name of a model').max(100).optional(),
    ratio: oneOf(ratios).meta({ description: 'The ratio of the request.' }).optional(),
    favorite: booleanParameter.meta({ description: '`true`: favorites only.' }).optional(),
    tag: textParameter('must be a tag')
      .min(1)
      .max(maxTagLength)
      .transform(normalizedTag)
      .meta({ type: 'string' })
      .optional(),
    search: taskSearchParameter
      .meta({
        description:
          'Words that the prompt contains; the last one may be incomplete. They match nothing if the installation disables prompt search.',
      })
      .optional(),
    ...idPageParameters,
  }),
  data: z.strictObject({ videos: z.array(videoSchema), nextCursor: nextCursorSchema }),
  handler: async ({ caller: { accountId, by }, query }, deps: ListDeps) => {
    const { model, ratio, favorite: isFavorite, tag, search, cursor: after, limit } = query;
    const words = search === undefined ? undefined : parseTaskSearch(search, deps).words;
    if (search !== undefined && words === undefined) return { videos: [], nextCursor: null };
    const filter = { accountId, model, ratio, isFavorite, tag, words, after, limit };
    const { videos, nextAfter } = await listVideos(deps.db, filter);
    await deps.seenTasks.record(by, videos);
    return { videos: videos.map((video) => presentVideo(deps, video)), nextCursor: nextAfter ?? null };
  },
});

const tags = defineEndpoint({
  operationId: 'listTags',
  route: 'GET /api/v1/gallery/tags',
  scope: 'tasks:read',
  summary: 'List tags',
  description: 'Lists the tags that videos of the account have, in alphabetical order.',
  data: z.strictObject({ tags: z.array(z.string()) }),
  handler: async ({ caller: { accountId } }, { db }) => ({
    tags: (await listTagNames(db, accountId)).map(({ tag }) => tag),
  }),
});

const tagsError = `must be at most ${maxTagsOfVideo} tags`;

const tagError = `must be 1 to ${maxTagLength} characters, also in lower case`;

/** Some letters become two in lower case. */
function isTag(text: string): boolean {
  const { length } = [...normalizedTag(text)];
  return length > 0 && length <= maxTagLength;
}

const tagsField = z
  .array(oneLineTextField(maxTagLength).refine(isTag, { error: tagError }), { error: tagsError })
  .max(maxTagsOfVideo, { error: tagsError })
  .nullish()
  .meta({ description: `1 to ${maxTagLength} characters each. Upper and lower case are the same.` });

const idsError = `must be 1 to ${maxVideosLabeledAtOnce} task ids`;

const label = defineEndpoint({
  operationId: 'labelVideos',
  route: 'POST /api/v1/gallery/label',
  scope: 'tasks:write',
  summary: 'Mark favorites and tag videos',
  description:
    `Changes all of these videos or none. A video has at most ${maxTagsOfVideo} tags, and an account ${maxTagsOfAccount}. ` +
    'Labels belong to the account, and end with the video. Idempotent.',
  body: z.strictObject({
    taskIds: z
      .array(uncheckedIdField, { error: idsError })
      .min(1, { error: idsError })
      .max(maxVideosLabeledAtOnce, { error: idsError }),
    favorite: z.boolean({ error: 'must be true or false' }).nullish(),
    addTags: tagsField,
    removeTags: tagsField,
  }),
  data: z.strictObject({}).meta({ id: 'LabeledVideos' }),
  failures: ['task_not_found', 'too_many_tags'],
  handler: async ({ caller: { accountId }, input }, { db }) => {
    const { favorite, addTags, removeTags } = input;
    const isLabeled = await setFavoritesAndTags(db, {
      accountId,
      taskIds: requireUuidTaskIds(input.taskIds),
      isFavorite: favorite ?? undefined,
      addTags: (addTags ?? []).map(normalizedTag),
      removeTags: (removeTags ?? []).map(normalizedTag),
    });
    if (!isLabeled) throw videoNotFoundError();
    return {};
  },
});

/** Ids are opaque to clients: one in another format is not found. An id in upper case is the same id. */
export function requireUuidTaskIds(taskIds: readonly string[]): readonly string[] {
  if (!taskIds.every((taskId) => z.uuid().safeParse(taskId).success)) throw videoNotFoundError();
  return taskIds.map((taskId) => taskId.toLowerCase());
}

export function videoNotFoundError(): HttpError {
  return new HttpError('task_not_found', { msg: 'no task of the account with this id has a video' });
}

export const galleryEndpoints = [list, tags, label];
