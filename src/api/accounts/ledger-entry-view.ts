import { z } from 'zod';
import type { Rate } from '../../platform/timing/parse-rate-and-rate-left.ts';
import { type LedgerEntry, ledgerKinds } from '../../credits/ledger/ledger-entries-and-book-credits.ts';
import { pickRowFieldsBySchema } from '../core/pick-row-fields-by-schema.ts';

export const creditBalanceSchema = z
  .int()
  .meta({ description: 'Below zero after a payment for credits that are spent was returned.' });

export const requestRateSchema = z
  .strictObject({ quota: z.int().positive(), windowSeconds: z.number().positive() })
  .nullable();

export function presentRequestRate(rate: Rate | undefined) {
  return rate === undefined ? null : { quota: rate.quota, windowSeconds: rate.windowMs / 1000 };
}

export const ledgerEntrySchema = z
  .strictObject({
    entryId: z.int(),
    kind: z.enum(ledgerKinds),
    amount: z.int().meta({ description: 'Negative for charges.' }),
    balanceAfter: creditBalanceSchema,
    taskId: z.string().nullable(),
    priceName: z.string().nullable().meta({ description: 'The price of the charge or refund.' }),
    reason: z.string().nullable(),
    createTime: z.int().meta({ description: 'Unix milliseconds.' }),
  })
  .meta({ id: 'LedgerEntry' });

export function presentLedgerEntry(entry: LedgerEntry) {
  return pickRowFieldsBySchema(ledgerEntrySchema, { ...entry, createTime: entry.createdAt });
}
