import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { createAccount } from '../../../src/credits/open-account.ts';
import { trendBuckets } from '../../../src/library/operations/trends.ts';
import { intendOwnMachineJob, intendReservedJob, recordCreatedJob } from '../../../src/tasks/jobs/job-creates.ts';
import { endProviderJob, freeSlotAndRecordCost, succeedProviderJob } from '../../../src/tasks/jobs/job-ends.ts';
import { reserveSlot } from '../../../src/tasks/jobs/slots.ts';
import { completeTask, failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { createTestOperator, dataOf, type TestOperator } from '../../support/service/operator-key.ts';
import { acceptTestTask, madeUpResult, taskParam } from '../../support/tasks/tasks.ts';

let service: HttpService;
let operator: TestOperator;
/** Stands still, so that no test crosses the border of a bucket. */
let nowMs: number;
before(async () => {
  nowMs = Date.now();
  service = await startHttpService({ now: () => nowMs });
  operator = await createTestOperator(service);
});
after(() => service.close());

type Figures = Readonly<Record<string, number | null>>;
type Trends = {
  readonly total: Figures;
  readonly buckets: readonly Figures[];
  readonly providers: readonly (Figures & { readonly provider: string; readonly buckets: readonly Figures[] })[];
};
const ask = (query = {}) => dataOf(operator.ask('GET', '/api/admin/v1/trends', { query }));
// the documented shape
const trends = async (query = {}) => (await ask(query)) as unknown as Trends;
const db = () => service.database.db;

/** Moves the times of a task and its jobs: as many seconds ago as given, and how long it took. */
async function alter(taskId: string, agoSeconds: number, tookSeconds: number): Promise<void> {
  const client = new pg.Client({ connectionString: service.database.url });
  await client.connect();
  try {
    await client.query('set session_replication_role = replica');
    await client.query(
      `update tasks set completed_at = to_timestamp($2), created_at = to_timestamp($2) - $3 * interval '1 second' where id = $1`,
      [taskId, nowMs / 1000 - agoSeconds, tookSeconds],
    );
    await client.query(
      `update provider_jobs set submitted_at = to_timestamp($2) - $3 * interval '1 second', upstream_ended_at = to_timestamp($2)
       where task_id = $1 and outcome = 'success'`,
      [taskId, nowMs / 1000 - agoSeconds, tookSeconds / 2],
    );
  } finally {
    await client.end();
  }
}

async function job(
  taskId: string,
  accountId: string,
  ordinal: number,
  provider: string,
  micros?: number,
  currency = 'USD',
) {
  const pool = `${provider}/model`;
  await reserveSlot(db(), { taskId, ordinal, accountId, pool, provider, limit: 100 });
  const cost = micros === undefined ? undefined : ({ micros, currency, basis: 'estimated' } as const);
  await intendReservedJob(db(), { taskId, ordinal, pool, configHash: 'a'.repeat(64), config: '{}', cost });
  await recordCreatedJob(db(), { taskId, ordinal, jobId: `${taskId}-${ordinal}` });
  return { taskId, ordinal };
}

async function success(accountId: string, provider: string, micros?: number, currency?: string): Promise<string> {
  const taskId = await acceptTestTask(db(), accountId, taskParam('a test'));
  await freeSlotAndRecordCost(db(), await job(taskId, accountId, 1, provider, micros, currency));
  await succeedProviderJob(db(), taskId);
  await completeTask(db(), taskId, madeUpResult);
  return taskId;
}

test('200 an empty installation has every bucket, with no rate and no latency', async () => {
  for (const [range, count] of [
    ['day', 24],
    ['week', 28],
    ['month', 30],
  ] as const) {
    const { total, buckets, providers } = await trends({ range });
    const none = { created: 0, succeeded: 0, failed: 0, successRate: null, p50Ms: null, p95Ms: null, credits: 0 };
    const money = { revenueMicros: 0, costMicros: 0, unpricedJobs: 0, marginMicros: 0 };
    assert.deepEqual(total, { ...none, ...money });
    assert.deepEqual([buckets.length, providers.length], [count, 0]);
  }
});

test('buckets are whole hours, quarters of a day and days in UTC, and the last one holds the present', () => {
  for (const [range, bucketMs] of [
    ['day', 3_600_000],
    ['week', 21_600_000],
    ['month', 86_400_000],
  ] as const) {
    const { startTimes } = trendBuckets(range, nowMs);
    assert.ok(startTimes.every((time) => time % bucketMs === 0));
    const last = startTimes.at(-1) ?? 0;
    assert.ok(last <= nowMs && nowMs < last + bucketMs);
    assert.equal(new Set(startTimes.map((time, index) => time - index * bucketMs)).size, 1);
  }
});

test('200 volume, success rate, latencies, revenue, cost and margin, by bucket and by provider', async () => {
  const accountId = await createAccount(db(), { name: 'Northlight', credits: 10_000 });
  const hour = 3600;
  for (const [took, ago] of [
    [10, 0],
    [20, 0],
    [30, 5 * hour],
    [100, 5 * hour],
  ] as const)
    await alter(await success(accountId, 'studio', 200_000), ago, took);
  const failed = await acceptTestTask(db(), accountId, taskParam('a test'));
  await endProviderJob(db(), { ...(await job(failed, accountId, 1, 'studio', 0)), outcome: 'fail' });
  await endProviderJob(db(), { ...(await job(failed, accountId, 2, 'backup', 0)), outcome: 'not_created' });
  await failAndRefund(db(), failed, { failCode: 'provider_unavailable', failMsg: 'A test.' });
  await alter(failed, 5 * hour, 1);
  const cancelled = await acceptTestTask(db(), accountId, taskParam('a test'));
  const slot = { pool: 'studio/model', provider: 'studio', limit: 100 };
  await reserveSlot(db(), { taskId: cancelled, ordinal: 1, accountId, ...slot });
  await failAndRefund(db(), cancelled, { failCode: 'cancelled', failMsg: 'A test.' });
  await alter(cancelled, 0, 1);
  const old = await success(accountId, 'studio', 9_000_000);
  await alter(old, 25 * hour, 1);
  const { total, buckets, providers } = await trends();
  const { micros } = service.deps.catalogue().creditValue;
  const revenueMicros = 4 * 132 * micros;
  assert.deepEqual(total, {
    created: 6,
    succeeded: 4,
    failed: 1,
    successRate: 0.8,
    p50Ms: 25_000,
    p95Ms: 89_500,
    credits: 528,
    revenueMicros,
    costMicros: 800_000,
    unpricedJobs: 0,
    marginMicros: revenueMicros - 800_000,
  });
  assert.deepEqual(
    [buckets.at(-1), buckets.at(-6)].map((one) => [one?.['succeeded'], one?.['failed'], one?.['p50Ms']]),
    [
      [2, 0, 15_000],
      [2, 1, 65_000],
    ],
  );
  assert.deepEqual(
    providers
      .map((one) => [
        one.provider,
        one['jobs'],
        one['errors'],
        one['errorRate'],
        one['p50Ms'],
        one['refused'],
        one['costMicros'],
      ])
      .toSorted(([a], [b]) => String(a).localeCompare(String(b))),
    [
      ['backup', 1, 1, 1, null, 0, 0],
      ['studio', 5, 1, 0.2, 12_500, 0, 800_000],
    ],
  );
  assert.equal((await trends({ range: 'week' })).total['succeeded'], 5);
});

test('200 an unknown cost makes the margin unknown, and a refusal of content is no error of the provider', async () => {
  const accountId = await createAccount(db(), { name: 'Harbor', credits: 10_000 });
  await success(accountId, 'unpriced');
  const refused = await acceptTestTask(db(), accountId, taskParam('a test'));
  const failure = { failCode: 'content_rejected', failMsg: 'A test.' } as const;
  await endProviderJob(db(), { ...(await job(refused, accountId, 1, 'strict', 0)), outcome: 'fail', failure });
  await failAndRefund(db(), refused, failure);
  await success(accountId, 'foreign', 700_000, 'EUR');
  const own = await acceptTestTask(db(), accountId, taskParam('a test'));
  await intendOwnMachineJob(db(), { taskId: own, ordinal: 1, provider: 'preview' });
  await succeedProviderJob(db(), own);
  await completeTask(db(), own, madeUpResult);
  const { total, providers } = await trends();
  assert.deepEqual([total['unpricedJobs'], total['marginMicros'], total['costMicros']], [2, null, 800_000]);
  assert.deepEqual(
    ['unpriced', 'foreign', 'preview'].map(
      (name) => providers.find(({ provider }) => provider === name)?.['costMicros'],
    ),
    [0, 0, 0],
  );
  const strict = providers.find(({ provider }) => provider === 'strict');
  assert.deepEqual([strict?.['errors'], strict?.['refused']], [0, 1]);
});

test('200 the payments of the range', async () => {
  const accountId = await createAccount(db(), { name: 'Buyer', credits: 0 });
  const text = `
insert into top_ups (id, account_id, provider, is_test, package, credits, currency, minor_units, state, settled_by, paid_at)
select gen_random_uuid(), $1, 'stripe', false, 'starter', 1000, 'EUR', 999, 'paid', 'event', to_timestamp(($2::float8 - hours * 3600000) / 1000)
from unnest(array[1, 1, 25]) hours`;
  await db().run({ name: 'test-pay', text }, [accountId, nowMs]);
  const paid = { currency: 'EUR', isTest: false, topUps: 2, minorUnits: 2 * 999, returnedMinorUnits: 0 };
  assert.deepEqual((await ask())['paid'], [paid]);
  assert.deepEqual((await ask({ range: 'week' }))['paid'], [{ ...paid, topUps: 3, minorUnits: 3 * 999 }]);
});

test('200 the accounts with the most credits, and with the most tasks', async () => {
  const accountId = await createAccount(db(), { name: 'Many', credits: 100_000 });
  for (let tasks = 0; tasks < 8; tasks += 1) {
    const taskId = await acceptTestTask(db(), accountId, taskParam('a test'));
    await failAndRefund(db(), taskId, { failCode: 'cancelled', failMsg: 'A test.' });
  }
  await completeTask(db(), await acceptTestTask(db(), accountId, taskParam('a test')), madeUpResult);
  const names = async (by: string) => {
    const { accounts } = await dataOf(operator.ask('GET', '/api/admin/v1/accounts/top', { query: { by } }));
    const listed = accounts as { accountName: string; tasks: number; succeeded: number; credits: number }[];
    assert.deepEqual(
      listed.find(({ accountName }) => accountName === 'Many'),
      { accountId, accountName: 'Many', tasks: 9, succeeded: 1, credits: 132 },
    );
    return listed.map(({ accountName }) => accountName);
  };
  assert.deepEqual(await names('tasks'), ['Many', 'Northlight', 'Harbor']);
  assert.deepEqual(await names('credits'), ['Northlight', 'Harbor', 'Many']);
  assert.deepEqual(
    await dataOf(operator.ask('GET', '/api/admin/v1/accounts/top')),
    await dataOf(operator.ask('GET', '/api/admin/v1/accounts/top', { query: { by: 'credits', range: 'day' } })),
  );
});
