import { z } from 'zod';
import { defineEndpoint, type DepsOfAll } from '../../core/define-endpoint.ts';
import { HttpError, requireExisting } from '../../core/http-error.ts';
import { oneOf } from '../../core/request-fields.ts';
import { idParameter, strictQuery, wholeNumberParameter } from '../../core/query-parameters.ts';
import { listTasksWithContent } from '../../../tasks/list/task-list.ts';
import { presentTask, type TaskRecordDeps } from '../../tasks/task-view.ts';
import { createVideoSpec, createVideo, type CreateVideoDeps } from '../create-video.ts';
import type { ApiShape } from '../shape.ts';
import {
  type ContentDeps,
  contentFailures,
  contentEndpointFields,
  type ReadTaskDeps,
  type RemoveDeps,
  cancelOrDeleteVideo,
  sendVideoOrPoster,
  readUndeletedAndMarkRead,
} from '../read-send-and-delete-video.ts';
import { refuseOtherClient } from '../wrong-base-url.ts';
import { openAIErrorShape as shape } from './openai-error.ts';
import { openAICreateBody, readOpenAIRequest } from './openai-request.ts';
import { presentOpenAIVideo, type OpenAIVideoDeps, openAIVideoSchema } from './openai-video.ts';
import type { WithCatalogueGetter } from '../../../catalogue/file/catalogue-schema-and-types.ts';

/** The catalogue has no dates, so `created` is 0. `owned_by` is the name of the model in our own API. */
const modelSchema = z
  .strictObject({ id: z.string(), object: z.literal('model'), created: z.literal(0), owned_by: z.string() })
  .meta({ id: 'OpenAIModel' });

/** `isSold`: false while the live workers cannot generate the model. */
type OfferDeps = WithCatalogueGetter & { readonly isSold: (model: string) => boolean };

const listModels = defineEndpoint({
  operationId: 'openaiListModels',
  shape,
  route: 'GET /v1/models',
  scope: 'any',
  summary: 'List the names of models',
  description: 'A model has one entry for each of its names. Omits models that no worker can generate at present.',
  data: z.strictObject({ object: z.literal('list'), data: z.array(modelSchema) }),
  handler: async (_call, deps: OfferDeps) => ({ object: 'list' as const, data: soldNames(deps) }),
});

const retrieveModel = defineEndpoint({
  operationId: 'openaiRetrieveModel',
  shape,
  route: 'GET /v1/models/{id}',
  scope: 'any',
  summary: 'Retrieve a model',
  data: modelSchema,
  failures: ['model_not_found'],
  handler: async ({ params }, deps: OfferDeps) => {
    const named = soldNames(deps).find(({ id }) => id === params['id']);
    return requireExisting(named, 'model_not_found');
  },
});

function soldNames({ catalogue, isSold }: OfferDeps) {
  const sold = [...catalogue().models.values()].filter(({ model }) => isSold(model));
  return sold.flatMap(({ model, aliases = [] }) =>
    [...aliases, model].map((id) => ({ id, object: 'model' as const, created: 0 as const, owned_by: model })),
  );
}

/** OpenAI's Python SDK reads the pause between two polls once, from the first response. */
const pollAfter = { 'OpenAI-Poll-After-Ms': '2000' };
const pollHeader = { 'OpenAI-Poll-After-Ms': 'Milliseconds until the next poll.' };

type ReadDeps = ReadTaskDeps & TaskRecordDeps & OpenAIVideoDeps;

const create = defineEndpoint({
  operationId: 'openaiCreateVideo',
  shape,
  route: 'POST /v1/videos',
  ...createVideoSpec,
  summary: 'Create a video',
  body: openAICreateBody,
  data: openAIVideoSchema,
  answerHeaders: { ...createVideoSpec.answerHeaders, ...pollHeader },
  failures: [...createVideoSpec.failures, 'base_url_mismatch'],
  handler: async (call, deps: CreateVideoDeps & OpenAIVideoDeps) => {
    refuseOtherClient(call.ctx, shape.name, deps.publicUrl);
    const { request, names } = readOpenAIRequest(call.input, deps.catalogue().models);
    const { record, replayed } = await createVideo(call, deps, { shape: shape.name, request, names });
    call.ctx.set(pollAfter);
    return { ...presentOpenAIVideo(deps, record), ...replayed };
  },
});

const retrieve = defineEndpoint({
  operationId: 'openaiRetrieveVideo',
  shape,
  route: 'GET /v1/videos/{id}',
  scope: 'tasks:read',
  summary: 'Retrieve a video',
  data: openAIVideoSchema,
  answerHeaders: pollHeader,
  failures: ['task_not_found'],
  handler: async ({ caller, params, ctx }, deps: ReadDeps) => {
    const task = await readUndeletedAndMarkRead(deps, caller, params['id']);
    ctx.set(pollAfter);
    return presentOpenAIVideo(deps, await presentTask(deps, task));
  },
});

const list = defineEndpoint({
  operationId: 'openaiListVideos',
  shape,
  route: 'GET /v1/videos',
  scope: 'tasks:read',
  summary: 'List videos',
  description: 'Deleted videos are left out.',
  query: strictQuery({
    after: idParameter('the last video of the page before').optional(),
    limit: wholeNumberParameter(1, 100).default(20).meta({ default: 20 }),
    order: oneOf(['asc', 'desc']).default('desc'),
  }),
  data: z.strictObject({
    object: z.literal('list'),
    data: z.array(openAIVideoSchema),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  }),
  handler: async ({ caller, query: { limit, ...order } }, deps: ReadDeps) => {
    const tasks = await listTasksWithContent(deps.db, { accountId: caller.accountId, ...order, limit: limit + 1 });
    const page = tasks.slice(0, limit);
    await deps.seenTasks.record(caller.by, page);
    const data = await Promise.all(page.map(async (task) => presentOpenAIVideo(deps, await presentTask(deps, task))));
    const [first_id = null, last_id = null] = [data[0]?.id, data.at(-1)?.id];
    return { object: 'list' as const, data, first_id, last_id, has_more: tasks.length > limit };
  },
});

const content = defineEndpoint({
  operationId: 'openaiDownloadContent',
  shape,
  route: 'GET /v1/videos/{id}/content',
  scope: 'tasks:read',
  summary: 'Download a video',
  ...contentEndpointFields,
  query: strictQuery({ variant: oneOf(['video', 'thumbnail', 'spritesheet']).default('video') }),
  data: z.undefined(),
  failures: ['task_not_found', 'variant_not_offered', ...contentFailures],
  handler: async ({ caller, params, query: { variant }, ctx }, deps: ReadTaskDeps & ContentDeps) => {
    const task = await readUndeletedAndMarkRead(deps, caller, params['id']);
    if (variant === 'spritesheet') throw new HttpError('variant_not_offered');
    await sendVideoOrPoster(ctx, deps, task, variant === 'video' ? 'videoKey' : 'posterKey');
    return undefined;
  },
});

const remove = defineEndpoint({
  operationId: 'openaiDeleteVideo',
  shape,
  route: 'DELETE /v1/videos/{id}',
  // Suspended accounts may cancel, too, so it lacks `refusesSuspended`.
  scope: 'tasks:write',
  summary: 'Delete a video',
  description:
    'Cancels a video that has not ended and refunds it; it stays in the list as `failed` with the code `cancelled`. A repeat ' +
    'within a minute changes nothing. Deletes the content of one that has ended, which also requires the scope `content:delete`.',
  data: z.strictObject({ id: z.string(), object: z.literal('video.deleted'), deleted: z.literal(true) }),
  failures: ['task_not_found'],
  handler: async ({ caller, params }, deps: RemoveDeps) => ({
    id: await cancelOrDeleteVideo(deps, caller, params['id']),
    object: 'video.deleted' as const,
    deleted: true as const,
  }),
});

const endpoints = [create, list, retrieve, content, remove, listModels, retrieveModel];

export const openAIShape: ApiShape<DepsOfAll<(typeof endpoints)[number]>> = {
  ...shape,
  description: 'OpenAI’s videos API: set the base URL of its clients to `/v1` of this service.',
  basePath: '/v1',
  operations: /^\/(?:videos|models)(?:\/|$)/,
  paths: /^\/v1(?:\/|$)/,
  endpoints,
  notOffered:
    /^(?:POST \/v1\/videos\/(?:edits|extensions|characters|[^/]+\/remix)|GET \/v1\/videos\/characters\/[^/]+)$/,
  callbackBody: (record) =>
    JSON.stringify({
      id: `evt_${record.taskId}`,
      object: 'event',
      type: record.state === 'success' ? 'video.completed' : 'video.failed',
      created_at: Math.floor((record.completeTime ?? record.updateTime) / 1000),
      data: { id: record.taskId },
    }),
};
