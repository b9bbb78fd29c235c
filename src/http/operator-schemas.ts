import { z } from 'zod';
import type { AccountDetail } from '../stores/account-list.ts';
import { textParameter } from './page-query.ts';
import { plainText } from './plain-text.ts';

// What the operators' endpoints have in common.

const unixMs = z.int().nonnegative();

/** An id in the body of a request. */
export function idField(what: string) {
  return z.uuid({ error: ({ input }) => (input === undefined ? 'is required' : `must be the id of ${what}`) });
}

/** An id in a query. */
export function idParameter(what: string) {
  return textParameter(`must be the id of ${what}`).pipe(z.uuid({ error: `must be the id of ${what}` }));
}

/** Why an operator does something; kept in the audit log. */
export const reasonField = plainText(500).meta({ description: 'Why; kept in the audit log.' });

/** Credits in one request at most: beyond every purchase, and far from where whole numbers end. */
export const maxCredits = 1_000_000_000_000;

/** The account as operators see it. */
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

export function shownAccount(account: AccountDetail): z.output<typeof accountSchema> {
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
