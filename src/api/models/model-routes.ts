import { z } from 'zod';
import { presentSample, sampleViewSchema } from './sample-routes.ts';
import { inputJsonSchema, sampleRequest } from '../../tasks/accept/documented-task-request.ts';
import { readAccountOfCaller } from '../core/authentication.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import { presentRequestRate, requestRateSchema } from '../accounts/ledger-entry-view.ts';
import type { RateLimiter } from '../core/limits/rate-limits.ts';
import type { Rate } from '../../platform/timing/parse-rate-and-rate-left.ts';
import { pricedModelFields, readSoldModels, type SoldModelDeps } from '../credits/price-view.ts';

const rateLimitSchema = requestRateSchema.meta({ description: 'Null: no limit.' });

const limitsSchema = z
  .strictObject({
    creates: rateLimitSchema,
    reads: rateLimitSchema,
    unfinishedTasks: z.int().nonnegative(),
    maxUnfinishedTasks: z.int().nonnegative(),
  })
  .meta({ id: 'Limits' });

const modelSchema = z
  .strictObject({
    ...pricedModelFields,
    inputSchema: z.record(z.string(), z.unknown()).meta({
      description: 'The JSON Schema of `input` in a request for this model: its fields, bounds and defaults.',
    }),
    sampleRequest: z
      .strictObject({ model: z.string(), input: z.record(z.string(), z.unknown()) })
      .meta({ description: 'The smallest body of `createTask`, with sample values.' }),
    description: z.string().nullable().meta({ description: 'Plain text for customers: the strengths of the model.' }),
    sample: sampleViewSchema,
    lastFrame: z.boolean().meta({
      description: 'True if the last frame of its videos is stored, too; `resultJson.lastFrameUrl` is its link.',
    }),
  })
  .meta({ id: 'Model' });

type ListDeps = SoldModelDeps & {
  readonly createRate: Rate | undefined;
  readonly reads: RateLimiter | undefined;
  readonly publicUrl: string;
};

export const listModels = defineEndpoint({
  operationId: 'listModels',
  route: 'GET /api/v1/models',
  scope: 'any',
  summary: 'List models, prices and limits',
  description: 'Omits models that no worker can generate at present.',
  data: z.strictObject({ models: z.array(modelSchema), limits: limitsSchema }),
  handler: async ({ caller }, deps: ListDeps) => {
    const sold = await readSoldModels(deps, caller.accountId);
    const { createRate, unfinishedTasks, maxUnfinishedTasks } = await readAccountOfCaller(deps.db, caller);
    const creates = presentRequestRate(createRate ?? deps.createRate);
    return {
      models: sold.map(({ model, prices }) => ({
        model: model.model,
        title: model.title,
        prices,
        description: model.description ?? null,
        inputSchema: inputJsonSchema(model.input),
        sampleRequest: sampleRequest(model.model, model.input),
        sample: presentSample(model, deps),
        lastFrame: model.lastFrame,
      })),
      limits: { creates, reads: presentRequestRate(deps.reads?.rate), unfinishedTasks, maxUnfinishedTasks },
    };
  },
});

export const modelEndpoints = [listModels];
