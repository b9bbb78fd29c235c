import { z } from 'zod';
import { maxTasksRead } from '../../library/operations/overview-counts.ts';
import {
  listTopAccounts,
  readTrends,
  topAccountOrders,
  trendBuckets,
  trendRanges,
} from '../../library/operations/trends.ts';
import { presentTrends, trendsSchema } from './trends-view.ts';
import type { WithCatalogue } from '../../catalogue/file/catalogue-schema.ts';
import { readPaidMoney } from '../../credits/reports/margin.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import type { WithClock, WithDb } from '../core/endpoint.ts';
import { oneOf } from '../core/request-fields.ts';
import { strictQuery } from '../core/query-parameters.ts';

const range = oneOf(trendRanges).default('day').meta({
  description: '24 hours by the hour, 7 days by 6 hours, or 30 days by the day, in UTC. The last part is not over yet.',
});

const trends = defineEndpoint({
  operationId: 'adminTrends',
  route: 'GET /api/admin/v1/trends',
  summary: 'Get metrics over time',
  description:
    `Covers at most the newest ${maxTasksRead} tasks. Tasks count when they end, and their jobs with them; only \`created\` counts when ` +
    'they are accepted. Cancelled tasks, and those whose content was rejected, count neither as succeeded nor as failed.',
  query: strictQuery({ range }),
  data: trendsSchema,
  handler: async ({ query }, { db, catalogue, now }: WithDb & WithCatalogue & WithClock) => {
    const { micros, currency } = catalogue().creditValue;
    const period = trendBuckets(query.range, now());
    const [fromMs = 0] = period.startTimes;
    const [figures, paid] = await Promise.all([
      readTrends(db, { fromMs, bucketMs: period.bucketMs, currency }),
      readPaidMoney(db, { fromMs, toMs: now() }),
    ]);
    return presentTrends({ range: query.range, period, figures, paid, credit: { micros, currency } });
  },
});

const topAccounts = defineEndpoint({
  operationId: 'adminListTopAccounts',
  route: 'GET /api/admin/v1/accounts/top',
  summary: 'List the accounts with the most use',
  description: `The 20 first, of the tasks that were accepted in the range; at most the newest ${maxTasksRead} tasks.`,
  query: strictQuery({ range, by: oneOf(topAccountOrders).default('credits') }),
  data: z.strictObject({
    accounts: z.array(
      z.strictObject({
        accountId: z.string(),
        accountName: z.string(),
        tasks: z.int(),
        succeeded: z.int(),
        credits: z.int().meta({ description: 'Charges less refunds.' }),
      }),
    ),
  }),
  handler: async ({ query }, { db, now }: WithDb & WithClock) => {
    const [fromMs = 0] = trendBuckets(query.range, now()).startTimes;
    return { accounts: await listTopAccounts(db, fromMs, query.by) };
  },
});

export const trendEndpoints = [trends, topAccounts];
