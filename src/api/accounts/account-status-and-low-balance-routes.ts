import { z } from 'zod';
import type { WithCatalogueGetter } from '../../catalogue/file/catalogue-schema-and-types.ts';
import type { PaymentProvider } from '../../credits/payments/payment-provider.ts';
import { listModelTroubles } from '../../tasks/jobs/model-trouble.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import type { WithDb } from '../core/endpoint-spec.ts';
import { maxCredits, unixMsSchema, wholeNumberField } from '../core/request-fields.ts';
import { creditBalanceSchema } from './ledger-entry-view.ts';
import { findBalanceAndThreshold } from '../../credits/ledger/balance-and-low-balance-threshold.ts';
import { setLowBalanceThreshold } from '../../credits/ledger/balance-and-low-balance-threshold.ts';

const troubleSchema = z.strictObject({
  model: z.string(),
  title: z.string(),
  state: z.enum(['slow', 'unavailable', 'failing']).meta({
    description:
      '`slow`: the model is busy. `unavailable`: its tasks wait, and are retried or refunded. `failing`: it accepts tasks, but most of ' +
      'its last videos failed.',
  }),
  retryTime: unixMsSchema.nullable().meta({ description: 'The next attempt; null if none is planned.' }),
  estimatedEndTime: unixMsSchema.nullable().meta({
    description: 'When the model probably works again and the tasks that wait have begun; null if that is unknown.',
  }),
});

type Deps = WithDb & WithCatalogueGetter & { readonly payments: PaymentProvider | undefined };

export const getStatusEndpoint = defineEndpoint({
  operationId: 'getStatus',
  route: 'GET /api/v1/status',
  scope: 'credits:read',
  summary: "Get the account's status",
  description: 'The balance with its threshold, and the models with problems.',
  data: z
    .strictObject({
      balance: creditBalanceSchema,
      lowBalance: z.int().positive().nullable().meta({
        description: 'The balance is low below it; null without a threshold.',
      }),
      sellsCredits: z.boolean().meta({ description: 'True if owners can buy credits in the console.' }),
      models: z.array(troubleSchema),
    })
    .meta({ id: 'AccountStatus' }),
  handler: async ({ caller: { accountId } }, { db, catalogue, payments }: Deps) => {
    const offer = catalogue();
    const [account, troubles] = await Promise.all([
      findBalanceAndThreshold(db, accountId),
      listModelTroubles(db, offer),
    ]);
    if (account === undefined) throw new Error(`account ${accountId} of a caller not found`);
    return {
      balance: account.balance,
      lowBalance: account.lowBalance ?? null,
      sellsCredits: payments !== undefined && offer.packages.size > 0,
      models: troubles.map(({ retryAt, endsAt, ...trouble }) => ({
        ...trouble,
        retryTime: retryAt ?? null,
        estimatedEndTime: endsAt ?? null,
      })),
    };
  },
});

const lowBalance = wholeNumberField(1, maxCredits, `must be null or a whole number from 1 to ${maxCredits}`).nullable();

export const setLowBalanceEndpoint = defineEndpoint({
  operationId: 'setLowBalance',
  route: 'POST /api/v1/credits/low-balance',
  scope: 'keys:write',
  summary: 'Set the threshold of a low balance',
  description:
    'Below it, the console warns everyone in the account. Each time that the balance falls from the threshold or more to less, the event ' +
    '`balance.low` happens, if the account has an event endpoint for it. Null removes the threshold. Idempotent.',
  body: z.strictObject({ lowBalance }),
  data: z.strictObject({ lowBalance: z.int().positive().nullable() }),
  failures: ['account_closed'],
  handler: async ({ caller: { accountId }, input }, { db }) => {
    await setLowBalanceThreshold(db, accountId, input.lowBalance);
    return { lowBalance: input.lowBalance };
  },
});
