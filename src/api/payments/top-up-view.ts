import { z } from 'zod';
import { unixMsSchema } from '../core/request-fields.ts';
import { pickRowFieldsBySchema } from '../core/pick-row-fields-by-schema.ts';
import { paymentProviderNames } from '../../credits/payments/payment-provider.ts';
import { grantObstacles, settlementTriggers, type TopUp, topUpStates } from '../../credits/payments/top-ups.ts';
import type { UngrantedPayment } from '../../credits/payments/payment-reconciliation.ts';

export const packagePriceSchema = z
  .strictObject({
    currency: z.string().meta({ description: 'Three capital letters.' }),
    minorUnits: z.int().positive().meta({ description: 'In the smallest unit of the currency: 1000 are 10.00 EUR.' }),
  })
  .meta({ id: 'Price' });

const fields = {
  topUpId: z.string(),
  package: z.string(),
  credits: z.int().positive(),
  price: packagePriceSchema,
  state: z.enum(topUpStates).meta({
    description:
      '`open`: not paid yet. `processing`: the money is on its way. `paid`: the credits are granted. `failed` and `expired`: nothing was paid.',
  }),
  isTest: z.boolean().meta({ description: 'Paid in test mode, without real money.' }),
  createTime: unixMsSchema,
  paidTime: unixMsSchema.nullable(),
  reversedCredits: z.int().meta({ description: 'Credits that refunds and disputes have taken back.' }),
  receiptUrl: z.string().nullable().meta({ description: "The payment provider's receipt; only for owners." }),
};

export const topUpSchema = z.strictObject(fields).meta({ id: 'TopUp' });

export const adminTopUpSchema = z
  .strictObject({
    ...fields,
    accountId: z.string(),
    accountName: z.string(),
    provider: z.enum(paymentProviderNames),
    checkoutId: z.string().nullable().meta({ description: "The provider's id of the checkout." }),
    paymentId: z.string().nullable().meta({ description: "The provider's id of the payment." }),
    settledBy: z.enum(settlementTriggers).nullable().meta({
      description:
        'The source of the payment: an event of the provider, or `reconciliation` because no event had arrived.',
    }),
  })
  .meta({ id: 'AdminTopUp' });

function rowOf<Row extends TopUp>({ currency, minorUnits, createdAt: createTime, paidAt: paidTime, ...topUp }: Row) {
  return { ...topUp, price: { currency, minorUnits }, createTime, paidTime };
}

export function presentTopUp(topUp: TopUp, { isOwner }: { readonly isOwner: boolean }) {
  const row = rowOf(topUp);
  return pickRowFieldsBySchema(topUpSchema, { ...row, receiptUrl: isOwner ? row.receiptUrl : undefined });
}

export function presentAdminTopUp(topUp: TopUp & { readonly accountName: string }) {
  return pickRowFieldsBySchema(adminTopUpSchema, rowOf(topUp));
}

export const ungrantedPaymentSchema = z
  .strictObject({
    checkoutId: z.string(),
    topUpId: z.string(),
    accountId: z.string(),
    reason: z.enum(grantObstacles),
    foundTime: unixMsSchema,
  })
  .meta({ id: 'UngrantedPayment' });

export function presentUngrantedPayment({ foundAt: foundTime, ...payment }: UngrantedPayment) {
  return pickRowFieldsBySchema(ungrantedPaymentSchema, { ...payment, foundTime });
}
