import { defineEndpoint } from '../../http/define-endpoint.ts';
import { ownTask } from '../../http/authentication.ts';
import { idempotencyKeyHeader, replayedHeader } from '../../http/idempotency-key.ts';
import { createFailures } from '../../tasks/create-task.ts';
import { presentTask } from '../../tasks/task-view.ts';
import type { Task } from '../../tasks/task.ts';
import type { HttpDeps } from '../../http/http-deps.ts';
import { createVideo } from '../create-video.ts';
import { openAIErrors as shape } from './openai-error.ts';
import { createSchema, readOpenAIRequest, theirNames } from './openai-request.ts';
import { presentVideo, videoSchema } from './openai-video.ts';

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
  answerHeaders: replayedHeader,
  failures: createFailures,
  handler: async (call, deps) => {
    const request = await readOpenAIRequest(call, deps);
    return videoOf(deps, await createVideo(call, deps, { shape: shape.name, request, names: theirNames }));
  },
});

const retrieve = defineEndpoint({
  operationId: 'openaiRetrieveVideo',
  shape,
  route: 'GET /v1/videos/{id}',
  scope: 'tasks:read',
  summary: 'Retrieve a video',
  data: videoSchema,
  failures: ['task_not_found'],
  handler: async ({ caller, params }, deps) =>
    videoOf(deps, await ownTask(deps.db, params['id'] ?? '', caller.accountId)),
});

async function videoOf(deps: HttpDeps, task: Task) {
  const { models } = deps.catalogue();
  return presentVideo(await presentTask(deps, task), { models, retentionMs: deps.retentionMs });
}

export const openAIEndpoints = [create, retrieve];
