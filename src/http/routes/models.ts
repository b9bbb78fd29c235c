import { z } from 'zod';
import { unknownModel } from '../../domain/models.ts';
import { ratios } from '../../domain/task-input.ts';
import { findAccount } from '../../stores/accounts.ts';
import { listPrices, maxCreditsPerSecond, priceLeadMs, setPriceAs, withdrawPriceAs } from '../../stores/prices.ts';
import { ownAccount } from '../authentication.ts';
import { defineEndpoint } from '../define-endpoint.ts';
import { existing, HttpError, invalidRequest } from '../errors.ts';
import { idField, maxUnixMs, reasonField, required, wholeNumber } from '../fields.ts';
import { cutPage, idParameter, nextCursorSchema, numberedPage, strictQuery, textParameter } from '../query.ts';
import { presentRate, rateSchema } from '../presenters/account.ts';
import { presentPrices, presentSetPrice, pricedModel, setPriceSchema } from '../presenters/price.ts';

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
    ...pricedModel,
    resolutions: z.array(z.literal('720p')),
    ratios: z.array(z.enum(ratios)),
    minDuration: z.int(),
    maxDuration: z.int(),
    maxPromptLength: z.int().meta({ description: 'In Unicode code points.' }),
    maxImages: z.int(),
  })
  .meta({ id: 'Model' });

const inputs = { resolutions: ['720p' as const], ratios: [...ratios] };

const listModels = defineEndpoint({
  operationId: 'listModels',
  route: 'GET /api/v1/models',
  scope: 'any',
  summary: "Models with their prices, and the account's limits",
  description: 'A model is left out while no worker can generate it.',
  data: z.strictObject({ models: z.array(modelSchema), limits: limitsSchema }),
  handler: async ({ caller }, deps) => {
    const prices = await presentPrices(deps, caller.accountId);
    const { createRate, unfinishedTasks, maxUnfinishedTasks } = await ownAccount(deps.db, caller);
    const creates = presentRate(createRate ?? deps.createRate);
    return {
      models: prices
        .filter(({ model }) => deps.isSold(model))
        .map((price) => ({ ...price, ...inputs, ...deps.catalogue().limits })),
      limits: { creates, reads: presentRate(deps.reads?.rate), unfinishedTasks, maxUnfinishedTasks },
    };
  },
});

const modelError = 'must be the name of a model';

const list = defineEndpoint({
  operationId: 'adminListPrices',
  route: 'GET /api/admin/v1/prices',
  summary: 'What the models cost, and what was decided about it',
  description:
    'The prices that operators have set, newest first: all of them, or those of one account. `models` shows those of the ' +
    "account, or of every account without prices of its own. A model without a price here costs what the catalogue's file says.",
  query: strictQuery({
    accountId: idParameter('an account').optional(),
    model: textParameter(modelError)
      .regex(/^[\w./-]{1,100}$/)
      .optional(),
    ...numberedPage,
  }),
  data: z.strictObject({
    models: z.array(z.strictObject(pricedModel)),
    prices: z.array(setPriceSchema),
    nextCursor: nextCursorSchema,
  }),
  failures: ['account_not_found'],
  handler: async ({ query: { accountId, model, cursor: before, limit } }, deps) => {
    if (accountId !== undefined) existing(await findAccount(deps.db, accountId), 'account_not_found');
    const prices = await listPrices(deps.db, { accountId, model, before, limit: limit + 1 });
    const { page, nextCursor } = cutPage(prices, limit, ({ priceId }) => String(priceId));
    return { models: await presentPrices(deps, accountId), prices: page.map(presentSetPrice), nextCursor };
  },
});

const priceError = `must be a whole number of credits from 1 to ${maxCreditsPerSecond}, or null`;
const timeError = 'must be a time in Unix milliseconds that is not past: a price never changes what was charged';

const set = defineEndpoint({
  operationId: 'adminSetPrice',
  route: 'POST /api/admin/v1/prices/set',
  needsRecentProof: true,
  summary: 'Set what a second of a model costs, for everybody or for one account',
  description:
    "Counts for tasks that are created at `fromTime` or later; every other task keeps what it was charged. An account's " +
    `own price counts before that for everybody. A price begins ${priceLeadMs / 1000} seconds from now at the earliest, so that ` +
    'every process knows it before it counts; the answer says when.',
  body: z.strictObject({
    model: z.string({ error: required(modelError) }),
    creditsPerSecond: wholeNumber(1, maxCreditsPerSecond, required(priceError))
      .nullable()
      .meta({ description: 'Null: back to the list price, or with no account to that of the catalogue.' }),
    accountId: idField('an account').nullish().meta({ description: 'Without it, for everybody.' }),
    fromTime: wholeNumber(0, maxUnixMs, timeError)
      .nullish()
      .meta({ description: 'Unix milliseconds; without it as soon as can be.' }),
    reason: reasonField,
  }),
  data: setPriceSchema,
  failures: ['account_not_found'],
  handler: async ({ actor, input }, { db, catalogue }) => {
    const message = unknownModel(catalogue().models, input.model);
    if (message !== undefined) throw invalidRequest([{ path: 'model', message }]);
    const setting = await setPriceAs(db, actor, {
      ...input,
      accountId: input.accountId ?? undefined,
      creditsPerSecond: input.creditsPerSecond ?? undefined,
      fromMs: input.fromTime ?? undefined,
    });
    if (setting.kind === 'account_not_found') throw new HttpError('account_not_found');
    if (setting.kind === 'in_the_past') throw invalidRequest([{ path: 'fromTime', message: timeError }]);
    return presentSetPrice(setting.price);
  },
});

const idError = 'must be the id of a price';

const withdraw = defineEndpoint({
  operationId: 'adminWithdrawPrice',
  route: 'POST /api/admin/v1/prices/withdraw',
  summary: 'Withdraw a price that is not in force yet',
  description:
    `Until ${priceLeadMs / 1000} seconds before it begins. One that counts can be followed by another, but not taken ` +
    'back. Withdrawing again changes nothing.',
  body: z.strictObject({
    priceId: z.int({ error: required(idError) }).min(1),
    reason: reasonField,
  }),
  data: setPriceSchema,
  failures: ['price_not_found', 'price_in_force'],
  handler: async ({ actor, input }, { db }) => {
    const withdrawal = await withdrawPriceAs(db, actor, input);
    if (withdrawal.kind === 'price_not_found') throw new HttpError('price_not_found');
    if (withdrawal.kind === 'too_late') throw new HttpError('price_in_force');
    return presentSetPrice(withdrawal.price);
  },
});

export const modelEndpoints = [listModels];
export const operatorPriceEndpoints = [list, set, withdraw];
