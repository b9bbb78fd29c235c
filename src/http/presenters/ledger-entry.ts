import { z } from 'zod';
import { type LedgerEntry, ledgerKinds, readBooks } from '../../stores/credits.ts';
import type { Database } from '../../stores/database.ts';
import { cutPage, nextCursorSchema } from '../fields.ts';

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

export function presentLedgerEntry({ createdAt, taskId, reason, ...entry }: LedgerEntry) {
  return { ...entry, taskId: taskId ?? null, reason: reason ?? null, createTime: createdAt };
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
