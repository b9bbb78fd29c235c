import { z } from 'zod';
import { dayMs } from '../../platform/timing/milliseconds-per-unit.ts';
import {
  listUsageByDayAndPrice,
  maxSummaryTasksCounted,
  summarizeAccount,
} from '../../credits/reports/account-usage-and-summary.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import type { WithClock, WithDb } from '../core/endpoint-spec.ts';
import { unixMsSchema } from '../core/request-fields.ts';
import { creditBalanceSchema } from './ledger-entry-view.ts';
import { booleanParameter, strictQuery } from '../core/query-parameters.ts';
import { presentUsageDay, usageDaySchema } from '../credits/credit-routes.ts';

const count = z.int().min(0).max(maxSummaryTasksCounted);

export const getOverviewEndpoint = defineEndpoint({
  operationId: 'getOverview',
  route: 'GET /api/v1/overview',
  scope: 'credits:read',
  summary: 'Get an overview of the account',
  query: strictQuery({
    days: booleanParameter
      .default(true)
      .meta({ description: 'False leaves `days` empty: their sums take longer than the rest.', default: true }),
  }),
  data: z
    .strictObject({
      balance: creditBalanceSchema,
      days: z.array(usageDaySchema).meta({ description: 'Today and the previous six days, in UTC.' }),
      tasksByState: z
        .strictObject({ waiting: count, queuing: count, generating: count, success: count, fail: count })
        .meta({
          description: `Unfinished tasks, and those that ended in the last seven days. Counts stop at ${maxSummaryTasksCounted}.`,
        }),
      steps: z
        .strictObject({ hasKey: z.boolean(), hasTask: z.boolean(), hasCallback: z.boolean() })
        .meta({ description: 'Steps that the account has taken at least once.' }),
      books: z.strictObject({
        auditedTime: unixMsSchema.nullable().meta({ description: 'When the ledger was last audited.' }),
        violations: z.int().nonnegative().meta({ description: "Unresolved errors in this account's ledger." }),
      }),
    })
    .meta({ id: 'Overview' }),
  handler: async ({ caller: { accountId }, query }, { db, now }: WithDb & WithClock) => {
    const today = Math.floor(now() / dayMs) * dayMs;
    const [summary, days] = await Promise.all([
      summarizeAccount(db, accountId),
      query.days ? listUsageByDayAndPrice(db, { accountId, fromMs: today - 6 * dayMs, toMs: today + dayMs }) : [],
    ]);
    const { balance, hasKey, hasTask, hasCallback, auditedAt = null, violations } = summary;
    const { waiting, queuing, generating, success, fail } = summary;
    return {
      balance,
      days: days.map(presentUsageDay),
      tasksByState: { waiting, queuing, generating, success, fail },
      steps: { hasKey, hasTask, hasCallback },
      books: { auditedTime: auditedAt, violations },
    };
  },
});
