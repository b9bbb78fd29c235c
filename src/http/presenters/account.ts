import { z } from 'zod';
import type { Rate } from '../../domain/rate-limit.ts';
import type { Account } from '../../stores/accounts.ts';
import { unixMs } from '../fields.ts';

/** So many requests in so many seconds; null is no such limit. */
export const rateSchema = z
  .strictObject({ quota: z.int().positive(), windowSeconds: z.number().positive() })
  .nullable();

export function presentRate(rate: Rate | undefined) {
  return rate === undefined ? null : { quota: rate.quota, windowSeconds: rate.windowMs / 1000 };
}

/** An account as operators see it. */
export const accountSchema = z
  .strictObject({
    accountId: z.string(),
    name: z.string(),
    balance: z.int().nonnegative(),
    unfinishedTasks: z.int().nonnegative(),
    maxUnfinishedTasks: z.int().nonnegative(),
    creates: rateSchema.meta({
      description: "The account's own rate of creates; null when the installation's counts.",
    }),
    suspendTime: unixMs.nullable(),
    createTime: unixMs,
  })
  .meta({ id: 'Account' });

export function presentAccount({ createRate, suspendedAt, createdAt, ...account }: Account) {
  return {
    ...account,
    creates: presentRate(createRate),
    suspendTime: suspendedAt ?? null,
    createTime: createdAt,
  };
}
