import { z } from 'zod';
import type { UsageDay } from '../../credits/reports/account-sums.ts';
import { view } from '../core/view.ts';

const credits = z.int().nonnegative();

export const usageDaySchema = z
  .strictObject({
    day: z.iso.date().meta({ description: 'A day in UTC.' }),
    model: z.string().nullable().meta({ description: 'Null for grants and adjustments.' }),
    priceName: z.string().nullable().meta({ description: 'The price of the model; null for grants and adjustments.' }),
    charged: credits,
    refunded: credits,
    granted: z.int().meta({ description: 'Grants and adjustments; may be negative.' }),
    tasks: credits.meta({ description: 'Tasks created.' }),
  })
  .meta({ id: 'UsageDay' });

export function presentUsageDay(day: UsageDay) {
  return view(usageDaySchema, day);
}
