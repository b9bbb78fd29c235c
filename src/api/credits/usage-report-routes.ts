import { Readable } from 'node:stream';
import { z } from 'zod';
import { defineEndpoint } from '../core/define-endpoint.ts';
import { invalidRequest } from '../core/http-error.ts';
import { oneOf } from '../core/request-fields.ts';
import { dayParameter, strictQuery } from '../core/query-parameters.ts';
import { dayMs } from '../../platform/timing/duration.ts';
import { csvLine } from '../../credits/reports/csv-line.ts';
import { type GroupDay, listGroupDays, listLatencies, usageGroups } from '../../credits/reports/daily-task-costs.ts';
import { groupDaySchema, modelUsageSchema, presentGroupDay, presentModelUsage } from './usage-report-view.ts';

const maxDays = 92;
const maxGroups = 20;
const maxGroupsInFile = 1_000;
/**
 * Includes models that have left the catalogue. Operators name models, so there
 * are few.
 */
const maxModels = 200;

const usageQuery = strictQuery({
  from: dayParameter,
  to: dayParameter,
  by: oneOf(usageGroups)
    .default('model')
    .meta({ default: 'model', description: 'Each day has a row for each of these.' }),
});

const described =
  `Both days are included, in UTC, at most ${maxDays} days. A task counts on the day of its creation, also its refund. Days without tasks ` +
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
    const { by, ...days } = inRange(query);
    const read = (group: typeof by, most: number) => listGroupDays[group](db, { accountId, ...days, maxGroups: most });
    const [groupDays, modelDays, latencies] = await Promise.all([
      read(by, maxGroups),
      read('model', maxModels),
      listLatencies(db, { accountId, ...days }),
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
  contentType: 'text/csv; charset=utf-8',
  answerHeaders: { 'Content-Disposition': 'The name of the file.' },
  data: z.custom<Readable>(),
  handler: async ({ caller: { accountId }, query, ctx }, { db }) => {
    const { by, ...days } = inRange(query);
    const rows = await listGroupDays[by](db, { accountId, ...days, maxGroups: maxGroupsInFile });
    ctx.set('Content-Disposition', 'attachment; filename="usage.csv"');
    return Readable.from([csvLine(columns), ...rows.map((row) => csvLine(columns.map((name) => row[name])))]);
  },
});

const columns = ['day', 'id', 'name', 'tasks', 'succeeded', 'failed', 'credits'] as const satisfies (keyof GroupDay)[];

function inRange<Query extends { readonly from: string; readonly to: string }>(query: Query): Query {
  const days = (Date.parse(query.to) - Date.parse(query.from)) / dayMs + 1;
  if (days >= 1 && days <= maxDays) return query;
  throw invalidRequest([{ path: 'to', message: `must be at most ${maxDays - 1} days after from` }]);
}

export const usageEndpoints = [report, exportUsage];
