import { z } from 'zod';
import { defineEndpoint } from '../../core/define-endpoint.ts';
import { HttpError } from '../../core/http-error.ts';
import { oneOf } from '../../core/request-fields.ts';
import { idempotencyKeyHeader, replayedHeader } from '../../core/idempotency-key.ts';
import { idParameter, strictQuery, wholeParameter } from '../../core/query-parameters.ts';
import { createFailures } from '../../tasks/create-task-routes.ts';
import { listTasksWithContent } from '../../../tasks/list/task-list.ts';
import { presentTask, type RecordDeps } from '../../tasks/task-view.ts';
import { createVideo, type CreateVideoDeps } from '../create-video.ts';
import {
  type ContentDeps,
  contentFailures,
  contentFile,
  type ReadTaskDeps,
  type RemoveDeps,
  cancelOrDeleteVideo,
  sendContent,
  readStoredTask,
} from '../stored-video.ts';
import { refuseOtherClient } from '../wrong-base-url.ts';
import { unusedFieldsHeaderDoc } from '../unused-fields.ts';
import { openAIErrors as shape } from './openai-error.ts';
import { createSchema, readOpenAIRequest } from './openai-request.ts';
import { presentVideo, type VideoDeps, videoSchema } from './openai-video.ts';

/** OpenAI's Python SDK reads the pause between two polls once, from the first response. */
const pollAfter = { 'OpenAI-Poll-After-Ms': '2000' };
const pollHeader = { 'OpenAI-Poll-After-Ms': 'Milliseconds until the next poll.' };

type ReadDeps = ReadTaskDeps & RecordDeps & VideoDeps;

const create = defineEndpoint({
  operationId: 'openaiCreateVideo',
  shape,
  route: 'POST /v1/videos',
  scope: 'tasks:write',
  createsTask: true,
  refusesSuspended: true,
  takesInlineFiles: true,
  summary: 'Create a video',
  headers: idempotencyKeyHeader,
  body: createSchema,
  data: videoSchema,
  answerHeaders: { ...replayedHeader, ...unusedFieldsHeaderDoc, ...pollHeader },
  failures: [...createFailures, 'base_url_mismatch'],
  handler: async (call, deps: CreateVideoDeps & VideoDeps) => {
    refuseOtherClient(call.ctx, shape.name, deps.publicUrl);
    const { request, names } = readOpenAIRequest(call.input, deps.catalogue().models);
    const { record, replayed } = await createVideo(call, deps, { shape: shape.name, request, names });
    call.ctx.set(pollAfter);
    return { ...presentVideo(deps, record), ...replayed };
  },
});

const retrieve = defineEndpoint({
  operationId: 'openaiRetrieveVideo',
  shape,
  route: 'GET /v1/videos/{id}',
  scope: 'tasks:read',
  summary: 'Retrieve a video',
  data: videoSchema,
  answerHeaders: pollHeader,
  failures: ['task_not_found'],
  handler: async ({ caller, params, ctx }, deps: ReadDeps) => {
    const task = await readStoredTask(deps, caller, params['id']);
    ctx.set(pollAfter);
    return presentVideo(deps, await presentTask(deps, task));
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
    limit: wholeParameter(1, 100).default(20).meta({ default: 20 }),
    order: oneOf(['asc', 'desc']).default('desc'),
  }),
  data: z.strictObject({
    object: z.literal('list'),
    data: z.array(videoSchema),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  }),
  handler: async ({ caller, query: { limit, ...order } }, deps: ReadDeps) => {
    const tasks = await listTasksWithContent(deps.db, { accountId: caller.accountId, ...order, limit: limit + 1 });
    const page = tasks.slice(0, limit);
    await deps.seenTasks.record(caller.by, page);
    const data = await Promise.all(page.map(async (task) => presentVideo(deps, await presentTask(deps, task))));
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
  ...contentFile,
  query: strictQuery({ variant: oneOf(['video', 'thumbnail', 'spritesheet']).default('video') }),
  data: z.undefined(),
  failures: ['task_not_found', 'variant_not_offered', ...contentFailures],
  handler: async ({ caller, params, query: { variant }, ctx }, deps: ReadTaskDeps & ContentDeps) => {
    const task = await readStoredTask(deps, caller, params['id']);
    if (variant === 'spritesheet') throw new HttpError('variant_not_offered');
    await sendContent(ctx, deps, task, variant === 'video' ? 'videoKey' : 'posterKey');
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

export const openAIVideoEndpoints = [create, list, retrieve, content, remove];
