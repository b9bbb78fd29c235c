import { z } from 'zod';
import type { WithCatalogueGetter } from '../../catalogue/file/catalogue-schema-and-types.ts';
import {
  checkOrDefaultPriceName,
  type ModelsByName,
  unknownModelRefusal,
} from '../../catalogue/models/model-type-and-name-lookup.ts';
import { maxPriceCredits, maxPriceNameLength } from '../../catalogue/prices/model-prices.ts';
import { findAccount } from '../../accounts/accounts.ts';
import {
  findPriceEverSet,
  listOperatorPrices,
  priceLeadMs,
  setPriceAs,
  withdrawPriceAs,
} from '../../credits/prices/operator-prices.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import type { WithDb } from '../core/endpoint-spec.ts';
import { requireExisting, HttpError, invalidRequest } from '../core/http-error.ts';
import type { Database } from '../../platform/database/database.ts';
import {
  notFutureTimeMessage,
  idField,
  maxUnixMs,
  oneLineTextField,
  reasonField,
  requiredOrInvalidMessage,
  wholeNumberField,
} from '../core/request-fields.ts';
import {
  cutPage,
  idParameter,
  nextCursorSchema,
  numericIdPageParameters,
  strictQuery,
  textParameter,
} from '../core/query-parameters.ts';
import {
  type PriceDeps,
  readAllModelPrices,
  presentSetPrice,
  pricedModelFields,
  operatorPriceSchema,
} from './price-view.ts';

const modelError = 'must be the name of a model';

const list = defineEndpoint({
  operationId: 'adminListPrices',
  route: 'GET /api/admin/v1/prices',
  summary: 'List prices',
  description:
    'Lists prices set by operators, newest first: all, or those of one account. `models` shows the prices in force for the account, or ' +
    'the list prices. A model without a price here has the price of the catalogue.',
  query: strictQuery({
    accountId: idParameter('an account').optional(),
    model: textParameter(modelError)
      .regex(/^[\w./-]{1,100}$/)
      .optional(),
    ...numericIdPageParameters,
  }),
  data: z.strictObject({
    models: z.array(z.strictObject(pricedModelFields)),
    prices: z.array(operatorPriceSchema),
    nextCursor: nextCursorSchema,
  }),
  failures: ['account_not_found'],
  handler: async ({ query: { accountId, model, cursor: before, limit } }, deps: PriceDeps) => {
    if (accountId !== undefined) requireExisting(await findAccount(deps.db, accountId), 'account_not_found');
    const prices = await listOperatorPrices(deps.db, { accountId, model, before, limit: limit + 1 });
    const { page, nextCursor } = cutPage(prices, limit, ({ priceId }) => String(priceId));
    return { models: await readAllModelPrices(deps, accountId), prices: page.map(presentSetPrice), nextCursor };
  },
});

const priceError = `must be a whole number of credits from 0 to ${maxPriceCredits}, or null`;

const set = defineEndpoint({
  operationId: 'adminSetPrice',
  route: 'POST /api/admin/v1/prices/set',
  needsRecentProof: true,
  summary: 'Set a price of a model',
  description:
    'Sets the amounts of one of the prices of a model: the list price, or the price of one account, which takes precedence. Applies to ' +
    `tasks created at \`fromTime\` or later. The earliest start is ${priceLeadMs / 1000} seconds from now, so that every process has ` +
    'the price in time.',
  body: z.strictObject({
    model: z.string({ error: requiredOrInvalidMessage(modelError) }),
    priceName: oneLineTextField(maxPriceNameLength)
      .nullish()
      .meta({ description: 'The price of the model. Omit it for a model that has only one.' }),
    creditsPerSecond: wholeNumberField(0, maxPriceCredits, requiredOrInvalidMessage(priceError)).nullable().meta({
      description:
        'Null, and no `creditsPerVideo`: return to the list price, or without an account to the price of the catalogue.',
    }),
    creditsPerVideo: wholeNumberField(0, maxPriceCredits, priceError)
      .nullish()
      .meta({ description: 'Added once for each video; 0 by default.' }),
    accountId: idField('an account').nullish().meta({ description: 'Omit it to set the list price.' }),
    fromTime: wholeNumberField(0, maxUnixMs, notFutureTimeMessage)
      .nullish()
      .meta({ description: 'Unix milliseconds; by default as soon as possible.' }),
    reason: reasonField,
  }),
  data: operatorPriceSchema,
  failures: ['account_not_found'],
  handler: async ({ actor, input }, { db, catalogue }: WithDb & WithCatalogueGetter) => {
    const amounts = amountsOf(input);
    const isEnd = amounts !== 'free' && amounts.creditsPerSecond === undefined;
    const priceName = await namedPrice(db, catalogue().models, input, isEnd);
    if (amounts === 'free') throw invalidRequest([{ path: 'creditsPerSecond', message: freeError }]);
    const setting = await setPriceAs(db, actor, {
      ...amounts,
      model: input.model,
      priceName,
      accountId: input.accountId ?? undefined,
      fromMs: input.fromTime ?? undefined,
      reason: input.reason,
    });
    if (setting.kind === 'account_not_found') throw new HttpError('account_not_found');
    if (setting.kind === 'in_the_past') throw invalidRequest([{ path: 'fromTime', message: notFutureTimeMessage }]);
    return presentSetPrice(setting.price);
  },
});

/** A price that has left the catalogue can only be ended. */
async function namedPrice(
  db: Database,
  models: ModelsByName,
  { model, priceName }: { readonly model: string; readonly priceName?: string | null | undefined },
  isEnd: boolean,
): Promise<string> {
  const found = checkOrDefaultPriceName(models, model, priceName ?? undefined);
  if (found.ok) return found.name;
  const canBeSet = isEnd && typeof priceName === 'string';
  if (canBeSet && (await findPriceEverSet(db, { model, priceName })) !== undefined) return priceName;
  const message = unknownModelRefusal(models, model);
  const refusal = message === undefined ? { path: 'priceName', message: found.message } : { path: 'model', message };
  throw invalidRequest([refusal]);
}

const freeError = 'must be at least 1, or creditsPerVideo must be';

type Amounts = { readonly creditsPerSecond: number | undefined; readonly creditsPerVideo: number | undefined };

/** Two missing amounts end a price, and one missing amount is 0. */
function amountsOf({
  creditsPerSecond,
  creditsPerVideo,
}: {
  readonly creditsPerSecond: number | null;
  readonly creditsPerVideo?: number | null | undefined;
}): Amounts | 'free' {
  if (creditsPerSecond === null && (creditsPerVideo ?? null) === null)
    return { creditsPerSecond: undefined, creditsPerVideo: undefined };
  const amounts = { creditsPerSecond: creditsPerSecond ?? 0, creditsPerVideo: creditsPerVideo ?? 0 };
  return amounts.creditsPerSecond + amounts.creditsPerVideo === 0 ? 'free' : amounts;
}

const idError = 'must be the id of a price';

const withdraw = defineEndpoint({
  operationId: 'adminWithdrawPrice',
  route: 'POST /api/admin/v1/prices/withdraw',
  summary: 'Withdraw a future price',
  description: `Possible until ${priceLeadMs / 1000} seconds before it begins. Set a new price to replace one in force. Idempotent.`,
  body: z.strictObject({
    priceId: z.int({ error: requiredOrInvalidMessage(idError) }).min(1),
    reason: reasonField,
  }),
  data: operatorPriceSchema,
  failures: ['price_not_found', 'price_in_force'],
  handler: async ({ actor, input }, { db }) => {
    const outcome = await withdrawPriceAs(db, actor, input);
    if (outcome.kind === 'price_not_found') throw new HttpError('price_not_found');
    if (outcome.kind === 'too_late') throw new HttpError('price_in_force');
    return presentSetPrice(outcome.price);
  },
});

export const operatorPriceEndpoints = [list, set, withdraw];
