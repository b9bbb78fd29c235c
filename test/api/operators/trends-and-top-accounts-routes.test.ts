import assert from 'node:assert/strict';
import { test } from 'node:test';
import { presentTrends } from '../../../src/api/operators/trends-and-top-accounts-routes.ts';
import { maxTasksRead } from '../../../src/library/operations/overview-counts.ts';

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
