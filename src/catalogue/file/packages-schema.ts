import { z } from 'zod';
import { currencySchema } from '../prices/upstream-cost.ts';

// Credits that customers can buy.

const maxPackages = 20;
const nameError = 'must be 1 to 50 lower-case letters, digits or dashes, and begin with a letter';
const name = z.string().regex(/^[a-z][a-z0-9-]{0,49}$/, { error: nameError });

const creditPackage = z.strictObject({
  title: z.string().min(1).max(100).meta({ description: 'Shown to customers, also on receipts.' }),
  credits: z.int().min(1).max(1_000_000_000_000),
  price: z.strictObject({
    currency: currencySchema,
    minorUnits: z
      .int()
      .min(1)
      .max(99_999_999)
      .meta({ description: 'In the smallest unit of the currency: 1000 are 10.00 EUR, and 1000 JPY.' }),
  }),
  stripePrice: z
    .string()
    .regex(/^price_\w{1,200}$/, { error: 'must be the id of a price at Stripe, such as price_1NX' })
    .optional()
    .meta({
      description: 'The price at Stripe, which must have the same amount; without it, the checkout states the amount.',
    }),
});

export const packagesSchema = z
  .record(name, creditPackage)
  .refine((packages) => Object.keys(packages).length <= maxPackages, {
    error: `must have at most ${maxPackages} packages`,
  })
  .default({})
  .meta({ description: 'Credits that owners of accounts can buy, by name, in the order of the console.' });

export type CreditPackage = z.output<typeof creditPackage>;
