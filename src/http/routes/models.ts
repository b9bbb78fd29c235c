import type { Router } from '@koa/router';
import { z } from 'zod';
import { type Model, rateAt } from '../../domain/models.ts';
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

const rateSchema = z.strictObject({ creditsPerSecond: z.int().positive(), fromTime: z.int().nonnegative() });

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
  creditsPerSecond: z.int().positive().meta({ description: 'The rate in force now.' }),
  nextRates: z
    .array(rateSchema)
    .meta({ description: 'Rates that come into force later; a task keeps that of its creation.' }),
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
      const nowMs = (deps.now ?? Date.now)();
      const shown = [...deps.models.values()].map((model) => modelOf(model, nowMs));
      succeed(ctx, { models: shown, limits: await limitsOf(ctx.state.caller.accountId, deps) });
    },
  );
}

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

function modelOf(model: Model, nowMs: number): z.output<typeof modelSchema> {
  return {
    model: model.model,
    title: model.title,
    creditsPerSecond: rateAt(model, nowMs),
    nextRates: model.rates
      .filter(({ fromMs }) => fromMs > nowMs)
      .map(({ creditsPerSecond, fromMs }) => ({ creditsPerSecond, fromTime: fromMs })),
    resolutions: ['720p'],
    ratios: [...ratios],
    minDuration: minSeconds,
    maxDuration: maxSeconds,
    maxPromptLength: maxPromptCodePoints,
    maxImages,
  };
}
