import { z } from 'zod';
import { view } from '../core/view.ts';
import { type GroupDay, type LatencyBucket, bucketMiddleMs } from '../../credits/reports/daily-task-costs.ts';

const count = z.int().nonnegative();

const counts = {
  tasks: count.meta({ description: 'Tasks created.' }),
  succeeded: count,
  failed: count,
  credits: count.meta({ description: 'Charges less refunds.' }),
};

export const groupDaySchema = z
  .strictObject({
    day: z.iso.date().meta({ description: 'The day in UTC on which the tasks were created.' }),
    id: z.string().nullable().meta({
      description: 'The model, key or person; null for tasks that were created in another way, and for further groups.',
    }),
    name: z.string().nullable().meta({ description: 'The name of the key, or the e-mail address of the person.' }),
    isRest: z.boolean().meta({ description: 'True for the sum of groups beyond those with most credits.' }),
    ...counts,
  })
  .meta({ id: 'UsageGroupDay' });

export const modelUsageSchema = z
  .strictObject({
    model: z.string(),
    ...counts,
    p50Ms: count.nullable().meta({
      description: 'The median time from the acceptance of a task to its video, within 5 %; null without a success.',
    }),
    p95Ms: count.nullable().meta({ description: 'The 95th percentile.' }),
  })
  .meta({ id: 'ModelUsage' });

export function presentGroupDay(day: GroupDay) {
  return view(groupDaySchema, day);
}

/** Adds up the days of each model, the one with most credits first. */
export function presentModelUsage(days: readonly GroupDay[], latencies: readonly LatencyBucket[]) {
  const models = [...new Set(days.flatMap(({ id }) => id ?? []))].map((model) => {
    const own = days.filter(({ id }) => id === model);
    const sum = (of: keyof typeof counts) => own.reduce((total, day) => total + day[of], 0);
    const buckets = latencies.filter((one) => one.model === model);
    return view(modelUsageSchema, {
      model,
      tasks: sum('tasks'),
      succeeded: sum('succeeded'),
      failed: sum('failed'),
      credits: sum('credits'),
      p50Ms: percentile(buckets, 0.5),
      p95Ms: percentile(buckets, 0.95),
    });
  });
  return models.toSorted((a, b) => b.credits - a.credits || a.model.localeCompare(b.model));
}

/** `buckets` are in ascending order. */
function percentile(buckets: readonly LatencyBucket[], share: number): number | undefined {
  const rank = share * buckets.reduce((total, { tasks }) => total + tasks, 0);
  let seen = 0;
  const found = buckets.find(({ tasks }) => (seen += tasks) >= rank);
  return found && bucketMiddleMs(found.bucket);
}
