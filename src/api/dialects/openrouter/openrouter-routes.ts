import { z } from 'zod';
import type { WithCatalogue } from '../../../catalogue/file/catalogue-schema.ts';
import { type PriceDeps, presentPrices } from '../../credits/price-view.ts';
import { defineEndpoint, type DepsOfAll } from '../../core/define-endpoint.ts';
import type { WithClock } from '../../core/endpoint.ts';
import { existing } from '../../core/http-error.ts';
import { idempotencyKeyHeader, replayedHeader } from '../../core/idempotency-key.ts';
import { strictQuery, wholeParameter } from '../../core/query-parameters.ts';
import { createFailures } from '../../tasks/create-task-routes.ts';
import { presentTask, type RecordDeps } from '../../tasks/task-view.ts';
import { refuseOtherClient } from '../wrong-base-url.ts';
import { unusedFieldsHeaderDoc } from '../unused-fields.ts';
import { createVideo, type CreateVideoDeps } from '../create-video.ts';
import type { IngressShape } from '../shape.ts';
import {
  type ContentDeps,
  contentFailures,
  contentFile,
  readTaskAsSeen,
  type ReadTaskDeps,
  sendContent,
} from '../stored-video.ts';
import { openRouterErrors as shape } from './openrouter-error.ts';
import { modelSchema, presentModel } from './openrouter-models.ts';
import { createBody, readOpenRouterRequest } from './openrouter-request.ts';
import { callbackBody, callbackHeaders, presentVideo, videoSchema } from './openrouter-video.ts';

const create = defineEndpoint({
  operationId: 'openrouterCreateVideo',
  shape,
  route: 'POST /api/v1/videos',
  scope: 'tasks:write',
  status: 202,
  createsTask: true,
  refusesSuspended: true,
  takesInlineFiles: true,
  summary: 'Create a video',
  headers: idempotencyKeyHeader,
  body: createBody,
  data: videoSchema,
  answerHeaders: { ...replayedHeader, ...unusedFieldsHeaderDoc },
  failures: [...createFailures, 'base_url_mismatch'],
  handler: async (call, deps: CreateVideoDeps & WithCatalogue) => {
    refuseOtherClient(call.ctx, shape.name, deps.publicUrl);
    const read = readOpenRouterRequest(call.input, deps.catalogue().models);
    const { record, replayed } = await createVideo(call, deps, { shape: shape.name, ...read });
    return { ...presentVideo(record, deps.publicUrl), ...replayed };
  },
});

const listModels = defineEndpoint({
  operationId: 'openrouterListModels',
  shape,
  route: 'GET /api/v1/videos/models',
  scope: 'any',
  summary: 'List models',
  description: 'Omits models that no worker can generate at present.',
  data: z.strictObject({ data: z.array(modelSchema) }),
  handler: async ({ caller }, deps: PriceDeps & WithClock & { readonly isSold: (model: string) => boolean }) => {
    const { models } = deps.catalogue();
    const sold = (await presentPrices(deps, caller.accountId)).filter(({ model }) => deps.isSold(model));
    const data = sold.map(({ model, prices }) => {
      const known = existing(models.get(model), 'model_unavailable');
      return presentModel(known, { models, prices, now: deps.now() });
    });
    return { data };
  },
});

const retrieve = defineEndpoint({
  operationId: 'openrouterRetrieveVideo',
  shape,
  route: 'GET /api/v1/videos/{id}',
  scope: 'tasks:read',
  summary: 'Retrieve a video',
  data: videoSchema,
  failures: ['task_not_found'],
  handler: async ({ caller, params }, deps: ReadTaskDeps & RecordDeps & { readonly publicUrl: string }) =>
    presentVideo(await presentTask(deps, await readTaskAsSeen(deps, caller, params['id'])), deps.publicUrl),
});

const download = defineEndpoint({
  operationId: 'openrouterDownloadVideo',
  shape,
  route: 'GET /api/v1/videos/{id}/content',
  scope: 'tasks:read',
  summary: 'Download a video',
  ...contentFile,
  query: strictQuery({ index: wholeParameter(0, 0).optional() }),
  data: z.undefined(),
  failures: ['task_not_found', ...contentFailures],
  handler: async ({ caller, params, ctx }, deps: ReadTaskDeps & ContentDeps) => {
    const task = await readTaskAsSeen(deps, caller, params['id']);
    await sendContent(ctx, deps, task, 'videoKey');
    return undefined;
  },
});

// `listModels` comes before `retrieve`, whose path matches it, too.
const endpoints = [create, listModels, retrieve, download];

export const openRouter: IngressShape<DepsOfAll<(typeof endpoints)[number]>> = {
  ...shape,
  description:
    'The paths of OpenRouter’s video API. Its clients work when their base URL is `/api/v1` of this service.',
  basePath: '/api/v1',
  operations: /^\/videos(?:\/|$)/,
  paths: /^\/api\/v1\/videos(?:\/|$)/,
  endpoints,
  callbackBody,
  callbackHeaders,
};
