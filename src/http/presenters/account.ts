import { z } from 'zod';
import { dialects, scopes } from '../../domain/api-key.ts';
import type { Rate } from '../../domain/rate-limit.ts';
import type { Account } from '../../stores/accounts.ts';
import { type LedgerEntry, ledgerKinds, readBooks } from '../../stores/credits.ts';
import type { Database } from '../../stores/database.ts';
import type { ApiKey, MadeKey } from '../../stores/keys.ts';
import { cutPage, nextCursorSchema, unixMs } from '../fields.ts';
import { view } from './view.ts';

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

export function presentAccount(account: Account) {
  const { createRate, suspendedAt: suspendTime, createdAt: createTime } = account;
  return view(accountSchema, { ...account, creates: presentRate(createRate), suspendTime, createTime });
}

/** A key as its owner may see it; the secret itself is not kept. */
export const keySchema = z
  .strictObject({
    keyId: z.string(),
    name: z.string(),
    hint: z.string().meta({ description: 'Beginning and end of the key, to tell it from its siblings.' }),
    scopes: z.array(z.enum(scopes)),
    dialect: z.enum(dialects).meta({ description: 'In which words requests with the key are read and answered.' }),
    createTime: unixMs,
    expireTime: unixMs.nullable(),
    lastUseTime: unixMs.nullable().meta({ description: 'Exact to about a minute.' }),
    revokeTime: unixMs.nullable(),
  })
  .meta({ id: 'ApiKey' });

/** The secret of a key that was just made. */
export const secretSchema = z.string().meta({ description: 'The key itself. Keep it: it is not shown again.' });

export function presentKey(key: ApiKey) {
  const { createdAt: createTime, expiresAt: expireTime, lastUsedAt: lastUseTime, revokedAt: revokeTime } = key;
  return view(keySchema, { ...key, createTime, expireTime, lastUseTime, revokeTime });
}

export function presentMadeKey({ apiKey, key }: Pick<MadeKey, 'apiKey' | 'key'>) {
  return { ...presentKey(apiKey), key };
}

/** One line of an account's books. */
export const ledgerEntrySchema = z
  .strictObject({
    entryId: z.int(),
    kind: z.enum(ledgerKinds),
    amount: z.int().meta({ description: 'Signed: charges are negative.' }),
    balanceAfter: z.int().nonnegative(),
    taskId: z.string().nullable(),
    reason: z.string().nullable(),
    createTime: z.int().meta({ description: 'Unix milliseconds.' }),
  })
  .meta({ id: 'LedgerEntry' });

export function presentLedgerEntry(entry: LedgerEntry) {
  return view(ledgerEntrySchema, { ...entry, createTime: entry.createdAt });
}

/** A page of an account's books; balance and entries are of one and the same moment. */
export const booksFields = {
  balance: z.int().nonnegative(),
  entries: z.array(ledgerEntrySchema),
  nextCursor: nextCursorSchema,
};

export async function presentBooks(
  db: Database,
  accountId: string,
  { cursor: before, limit }: { readonly cursor?: number | undefined; readonly limit: number },
) {
  const { balance, entries } = await readBooks(db, { accountId, before, limit: limit + 1 });
  const { page, nextCursor } = cutPage(entries, limit, ({ entryId }) => String(entryId));
  return { balance, entries: page.map(presentLedgerEntry), nextCursor };
}
