import { z } from 'zod';
import type { Catalogue } from '../../catalogue/file/catalogue-schema-and-types.ts';
import type { StatementSum } from '../../credits/reports/account-statement.ts';
import type { MarginRow } from '../../credits/reports/margin-and-paid-money.ts';
import { isRevenueSection } from '../../credits/reports/ledger-sections.ts';

export const marginSchema = z
  .strictObject({
    model: z.string(),
    priceName: z.string().meta({ description: 'The price of the model that the tasks were charged.' }),
    provider: z.string().meta({ description: '`none` for tasks without a job.' }),
    tasks: z.int(),
    jobs: z.int(),
    creditsCharged: z.int(),
    creditsRefunded: z.int(),
    revenueMicros: z.int().meta({ description: 'Charges less refunds, at the price of a credit.' }),
    costMicros: z.int().meta({ description: 'The known cost, in millionths of the currency.' }),
    unknownJobs: z.int().meta({ description: 'Jobs of unknown cost.' }),
    foreignJobs: z.int().meta({ description: 'Jobs billed in another currency.' }),
    marginMicros: z.int().nullable().meta({
      description: 'Charges less refunds less cost; null if the cost of a job is unknown or in another currency.',
    }),
  })
  .meta({ id: 'Margin' });

export function presentMargin(row: MarginRow, { creditValue }: Pick<Catalogue, 'creditValue'>) {
  const isKnown = row.unknownJobs === 0 && row.foreignJobs === 0;
  const earned = (row.creditsCharged - row.creditsRefunded) * creditValue.micros;
  return { ...row, revenueMicros: earned, marginMicros: isKnown ? earned - row.costMicros : null };
}

export const bookedCreditsSchema = z
  .strictObject({
    section: z.string().meta({
      description: '`top_up`, `top_up_reversal` (returned payments), `grant`, `code` (redeemed codes) or `adjustment`.',
    }),
    entries: z.int(),
    credits: z.int(),
    valueMicros: z.int().meta({ description: 'The credits, at the price of a credit.' }),
    isRevenue: z.boolean().meta({ description: 'True if customers paid for these credits.' }),
  })
  .meta({ id: 'BookedCredits' });

export const paidMoneySchema = z
  .strictObject({
    currency: z.string(),
    isTest: z.boolean().meta({ description: "True for payments in the provider's test mode, which move no money." }),
    topUps: z.int(),
    minorUnits: z.int().meta({ description: 'In the smallest unit of the currency.' }),
    returnedMinorUnits: z.int().meta({ description: 'Refunded and disputed in the period.' }),
  })
  .meta({ id: 'PaidMoney' });

export function presentBookedCredits(booked: StatementSum, { creditValue }: Pick<Catalogue, 'creditValue'>) {
  return { ...booked, valueMicros: booked.credits * creditValue.micros, isRevenue: isRevenueSection(booked.section) };
}
