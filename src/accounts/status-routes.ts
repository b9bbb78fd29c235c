import { z } from 'zod';
import { listModelTroubles } from '../providers/model-trouble.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { unixMs } from '../http/fields.ts';
import { creditBalance } from './account-view.ts';
import { findBalance } from './account-usage.ts';

const troubleSchema = z.strictObject({
  model: z.string(),
  title: z.string(),
  state: z.enum(['slow', 'unavailable']).meta({
    description: '`slow`: the model is busy. `unavailable`: its tasks wait, and are retried or refunded.',
  }),
  retryTime: unixMs.nullable().meta({
    description: 'The next attempt; null if none is planned. When the trouble ends is not known.',
  }),
});

export const showStatus = defineEndpoint({
  operationId: 'getStatus',
  route: 'GET /api/v1/status',
  scope: 'credits:read',
  summary: 'Get what the account should know now',
  description: 'The balance with its threshold, and the models that are in trouble now.',
  data: z
    .strictObject({
      balance: creditBalance,
      lowBalance: z.int().positive().nullable().meta({
        description: 'The threshold of the event `balance.low`; null without one.',
      }),
      sellsCredits: z.boolean().meta({ description: 'True if owners can buy credits in the console.' }),
      models: z.array(troubleSchema),
    })
    .meta({ id: 'AccountStatus' }),
  handler: async ({ caller: { accountId } }, { db, catalogue, payments }) => {
    const offer = catalogue();
    const [account, troubles] = await Promise.all([findBalance(db, accountId), listModelTroubles(db, offer)]);
    if (account === undefined) throw new Error(`account ${accountId} of a caller not found`);
    return {
      balance: account.balance,
      lowBalance: account.lowBalance ?? null,
      sellsCredits: payments !== undefined && offer.packages.size > 0,
      models: troubles.map(({ model, title, state, retryAt }) => ({ model, title, state, retryTime: retryAt ?? null })),
    };
  },
});
