import { z } from 'zod';
import { dayMs } from '../../domain/duration.ts';
import { listUsageDays, maxCounted, summariseAccount } from '../../stores/usage.ts';
import { defineEndpoint } from '../define-endpoint.ts';
import { unixMs } from '../fields.ts';
import { presentUsageDay, usageDaySchema } from '../presenters/usage.ts';

const count = z.int().min(0).max(maxCounted);

/** What a person looks at first. */
export const showOverview = defineEndpoint({
  operationId: 'getOverview',
  route: 'GET /api/v1/overview',
  scope: 'credits:read',
  summary: 'Where the account stands',
  data: z
    .strictObject({
      balance: z.int().nonnegative(),
      days: z.array(usageDaySchema).meta({ description: 'Today and the six days before it, in UTC.' }),
      tasksByState: z
        .strictObject({ waiting: count, queuing: count, generating: count, success: count, fail: count })
        .meta({
          description: `Those that have not ended, and those of the last seven days that have; none is counted beyond ${maxCounted}.`,
        }),
      steps: z
        .strictObject({ hasKey: z.boolean(), hasTask: z.boolean(), hasCallback: z.boolean() })
        .meta({ description: 'What the account has done at least once.' }),
      books: z.strictObject({
        auditedTime: unixMs
          .nullable()
          .meta({ description: 'When the books were last checked; null before the first time.' }),
        violations: z
          .int()
          .nonnegative()
          .meta({ description: "Faults in this account's books that are not yet put right." }),
      }),
    })
    .meta({ id: 'Overview' }),
  handler: async ({ caller: { accountId } }, { db, now }) => {
    const today = Math.floor(now() / dayMs) * dayMs;
    const [summary, days] = await Promise.all([
      summariseAccount(db, accountId),
      listUsageDays(db, { accountId, fromMs: today - 6 * dayMs, toMs: today + dayMs }),
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
