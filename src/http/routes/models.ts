import type { Router } from '@koa/router';
import { z } from 'zod';
import type { Rate } from '../../domain/rate.ts';
import { maxImages, maxPromptCodePoints, maxSeconds, minSeconds } from '../../domain/task-request.ts';
import { ratios } from '../../domain/task.ts';
import { findAccountLimits } from '../../stores/accounts.ts';
import { succeed } from '../envelope.ts';
import type { HttpDeps } from '../http-deps.ts';
import { authenticate } from '../middleware/authenticate.ts';
import { checkAnswers } from '../middleware/check-answers.ts';
import { limitReads } from '../middleware/limit-reads.ts';
import { keyFailures, type Operation } from '../operation.ts';
import type { Extras, RequestState, WithCaller } from '../request-state.ts';
import { priceFields, shownPrices } from '../shown-prices.ts';

const rateLimitSchema = z
  .strictObject({ quota: z.int().positive(), windowSeconds: z.number().positive() })
  .nullable()
  .meta({ description: 'So many requests in so many seconds; null is no limit.' });

const limitsSchema = z.strictObject({
  creates: rateLimitSchema,
  reads: rateLimitSchema,
  unfinishedTasks: z.int().nonnegative(),
  maxUnfinishedTasks: z.int().nonnegative(),
});

const modelSchema = z.strictObject({
  model: z.string(),
  title: z.string(),
  ...priceFields,
  resolutions: z.array(z.literal('720p')),
  ratios: z.array(z.enum(ratios)),
  minDuration: z.int(),
  maxDuration: z.int(),
  maxPromptLength: z.int().meta({ description: 'In Unicode code points.' }),
  maxImages: z.int(),
});

export const modelsOperation: Operation = {
  operationId: 'listModels',
  method: 'get',
  path: '/api/v1/models',
  tag: 'account',
  summary: "Models with their rates, and the account's limits",
  key: 'any',
  data: z.strictObject({
    models: z.array(modelSchema.meta({ id: 'Model' })),
    limits: limitsSchema.meta({ id: 'Limits' }),
  }),
  failures: keyFailures.filter((failure) => failure !== 'scope_missing'),
};

/** `GET /api/v1/models`: what can be asked for, and what it costs. Any good key will do. */
export function modelsRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.get<WithCaller>(
    modelsOperation.path,
    checkAnswers(modelsOperation, deps.checkAnswers),
    authenticate(deps),
    limitReads(deps),
    async (ctx) => {
      const { accountId } = ctx.state.caller;
      succeed(ctx, { models: await modelsOf(accountId, deps), limits: await limitsOf(accountId, deps) });
    },
  );
}

async function modelsOf(accountId: string, deps: HttpDeps): Promise<z.output<typeof modelSchema>[]> {
  const prices = await shownPrices(deps, accountId);
  return prices.map((price) => ({ ...price, ...bounds }));
}

/** One and the same for every model (spec 2.3). */
const bounds = {
  resolutions: ['720p' as const],
  ratios: [...ratios],
  minDuration: minSeconds,
  maxDuration: maxSeconds,
  maxPromptLength: maxPromptCodePoints,
  maxImages,
};

async function limitsOf(accountId: string, deps: HttpDeps): Promise<z.output<typeof limitsSchema>> {
  const limits = await findAccountLimits(deps.db, accountId);
  if (limits === undefined) throw new Error('a key belongs to an account that does not exist');
  const { createRate, unfinishedTasks, maxUnfinishedTasks } = limits;
  return {
    creates: shownRate(createRate ?? deps.createRate),
    reads: shownRate(deps.reads?.rate),
    unfinishedTasks,
    maxUnfinishedTasks,
  };
}

function shownRate(rate: Rate | undefined): z.output<typeof rateLimitSchema> {
  return rate === undefined ? null : { quota: rate.quota, windowSeconds: rate.windowMs / 1000 };
}
