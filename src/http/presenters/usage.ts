import { z } from 'zod';
import type { UsageDay } from '../../stores/usage.ts';
import { view } from './view.ts';

const credits = z.int().nonnegative();

/** What an account has used of one model on one day. */
export const usageDaySchema = z
  .strictObject({
    day: z.iso.date().meta({ description: 'Of UTC.' }),
    model: z.string().nullable().meta({ description: 'Null for what was booked by hand.' }),
    charged: credits,
    refunded: credits,
    granted: z.int().meta({ description: 'Grants and adjustments; negative when credits were taken.' }),
    tasks: credits.meta({ description: 'Tasks that were created.' }),
  })
  .meta({ id: 'UsageDay' });

export function presentUsageDay(day: UsageDay) {
  return view(usageDaySchema, day);
}
