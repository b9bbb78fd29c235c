import { z } from 'zod';
import { maxImages, maxPromptCodePoints, maxSeconds, minSeconds, ratios } from '../../domain/task-input.ts';
import { ownAccount } from '../authentication.ts';
import { defineEndpoint } from '../define-endpoint.ts';
import { numberedPage, strictQuery } from '../fields.ts';
import { booksFields, presentBooks, presentRate, rateSchema } from '../presenters/account.ts';
import { presentPrices, priceFields } from '../presenters/price.ts';

const credits = defineEndpoint({
  operationId: 'getCredits',
  route: 'GET /api/v1/credits',
  scope: 'credits:read',
  summary: 'The balance, and the ledger behind it',
  description: 'Entries are listed newest first; balance and entries are read at one and the same moment.',
  query: strictQuery(numberedPage),
  data: z.strictObject(booksFields),
  handler: ({ caller: { accountId }, query }, { db }) => presentBooks(db, accountId, query),
});

const rateLimitSchema = rateSchema.meta({ description: 'So many requests in so many seconds; null is no limit.' });

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
    model: z.string(),
    title: z.string(),
    ...priceFields,
    resolutions: z.array(z.literal('720p')),
    ratios: z.array(z.enum(ratios)),
    minDuration: z.int(),
    maxDuration: z.int(),
    maxPromptLength: z.int().meta({ description: 'In Unicode code points.' }),
    maxImages: z.int(),
  })
  .meta({ id: 'Model' });

/** The same for every model. */
const bounds = {
  resolutions: ['720p' as const],
  ratios: [...ratios],
  minDuration: minSeconds,
  maxDuration: maxSeconds,
  maxPromptLength: maxPromptCodePoints,
  maxImages,
};

const models = defineEndpoint({
  operationId: 'listModels',
  route: 'GET /api/v1/models',
  scope: 'any',
  summary: "Models with their prices, and the account's limits",
  data: z.strictObject({ models: z.array(modelSchema), limits: limitsSchema }),
  handler: async ({ caller }, deps) => {
    const prices = await presentPrices(deps, caller.accountId);
    const { createRate, unfinishedTasks, maxUnfinishedTasks } = await ownAccount(deps.db, caller);
    const creates = presentRate(createRate ?? deps.createRate);
    return {
      models: prices.map((price) => ({ ...price, ...bounds })),
      limits: { creates, reads: presentRate(deps.reads?.rate), unfinishedTasks, maxUnfinishedTasks },
    };
  },
});

export const accountInfoEndpoints = [credits, models];
