import { z } from 'zod';
import { maxTasksRead } from '../../library/operations/overview-counts.ts';
import {
  listTopAccounts,
  readTrends,
  topAccountOrders,
  trendBuckets,
  trendRanges,
  type JobsInBucket,
  type TrendPeriod,
  type TrendRange,
} from '../../library/operations/trends.ts';
import type { WithCatalogueGetter } from '../../catalogue/file/catalogue-schema-and-types.ts';
import { readPaidAndReturnedMoney, type PaidAndReturnedMoney } from '../../credits/reports/margin-and-paid-money.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import type { WithClock, WithDb } from '../core/endpoint-spec.ts';
import { oneOf, unixMsSchema } from '../core/request-fields.ts';
import { strictQuery } from '../core/query-parameters.ts';
import { currencySchema } from '../../catalogue/prices/upstream-cost.ts';
import { paidMoneySchema } from '../credits/margin-report-view.ts';

const share = z.number().min(0).max(1).nullable();
const latency = z.int().nonnegative().nullable();

const figuresShape = {
  created: z.int(),
  succeeded: z.int(),
  failed: z.int(),
  successRate: share.meta({ description: 'Succeeded of succeeded and failed; null without any.' }),
  p50Ms: latency.meta({ description: 'The median time from the acceptance of a task until its video is there.' }),
  p95Ms: latency,
  credits: z.int().meta({ description: 'Charges less refunds.' }),
  revenueMicros: z.int().meta({ description: 'These credits, at the price of a credit.' }),
  costMicros: z.int().meta({ description: 'The known cost of jobs, in millionths of the currency.' }),
  unpricedJobs: z.int().meta({ description: 'Jobs of unknown cost, or billed in another currency.' }),
  marginMicros: z.int().nullable().meta({ description: 'Revenue less cost; null if the cost of a job is unknown.' }),
};

const jobsShape = {
  jobs: z.int(),
  errors: z.int().meta({ description: 'Requests without a job, and failed and lost jobs.' }),
  errorRate: share,
  p50Ms: latency.meta({ description: 'The median time from the acceptance of a job to its end in success.' }),
  p95Ms: latency,
};

const trendsSchema = z
  .strictObject({
    range: z.enum(trendRanges),
    bucketMs: z.int(),
    currency: currencySchema,
    creditMicros: z.int(),
    isPartial: z.boolean().meta({ description: 'True if the range has more tasks than are read.' }),
    total: z.strictObject(figuresShape),
    buckets: z.array(z.strictObject({ startTime: unixMsSchema, ...figuresShape })),
    providers: z.array(
      z.strictObject({
        provider: z.string(),
        ...jobsShape,
        refused: z.int().meta({ description: 'Requests and videos that it refused because of their content.' }),
        costMicros: z.int(),
        buckets: z.array(z.strictObject({ startTime: unixMsSchema, ...jobsShape })),
      }),
    ),
    paid: z.array(paidMoneySchema).meta({ description: 'Payments of top-ups in the range, by currency.' }),
  })
  .meta({ id: 'Trends' });

type Trends = {
  readonly range: TrendRange;
  readonly period: TrendPeriod;
  readonly figures: Awaited<ReturnType<typeof readTrends>>;
  readonly paid: readonly PaidAndReturnedMoney[];
  readonly credit: { readonly micros: number; readonly currency: string };
};

export function presentTrends({ range, period, figures, paid, credit }: Trends) {
  const { created, ended, jobs } = figures;
  const figuresOf = (bucket: number | undefined) => {
    const of = ended.find((one) => one.bucket === bucket);
    const job = jobs.find((one) => one.bucket === bucket && one.provider === undefined);
    const { succeeded = 0, failed = 0, credits = 0 } = of ?? {};
    const { costMicros = 0, unpricedJobs = 0 } = job ?? {};
    const revenueMicros = credits * credit.micros;
    return {
      created: created.find((one) => one.bucket === bucket)?.created ?? 0,
      succeeded,
      failed,
      successRate: rate(succeeded, succeeded + failed),
      ...latenciesOf(of),
      credits,
      revenueMicros,
      costMicros,
      unpricedJobs,
      marginMicros: unpricedJobs === 0 ? revenueMicros - costMicros : null,
    };
  };
  const total = ended.find(({ bucket }) => bucket === undefined);
  return {
    range,
    bucketMs: period.bucketMs,
    currency: credit.currency,
    creditMicros: credit.micros,
    isPartial: (total?.ended ?? 0) >= maxTasksRead,
    total: figuresOf(undefined),
    buckets: period.startTimes.map((startTime) => ({ startTime, ...figuresOf(startTime) })),
    providers: jobs
      .filter((one) => one.bucket === undefined && one.provider !== undefined)
      .map(providerOf(period, jobs)),
    paid,
  };
}

function providerOf({ startTimes }: TrendPeriod, jobs: readonly JobsInBucket[]) {
  return ({ provider, refused, costMicros, ...sums }: JobsInBucket) => {
    const own = jobs.filter((one) => one.provider === provider);
    const at = (startTime: number) => own.find(({ bucket }) => bucket === startTime);
    const buckets = startTimes.map((startTime) => ({ startTime, ...jobFigures(at(startTime)) }));
    return { provider: provider ?? '', ...jobFigures(sums), refused, costMicros, buckets };
  };
}

function jobFigures(sums: Pick<JobsInBucket, 'jobs' | 'errors' | 'p50Ms' | 'p95Ms'> | undefined) {
  const { jobs = 0, errors = 0 } = sums ?? {};
  return { jobs, errors, errorRate: rate(errors, jobs), ...latenciesOf(sums) };
}

function latenciesOf(of: { readonly p50Ms: number | undefined; readonly p95Ms: number | undefined } | undefined) {
  return { p50Ms: of?.p50Ms ?? null, p95Ms: of?.p95Ms ?? null };
}

function rate(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

const range = oneOf(trendRanges).default('day').meta({
  description: '24 hours by the hour, 7 days by 6 hours, or 30 days by the day, in UTC. The last part is not over yet.',
});

const trends = defineEndpoint({
  operationId: 'adminTrends',
  route: 'GET /api/admin/v1/trends',
  summary: 'Get metrics over time',
  description:
    `Covers at most the newest ${maxTasksRead} tasks. Tasks count when they end, and their jobs with them; only \`created\` counts when ` +
    'they are accepted. Cancelled tasks, and those whose content was rejected, count neither as succeeded nor as failed.',
  query: strictQuery({ range }),
  data: trendsSchema,
  handler: async ({ query }, { db, catalogue, now }: WithDb & WithCatalogueGetter & WithClock) => {
    const credit = catalogue().creditValue;
    const period = trendBuckets(query.range, now());
    const [fromMs = 0] = period.startTimes;
    const [figures, paid] = await Promise.all([
      readTrends(db, { fromMs, bucketMs: period.bucketMs, currency: credit.currency }),
      readPaidAndReturnedMoney(db, { fromMs, toMs: now() }),
    ]);
    return presentTrends({ range: query.range, period, figures, paid, credit });
  },
});

const topAccounts = defineEndpoint({
  operationId: 'adminListTopAccounts',
  route: 'GET /api/admin/v1/accounts/top',
  summary: 'List the accounts with the most use',
  description: `The 20 first, of the tasks that were accepted in the range; at most the newest ${maxTasksRead} tasks.`,
  query: strictQuery({ range, by: oneOf(topAccountOrders).default('credits') }),
  data: z.strictObject({
    accounts: z.array(
      z.strictObject({
        accountId: z.string(),
        accountName: z.string(),
        tasks: z.int(),
        succeeded: z.int(),
        credits: z.int().meta({ description: 'Charges less refunds.' }),
      }),
    ),
  }),
  handler: async ({ query }, { db, now }: WithDb & WithClock) => {
    const [fromMs = 0] = trendBuckets(query.range, now()).startTimes;
    return { accounts: await listTopAccounts(db, fromMs, query.by) };
  },
});

export const trendAndTopAccountEndpoints = [trends, topAccounts];
