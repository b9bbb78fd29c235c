import { z } from 'zod';
import { type LedgerEntry, ledgerKinds } from '../stores/ledger.ts';
import { limitParameter, wholeParameter } from './page-query.ts';

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

/** Puts an entry into the words of the API. */
export function shownEntry(entry: LedgerEntry): z.output<typeof ledgerEntrySchema> {
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

/** The query of a list whose cursor is a number: of the ledger, and of the operators' log. */
export const numberedPage = {
  cursor: wholeParameter(1, Number.MAX_SAFE_INTEGER)
    .meta({ type: 'string', minimum: undefined, maximum: undefined })
    .optional(),
  limit: limitParameter,
};
