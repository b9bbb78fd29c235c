import { z } from 'zod';
import type { WithCatalogueGetter } from '../../../catalogue/file/catalogue-schema-and-types.ts';
import { type PresentedPrices, readSoldModels, type SoldModelDeps } from '../../credits/price-view.ts';
import { defineEndpoint, type DepsOfAll } from '../../core/define-endpoint.ts';
import type { WithClock } from '../../core/endpoint-spec.ts';
import { strictQuery, wholeNumberParameter } from '../../core/query-parameters.ts';
import { presentTask, type TaskRecordDeps } from '../../tasks/task-view.ts';
import { refuseOtherClient } from '../wrong-base-url.ts';
import { createVideoSpec, createVideo, type CreateVideoDeps } from '../create-video.ts';
import type { ApiShape } from '../shape.ts';
import {
  type ContentDeps,
  contentFailures,
  contentEndpointFields,
  readOwnTaskAndMarkRead,
  type ReadTaskDeps,
  sendVideoOrPoster,
} from '../read-send-and-delete-video.ts';
import { openRouterErrorShape as shape } from './openrouter-error.ts';
import { openRouterCreateBody, readOpenRouterRequest, openRouterResolutionNames } from './openrouter-request.ts';
import {
  openRouterCallbackBody,
  openRouterCallbackHeaders,
  presentOpenRouterVideo,
  openRouterVideoSchema,
} from './openrouter-video-and-callback.ts';
import {
  requestedNameOrAlias,
  type Model,
  type ModelsByName,
} from '../../../catalogue/models/model-type-and-name-lookup.ts';
import { standardPriceName } from '../../../catalogue/prices/model-prices.ts';
import { durationsOf } from '../../../catalogue/input/resolutions-ratios-and-field-bounds.ts';
import { mapSizesToFields } from '../video-size.ts';
import { fieldByFrameType, frameTypes } from '../read-frames-and-references.ts';

const texts = z.array(z.string());

/** A model, as `@openrouter/sdk` 1.3.19 declares it. */
const modelSchema = z
  .strictObject({
    id: z.string(),
    canonical_slug: z.string(),
    name: z.string(),
    created: z.literal(0).meta({ description: 'Unknown here.' }),
    supported_resolutions: texts,
    supported_aspect_ratios: texts,
    supported_sizes: texts,
    supported_durations: z.array(z.int()).meta({ description: 'Seconds.' }),
    supported_frame_images: z.array(z.enum(frameTypes)),
    generate_audio: z.boolean(),
    seed: z.boolean(),
    pricing_skus: z.record(z.string(), z.string()).meta({
      description: 'The prices in force for the account, in credits for a second and for a video, which add up.',
    }),
    allowed_passthrough_parameters: texts.meta({ description: 'Parameters of `provider.options.videogen`.' }),
    creativity: z.null(),
    upscale_factor: z.null(),
  })
  .meta({ id: 'OpenRouterModel' });

type Terms = { readonly models: ModelsByName; readonly prices: PresentedPrices; readonly now: number };

function presentModel({ model, title, input }: Model, { models, prices, now }: Terms) {
  const { fields } = input;
  return {
    id: requestedNameOrAlias(models, model),
    canonical_slug: model,
    name: title,
    created: 0 as const,
    supported_resolutions: fields.resolution.values.map((name) => openRouterResolutionNames[name] ?? name),
    supported_aspect_ratios: fields.ratio.values,
    supported_sizes: [...mapSizesToFields(input).keys()],
    supported_durations: durationsOf(fields.duration),
    supported_frame_images: frameTypes.filter((type) => fields[fieldByFrameType[type]]),
    generate_audio: fields.generateAudio.fixed ?? true,
    seed: fields.seed !== undefined,
    pricing_skus: Object.fromEntries(prices.flatMap((price) => skusOf(price, now))),
    allowed_passthrough_parameters: [
      ...(fields.negativePrompt ? ['negative_prompt'] : []),
      ...Object.keys(fields.options ?? {}),
    ],
    creativity: null,
    upscale_factor: null,
  };
}

/** A price with conditions has its name before the unit. */
function skusOf({ name, rates }: PresentedPrices[number], now: number): readonly [string, string][] {
  const { creditsPerSecond = 0, creditsPerVideo = 0 } = rates.findLast(({ fromTime }) => fromTime <= now) ?? {};
  const prefix = name === standardPriceName ? '' : `${name}: `;
  const amounts = { credits_per_second: creditsPerSecond, credits_per_video: creditsPerVideo };
  return Object.entries(amounts).flatMap(([unit, credits]) => (credits > 0 ? [[prefix + unit, String(credits)]] : []));
}

const create = defineEndpoint({
  operationId: 'openrouterCreateVideo',
  shape,
  route: 'POST /api/v1/videos',
  ...createVideoSpec,
  status: 202,
  summary: 'Create a video',
  body: openRouterCreateBody,
  data: openRouterVideoSchema,
  failures: [...createVideoSpec.failures, 'base_url_mismatch'],
  handler: async (call, deps: CreateVideoDeps & WithCatalogueGetter) => {
    refuseOtherClient(call.ctx, shape.name, deps.publicUrl);
    const read = readOpenRouterRequest(call.input, deps.catalogue().models);
    const { record, replayed } = await createVideo(call, deps, { shape: shape.name, ...read });
    return { ...presentOpenRouterVideo(record, deps.publicUrl), ...replayed };
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
  handler: async ({ caller }, deps: SoldModelDeps & WithClock) => {
    const terms = { models: deps.catalogue().models, now: deps.now() };
    const sold = await readSoldModels(deps, caller.accountId);
    return { data: sold.map(({ model, prices }) => presentModel(model, { ...terms, prices })) };
  },
});

const retrieve = defineEndpoint({
  operationId: 'openrouterRetrieveVideo',
  shape,
  route: 'GET /api/v1/videos/{id}',
  scope: 'tasks:read',
  summary: 'Retrieve a video',
  data: openRouterVideoSchema,
  failures: ['task_not_found'],
  handler: async ({ caller, params }, deps: ReadTaskDeps & TaskRecordDeps & { readonly publicUrl: string }) =>
    presentOpenRouterVideo(
      await presentTask(deps, await readOwnTaskAndMarkRead(deps, caller, params['id'])),
      deps.publicUrl,
    ),
});

const download = defineEndpoint({
  operationId: 'openrouterDownloadVideo',
  shape,
  route: 'GET /api/v1/videos/{id}/content',
  scope: 'tasks:read',
  summary: 'Download a video',
  ...contentEndpointFields,
  query: strictQuery({ index: wholeNumberParameter(0, 0).optional() }),
  data: z.undefined(),
  failures: ['task_not_found', ...contentFailures],
  handler: async ({ caller, params, ctx }, deps: ReadTaskDeps & ContentDeps) => {
    const task = await readOwnTaskAndMarkRead(deps, caller, params['id']);
    await sendVideoOrPoster(ctx, deps, task, 'videoKey');
    return undefined;
  },
});

// `listModels` comes before `retrieve`, whose path matches it, too.
const endpoints = [create, listModels, retrieve, download];

export const openRouterShape: ApiShape<DepsOfAll<(typeof endpoints)[number]>> = {
  ...shape,
  description:
    'The paths of OpenRouter’s video API. Its clients work when their base URL is `/api/v1` of this service.',
  basePath: '/api/v1',
  operations: /^\/videos(?:\/|$)/,
  paths: /^\/api\/v1\/videos(?:\/|$)/,
  endpoints,
  callbackBody: openRouterCallbackBody,
  callbackHeaders: openRouterCallbackHeaders,
};
