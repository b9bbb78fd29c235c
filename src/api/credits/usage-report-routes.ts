import { z } from 'zod';
import { defineEndpoint } from '../core/define-endpoint.ts';
import { invalidRequest } from '../core/http-error.ts';
import { oneOf } from '../core/request-fields.ts';
import { dayParameter, strictQuery } from '../core/query-parameters.ts';
import { dayMs } from '../../platform/timing/milliseconds-per-unit.ts';
import { streamCsvDownload, csvAnswerDeclaration, type CsvColumn } from '../core/csv-answer.ts';
import {
  type GroupUsageDay,
  usageQueriesByGroup,
  listLatencyBuckets,
  usageGroups,
  type LatencyBucket,
  latencyBucketMiddleMs,
} from '../../credits/reports/usage-sums-and-latencies.ts';
import { pickRowFieldsBySchema } from '../core/pick-row-fields-by-schema.ts';

const count = z.int().nonnegative();

const counts = {
  tasks: count.meta({ description: 'Tasks created.' }),
  succeeded: count,
  failed: count,
  credits: count.meta({ description: 'Charges less refunds.' }),
};

const groupDaySchema = z
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

const modelUsageSchema = z
  .strictObject({
    model: z.string(),
    ...counts,
    p50Ms: count.nullable().meta({
      description: 'The median time from the acceptance of a task to its video, within 5 %; null without a success.',
    }),
    p95Ms: count.nullable().meta({ description: 'The 95th percentile.' }),
  })
  .meta({ id: 'ModelUsage' });

function presentGroupDay(day: GroupUsageDay) {
  return pickRowFieldsBySchema(groupDaySchema, day);
}

/** Adds up the days of each model, the one with most credits first. */
function presentModelUsage(days: readonly GroupUsageDay[], latencies: readonly LatencyBucket[]) {
  const models = [...new Set(days.flatMap(({ id }) => id ?? []))].map((model) => {
    const own = days.filter(({ id }) => id === model);
    const sum = (of: keyof typeof counts) => own.reduce((total, day) => total + day[of], 0);
    const buckets = latencies.filter((one) => one.model === model);
    return pickRowFieldsBySchema(modelUsageSchema, {
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
  return found && latencyBucketMiddleMs(found.bucket);
}

export const maxReportDays = 92;
const maxGroups = 20;
const maxGroupsInFile = 1_000;
/** Includes models that have left the catalogue. Operators name models, so there are few. */
const maxModels = 200;

const usageQuery = strictQuery({
  from: dayParameter,
  to: dayParameter,
  by: oneOf(usageGroups)
    .default('model')
    .meta({ default: 'model', description: 'Each day has a row for each of these.' }),
});

const described =
  `Both days are included, in UTC, at most ${maxReportDays} days. A task counts on the day of its creation, also its refund. Days without tasks ` +
  'are omitted.';

const report = defineEndpoint({
  operationId: 'getUsage',
  route: 'GET /api/v1/usage',
  scope: 'credits:read',
  summary: 'Get usage by day, and success and latency by model',
  description: `${described} Lists the ${maxGroups} groups with most credits and the sum of all others.`,
  query: usageQuery,
  data: z.strictObject({ days: z.array(groupDaySchema), models: z.array(modelUsageSchema) }),
  handler: async ({ caller: { accountId }, query }, { db }) => {
    const { by, ...days } = requireDayRange(query);
    const read = (group: typeof by, most: number) =>
      usageQueriesByGroup[group](db, { accountId, ...days, maxGroups: most });
    const [groupDays, modelDays, latencies] = await Promise.all([
      read(by, maxGroups),
      read('model', maxModels),
      listLatencyBuckets(db, { accountId, ...days }),
    ]);
    return { days: groupDays.map(presentGroupDay), models: presentModelUsage(modelDays, latencies) };
  },
});

const exportUsage = defineEndpoint({
  operationId: 'exportUsage',
  route: 'GET /api/v1/usage/export',
  scope: 'credits:read',
  summary: 'Export usage as CSV',
  description: `${described} Lists the ${maxGroupsInFile} groups with most credits and the sum of all others.`,
  query: usageQuery,
  ...csvAnswerDeclaration,
  handler: async ({ caller: { accountId }, query, ctx }, { db }) => {
    const { by, ...days } = requireDayRange(query);
    const rows = await usageQueriesByGroup[by](db, { accountId, ...days, maxGroups: maxGroupsInFile });
    return streamCsvDownload(ctx, 'usage.csv', columns, [rows]);
  },
});

const columns = (['day', 'id', 'name', 'tasks', 'succeeded', 'failed', 'credits'] as const).map(
  (name): CsvColumn<GroupUsageDay> => [name, (day) => day[name]],
);

/** Both days are included. */
export function requireDayRange<Query extends { readonly from: string; readonly to: string }>(query: Query): Query {
  const days = (Date.parse(query.to) - Date.parse(query.from)) / dayMs + 1;
  if (days >= 1 && days <= maxReportDays) return query;
  throw invalidRequest([{ path: 'to', message: `must be 0 to ${maxReportDays - 1} days after from` }]);
}

export const usageEndpoints = [report, exportUsage];
