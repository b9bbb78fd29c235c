import assert from 'node:assert/strict';
import { test } from 'node:test';
import { presentTrends } from '../../../src/api/operators/trends-and-top-accounts-routes.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { maxTasksRead } from '../../../src/library/operations/overview-counts.ts';
import { insertTask } from '../../support/database/rolled-back.ts';
import { startHttpService } from '../../support/service/http-service.ts';
import { createTestOperator, dataOf } from '../../support/service/operator-key.ts';

const period = { bucketMs: 100, startTimes: [100, 200] };
const credit = { micros: 10, currency: 'EUR' };
const ended = { ended: 9, succeeded: 3, failed: 1, credits: 40, p50Ms: 5, p95Ms: 6 };
const job = { refused: 4, errors: 1, jobs: 8, costMicros: 150, unpricedJobs: 0, p50Ms: 7, p95Ms: 9 };
const noFigures = {
  created: 0,
  succeeded: 0,
  failed: 0,
  successRate: null,
  p50Ms: null,
  p95Ms: null,
  credits: 0,
  revenueMicros: 0,
  costMicros: 0,
  unpricedJobs: 0,
  marginMicros: 0,
};
const noJobs = { jobs: 0, errors: 0, errorRate: null, p50Ms: null, p95Ms: null };

test('each bucket, the period and each provider have their own figures', () => {
  const paid = [{ currency: 'EUR', isTest: false, topUps: 1, minorUnits: 999, returnedMinorUnits: 0 }];
  const figures = {
    created: [
      { bucket: 200, created: 2 },
      { bucket: undefined, created: 12 },
    ],
    ended: [
      { ...ended, bucket: 200, succeeded: 0, failed: 0, credits: 0, p50Ms: undefined, p95Ms: undefined },
      { ...ended, bucket: undefined },
    ],
    jobs: [
      { ...job, bucket: 100, provider: 'studio', jobs: 5, errors: 2 },
      { ...job, bucket: 100, provider: undefined, costMicros: 70, unpricedJobs: 1 },
      { ...job, bucket: undefined, provider: 'backup', refused: 1, costMicros: 3, p50Ms: undefined, p95Ms: undefined },
      { ...job, bucket: undefined, provider: 'studio', errors: 4 },
      { ...job, bucket: undefined, provider: undefined },
    ],
  };
  assert.deepEqual(presentTrends({ range: 'week', period, figures, paid, credit }), {
    range: 'week',
    bucketMs: 100,
    currency: 'EUR',
    creditMicros: 10,
    isPartial: false,
    total: {
      created: 12,
      succeeded: 3,
      failed: 1,
      successRate: 0.75,
      p50Ms: 5,
      p95Ms: 6,
      credits: 40,
      revenueMicros: 400,
      costMicros: 150,
      unpricedJobs: 0,
      marginMicros: 250,
    },
    buckets: [
      { startTime: 100, ...noFigures, costMicros: 70, unpricedJobs: 1, marginMicros: null },
      { startTime: 200, ...noFigures, created: 2 },
    ],
    providers: [
      {
        provider: 'backup',
        jobs: 8,
        errors: 1,
        errorRate: 0.125,
        p50Ms: null,
        p95Ms: null,
        refused: 1,
        costMicros: 3,
        buckets: [
          { startTime: 100, ...noJobs },
          { startTime: 200, ...noJobs },
        ],
      },
      {
        provider: 'studio',
        jobs: 8,
        errors: 4,
        errorRate: 0.5,
        p50Ms: 7,
        p95Ms: 9,
        refused: 4,
        costMicros: 150,
        buckets: [
          { startTime: 100, jobs: 5, errors: 2, errorRate: 0.4, p50Ms: 7, p95Ms: 9 },
          { startTime: 200, ...noJobs },
        ],
      },
    ],
    paid,
  });
});

test('figures are partial if as many tasks ended as are read', () => {
  for (const [count, isPartial] of [
    [undefined, false],
    [maxTasksRead - 1, false],
    [maxTasksRead, true],
  ] as const) {
    const rows = count === undefined ? [] : [{ ...ended, bucket: undefined, ended: count }];
    const figures = { created: [], ended: rows, jobs: [] };
    assert.equal(presentTrends({ range: 'day', period, figures, paid: [], credit }).isPartial, isPartial);
  }
});

test('200 trends and top accounts have the tasks of the range, by the hour of a day unless another one is chosen', async (t) => {
  const [hourMs, dayMs] = [3_600_000, 86_400_000];
  const now = Date.UTC(2026, 5, 15, 10, 30);
  const service = await startHttpService({ now: () => now });
  t.after(() => service.close());
  const { db, ask } = { db: service.database.db, ask: (await createTestOperator(service)).ask };
  const [few, many] = [
    await createAccount(db, { name: 'few', credits: 0 }),
    await createAccount(db, { name: 'many', credits: 0 }),
  ];
  const firstHour = Date.UTC(2026, 5, 14, 11);
  const add = (accountId: string, at: number, credits: number, ending: object = {}) =>
    insertTask(db, accountId, { created_at: new Date(at), credits_charged: credits, ...ending });
  const succeeded = (at: number) => ({
    state: 'success',
    result: '{"videoKey":"v","posterKey":"p"}',
    completed_at: new Date(at),
  });
  await add(few, firstHour, 500, succeeded(firstHour + 2_000));
  await add(many, now - 60_000, 10, succeeded(now - 50_000));
  await add(many, now - 60_000, 20);
  // Before the first hour of the day, but in the week.
  await add(few, firstHour - 1, 7, succeeded(firstHour - 1));
  const read = (query: Readonly<Record<string, string>>) => dataOf(ask('GET', '/api/admin/v1/trends', { query }));
  const day = await read({});
  const buckets = day['buckets'] as readonly Readonly<Record<string, number>>[]; // the documented shape
  const firsts = buckets.map(({ startTime, created, succeeded: count }) => [startTime, created, count]);
  assert.deepEqual([firsts.length, firsts[0], firsts[23]], [24, [firstHour, 1, 1], [firstHour + 23 * hourMs, 2, 1]]);
  const { micros, currency } = service.deps.catalogue().creditValue;
  const { range, bucketMs, currency: shownCurrency, creditMicros, isPartial, providers, paid } = day;
  assert.deepEqual(
    { range, bucketMs, shownCurrency, creditMicros, isPartial, providers, paid },
    {
      range: 'day',
      bucketMs: hourMs,
      shownCurrency: currency,
      creditMicros: micros,
      isPartial: false,
      providers: [],
      paid: [],
    },
  );
  const { created, succeeded: all, credits, revenueMicros } = day['total'] as Readonly<Record<string, number>>;
  assert.deepEqual([created, all, credits, revenueMicros], [3, 2, 510, 510 * micros]);
  const week = await read({ range: 'week' });
  assert.deepEqual([week['range'], week['bucketMs'], (week['buckets'] as object[]).length], ['week', 6 * hourMs, 28]);
  assert.equal((week['total'] as Readonly<Record<string, number>>)['created'], 4);
  assert.equal((await read({ range: 'month' }))['bucketMs'], dayMs);
  const top = async (query: Readonly<Record<string, string>>) =>
    (await dataOf(ask('GET', '/api/admin/v1/accounts/top', { query })))['accounts'];
  const ofFew = { accountId: few, accountName: 'few', tasks: 1, succeeded: 1, credits: 500 };
  const ofMany = { accountId: many, accountName: 'many', tasks: 2, succeeded: 1, credits: 30 };
  assert.deepEqual(await top({}), [ofFew, ofMany]);
  assert.deepEqual(await top({ by: 'tasks' }), [ofMany, ofFew]);
  assert.deepEqual(await top({ range: 'week' }), [{ ...ofFew, tasks: 2, succeeded: 2, credits: 507 }, ofMany]);
});
