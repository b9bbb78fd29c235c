import { z } from 'zod';
import { unixMs } from '../core/request-fields.ts';
import { view } from '../core/view.ts';
import { type AccountStatement, sumSections } from '../../credits/reports/account-statement.ts';

const section = z.string().meta({
  description:
    '`top_up`, `top_up_reversal` (returned payments), `grant`, `code` (redeemed codes), `charge`, `refund` or `adjustment`.',
});
const credits = z.int().meta({ description: 'Signed.' });

const lineSchema = z
  .strictObject({
    section,
    model: z.string().nullable().meta({ description: 'Only for charges and refunds.' }),
    priceName: z.string().nullable().meta({ description: 'Only for charges and refunds.' }),
    bookTime: unixMs.nullable().meta({ description: 'Only for other entries; null for the sum of further entries.' }),
    reason: z.string().nullable(),
    entries: z.int().positive(),
    credits,
  })
  .meta({ id: 'StatementLine' });

export const statementSchema = z
  .strictObject({
    month: z.string(),
    fromTime: unixMs,
    toTime: unixMs.meta({ description: 'The start of the next month.' }),
    createTime: unixMs,
    isFinal: z.boolean().meta({ description: 'False while entries may still be added.' }),
    firstMonth: z.string().meta({ description: 'The month in which the account was created.' }),
    opening: z.int().meta({ description: 'The balance before the month.' }),
    closing: z.int().meta({ description: 'The balance after the month, or the current one.' }),
    sections: z.array(z.strictObject({ section, entries: z.int(), credits })),
    lines: z.array(lineSchema),
  })
  .meta({ id: 'Statement' });

export function presentStatement(
  statement: AccountStatement,
  { accountCreatedAt }: { readonly accountCreatedAt: number },
) {
  const { month, fromMs: fromTime, toMs: toTime, createdAt: createTime, isFinal, opening, closing } = statement;
  const lines = statement.lines.map(({ bookedAt: bookTime, ...line }) => view(lineSchema, { ...line, bookTime }));
  const firstMonth = new Date(accountCreatedAt).toISOString().slice(0, 7);
  const sections = [...sumSections(statement)];
  return { month, fromTime, toTime, createTime, isFinal, firstMonth, opening, closing, sections, lines };
}
