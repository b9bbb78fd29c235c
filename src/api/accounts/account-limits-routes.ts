import { z } from 'zod';
import { defineEndpoint } from '../core/define-endpoint.ts';
import type { WithDb } from '../core/endpoint-spec.ts';
import { unixMsSchema } from '../core/request-fields.ts';
import { type RateLimiter, rateLimitKeyOfCaller } from '../core/limits/rate-limits.ts';
import { capPeriods, listSpendCapsOfAccount } from '../../accounts/limits/spend-caps.ts';
import { dayMs } from '../../platform/timing/milliseconds-per-unit.ts';
import { type Rate, rateLeft } from '../../platform/timing/parse-rate-and-rate-left.ts';
import { findAccountLimitUse, fixedAccountLimits } from '../../library/limits/account-limit-use.ts';
import { presentRequestRate } from './ledger-entry-view.ts';

const count = z.int().nonnegative();
const usage = z.strictObject({ used: count, limit: count });
const rate = z
  .strictObject({ quota: z.int().positive(), windowSeconds: z.number().positive(), remaining: count })
  .nullable()
  .meta({ description: '`remaining` requests are allowed now. Null without a limit.' });
const days = z.number().positive();

const limitsSchema = z
  .strictObject({
    unfinishedTasks: usage.meta({ description: 'Tasks that wait or run.' }),
    creates: rate,
    reads: rate,
    spendCaps: z
      .array(
        z.strictObject({ period: z.enum(capPeriods), cap: count, spent: count, resetTime: unixMsSchema.nullable() }),
      )
      .meta({ description: 'Those of the whole account. Keys and members may have others.' }),
    uploads: usage,
    uploadedBytes: usage,
    activeKeys: usage,
    retention: z.strictObject({
      mediaDays: days.meta({ description: 'Until videos and uploaded files are deleted.' }),
      promptDays: days.nullable().meta({ description: 'Until prompts are deleted; null if they stay.' }),
    }),
  })
  .meta({ id: 'AccountLimits' });

type Deps = WithDb & {
  /** The rate of creates of accounts without a rate of their own; undefined for no limit, here and below. */
  readonly createRate: Rate | undefined;
  readonly reads: RateLimiter | undefined;
  readonly retentionMs: number;
  /** Time until the content of a finished task is deleted; undefined if it is never deleted. */
  readonly promptRetentionMs: number | undefined;
};

export const getLimitsEndpoint = defineEndpoint({
  operationId: 'getLimits',
  route: 'GET /api/v1/limits',
  scope: 'credits:read',
  summary: 'Get the limits of the account, and what is left',
  description:
    'Lists the limits of the account on creates, reads, unfinished tasks, uploads, keys and spend. `reads.remaining` is for this caller and the API process that responded.',
  data: limitsSchema,
  handler: async ({ caller }, deps: Deps) => {
    const { db, createRate, reads, retentionMs, promptRetentionMs } = deps;
    const { accountId } = caller;
    const [used, caps] = await Promise.all([findAccountLimitUse(db, accountId), listSpendCapsOfAccount(db, accountId)]);
    if (used === undefined) throw new Error(`account ${accountId} of a caller not found`);
    const limited = (name: keyof typeof fixedAccountLimits) => ({ used: used[name], limit: fixedAccountLimits[name] });
    return {
      unfinishedTasks: { used: used.unfinishedTasks, limit: used.maxUnfinishedTasks },
      creates: presentLeft(used.createRate ?? createRate, (own) => rateLeft(own, used.createDueInMs).remaining),
      reads: presentLeft(reads?.rate, () => reads?.peek(rateLimitKeyOfCaller(caller)).remaining ?? 0),
      spendCaps: caps
        .filter(({ subject }) => subject === 'account')
        .map(({ period, credits: cap, spent, resetsAt }) => ({ period, cap, spent, resetTime: resetsAt ?? null })),
      uploads: limited('uploads'),
      uploadedBytes: limited('uploadedBytes'),
      activeKeys: limited('activeKeys'),
      retention: {
        mediaDays: retentionMs / dayMs,
        promptDays: promptRetentionMs === undefined ? null : promptRetentionMs / dayMs,
      },
    };
  },
});

function presentLeft(limit: Rate | undefined, remainingOf: (limit: Rate) => number) {
  const shown = presentRequestRate(limit);
  return limit === undefined || shown === null ? null : { ...shown, remaining: remainingOf(limit) };
}
