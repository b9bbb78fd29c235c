import { z } from 'zod';
import { type LedgerEntry, ledgerKinds } from '../../stores/credits.ts';

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

export function presentLedgerEntry(entry: LedgerEntry): z.output<typeof ledgerEntrySchema> {
  const { entryId, kind, amount, balanceAfter, taskId, reason, createdAt } = entry;
  return {
    entryId,
    kind,
    amount,
    balanceAfter,
    taskId: taskId ?? null,
    reason: reason ?? null,
    createTime: createdAt,
  };
}
