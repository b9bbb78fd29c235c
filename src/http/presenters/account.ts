import { z } from 'zod';
import type { Account } from '../../stores/accounts.ts';
import { unixMs } from '../fields.ts';

/** An account as operators see it. */
export const accountSchema = z
  .strictObject({
    accountId: z.string(),
    name: z.string(),
    balance: z.int().nonnegative(),
    unfinishedTasks: z.int().nonnegative(),
    maxUnfinishedTasks: z.int().nonnegative(),
    creates: z
      .strictObject({ quota: z.int().positive(), windowSeconds: z.number().positive() })
      .nullable()
      .meta({ description: "The account's own rate of creates; null when the installation's counts." }),
    suspendTime: unixMs.nullable(),
    createTime: unixMs,
  })
  .meta({ id: 'Account' });

export function presentAccount(account: Account): z.output<typeof accountSchema> {
  const { createRate: rate } = account;
  return {
    accountId: account.accountId,
    name: account.name,
    balance: account.balance,
    unfinishedTasks: account.unfinishedTasks,
    maxUnfinishedTasks: account.maxUnfinishedTasks,
    creates: rate === undefined ? null : { quota: rate.quota, windowSeconds: rate.windowMs / 1000 },
    suspendTime: account.suspendedAt ?? null,
    createTime: account.createdAt,
  };
}
