import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAccount } from '../../../src/credits/open-account.ts';
import {
  endProviderJob,
  listLeftoverJobs,
  recordLateSuccess,
  freeSlotAndRecordCost,
  recordLeftoverJobEnd,
  succeedProviderJob,
  type LeftoverJob,
} from '../../../src/tasks/jobs/job-ends.ts';
import type { StatementRunner } from '../../../src/platform/database/declare-statements.ts';
import { ago, failedAgo, insertRow, insertTask, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
let accountId: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'ends', credits: 0 });
});
after(() => database.close());

const minuteMs = 60_000;
const pool = 'upstream/m';
const estimate = { cost_micros: 500, cost_currency: 'USD', cost_basis: 'estimated' };
const running = { job_id: 'job', intended_at: ago(3 * minuteMs), submitted_at: ago(2 * minuteMs), ...estimate };

async function addJob(db: StatementRunner, taskId: string, row: Readonly<Record<string, unknown>>, ordinal = 1) {
  await insertRow(db, 'provider_jobs', { task_id: taskId, ordinal, provider: 'upstream', pool, ...row });
  return { taskId, ordinal };
}

const newJob = async (db: StatementRunner, row: Readonly<Record<string, unknown>> = running) =>
  addJob(db, await insertTask(db, accountId), row);

/** What the database has of a job; times are milliseconds since then. */
async function rowOf(db: StatementRunner, { taskId, ordinal }: { readonly taskId: string; readonly ordinal: number }) {
  const since = (column: string) => `(extract(epoch from now() - ${column}) * 1000)::int as ${column}`;
  const text = `
select outcome, detail, fail_code, fail_msg, is_repeatable, cost_micros, cost_currency, cost_basis, sent_input,
  ${since('upstream_ended_at')}, ${since('ended_at')}, ${since('settled_at')}
from provider_jobs where task_id = $1 and ordinal = $2`;
  return (await db.run({ name: 'test-job', text }, [taskId, ordinal]))[0];
}

const open = {
  outcome: null,
  detail: null,
  fail_code: null,
  fail_msg: null,
  is_repeatable: false,
  ...estimate,
  sent_input: null,
  upstream_ended_at: null,
  ended_at: null,
  settled_at: null,
};
const unknownCost = { cost_micros: null, cost_currency: null, cost_basis: 'unknown' };
const estimated = { costMicros: 500, costCurrency: 'USD', costBasis: 'estimated' };

test('the end upstream keeps the estimated cost unless it is known better, the first end stays, and other jobs do too', () =>
  rolledBack(database.db, async (db) => {
    const reported = { micros: 7, currency: 'EUR', basis: 'reported' } as const;
    for (const [cost, columns] of [
      [undefined, estimate],
      ['unknown', unknownCost],
      [reported, { cost_micros: 7, cost_currency: 'EUR', cost_basis: 'reported' }],
    ] as const) {
      const job = await newJob(db);
      const other = await addJob(db, job.taskId, running, 2);
      await freeSlotAndRecordCost(db, { ...job, cost });
      assert.deepEqual(await rowOf(db, job), { ...open, ...columns, upstream_ended_at: 0 });
      assert.deepEqual(await rowOf(db, other), open);
    }
    const ended = await newJob(db, { ...running, upstream_ended_at: ago(minuteMs) });
    await freeSlotAndRecordCost(db, { ...ended, cost: reported });
    assert.deepEqual(await rowOf(db, ended), { ...open, upstream_ended_at: minuteMs });
  }));

test('the outcome of a job has all that is known about it, and the first one stays', () =>
  rolledBack(database.db, async (db) => {
    const job = await newJob(db, { ...running, detail: 'earlier', upstream_ended_at: ago(minuteMs) });
    const other = await addJob(db, job.taskId, running, 2);
    const failure = { failCode: 'provider_rejected', failMsg: 'It was rejected.' } as const;
    const ended = { provider: 'upstream', pool, outcome: 'fail', runMs: minuteMs, ...estimated };
    assert.deepEqual(await endProviderJob(db, { ...job, outcome: 'fail', failure }), ended);
    const failed = { ...open, outcome: 'fail', detail: 'earlier', fail_code: failure.failCode, ended_at: 0 };
    const row = { ...failed, fail_msg: failure.failMsg, upstream_ended_at: minuteMs };
    assert.deepEqual(await rowOf(db, job), row);
    assert.equal(await endProviderJob(db, { ...job, outcome: 'abandoned', cost: 'free', detail: 'later' }), undefined);
    assert.deepEqual([await rowOf(db, job), await rowOf(db, other)], [row, open]);

    const declined = await newJob(db, { ...running, detail: 'earlier', job_id: null });
    const end = { outcome: 'abandoned', detail: 'x'.repeat(8193), isSettled: true, isRepeatable: true } as const;
    const { runMs } = (await endProviderJob(db, { ...declined, ...end })) ?? assert.fail();
    assert.equal(runMs, undefined, 'no job was created');
    assert.deepEqual(await rowOf(db, declined), {
      ...open,
      outcome: 'abandoned',
      detail: 'x'.repeat(8192),
      is_repeatable: true,
      ended_at: 0,
      settled_at: 0,
    });
  }));

test('a job that is certainly free costs nothing, one of unknown cost has none, and its duration begins with its acceptance', () =>
  rolledBack(database.db, async (db) => {
    for (const [cost, columns, fields] of [
      [undefined, estimate, estimated],
      ['free', { ...estimate, cost_micros: 0 }, { ...estimated, costMicros: 0 }],
      ['unknown', unknownCost, { costMicros: undefined, costCurrency: undefined, costBasis: 'unknown' }],
    ] as const) {
      const [ended, settled] = [await newJob(db), await newJob(db, { ...running, submitted_at: null })];
      const job = { provider: 'upstream', pool, outcome: 'abandoned', ...fields } as const;
      const by = { outcome: 'abandoned', cost } as const;
      assert.deepEqual(await endProviderJob(db, { ...ended, ...by }), { ...job, runMs: 2 * minuteMs });
      const { isFirst, ...rest } = { isFirst: true, ...(await recordLeftoverJobEnd(db, { ...settled, ...by })) };
      assert.deepEqual([isFirst, rest], [true, { ...job, runMs: 3 * minuteMs }]);
      const row = { ...open, ...columns, outcome: 'abandoned', ended_at: 0 };
      assert.deepEqual([await rowOf(db, ended), await rowOf(db, settled)], [row, { ...row, settled_at: 0 }]);
    }
  }));

test('only a job that has an id and has ended upstream succeeds, or one on our own machine', () =>
  rolledBack(database.db, async (db) => {
    const ended = { ...running, upstream_ended_at: ago(minuteMs) };
    for (const [row, succeeds] of [
      [ended, true],
      [{ ...running, pool: null }, true],
      [running, false],
      [{ ...ended, job_id: null }, false],
      [{ ...ended, outcome: 'fail' }, false],
    ] as const) {
      const job = await newJob(db, row);
      const earlier = await rowOf(db, job);
      const success = await succeedProviderJob(db, job.taskId);
      assert.equal(success?.outcome, succeeds ? 'success' : undefined, JSON.stringify(row));
      assert.deepEqual(await rowOf(db, job), succeeds ? { ...earlier, outcome: 'success', ended_at: 0 } : earlier);
    }
  }));

test('a success becomes a late one with its task, once, and no other job does', () =>
  rolledBack(database.db, async (db) => {
    const job = await newJob(db, { ...running, outcome: 'success', ended_at: ago(minuteMs) });
    const failed = await addJob(db, job.taskId, { ...running, outcome: 'fail' }, 2);
    const other = await newJob(db, { ...running, outcome: 'success' });
    assert.deepEqual(await recordLateSuccess(db, job.taskId), { provider: 'upstream', pool, outcome: 'late_success' });
    assert.equal(await recordLateSuccess(db, job.taskId), undefined);
    assert.deepEqual(
      [await rowOf(db, job), await rowOf(db, failed), await rowOf(db, other)],
      [
        { ...open, outcome: 'late_success', ended_at: minuteMs, settled_at: 0 },
        { ...open, outcome: 'fail' },
        { ...open, outcome: 'success' },
      ],
    );
  }));

test('jobs of ended tasks that may still run are listed, the oldest first, each once over all pages', () =>
  rolledBack(database.db, async (db) => {
    const dayMs = 24 * 60 * minuteMs;
    const expected: LeftoverJob[] = [];
    const unanswered = (ms: number) => ({ job_id: null, intended_at: ago(ms) });
    for (const [ended, row, isOld] of [
      [failedAgo(dayMs + 1), { ...running, intended_at: ago(9 * dayMs) }, true],
      [failedAgo(dayMs), { ...running, intended_at: ago(8 * dayMs) }, false],
      [failedAgo(minuteMs + 1), { ...running, intended_at: ago(7 * dayMs), outcome: 'abandoned' }, false],
      [failedAgo(dayMs), unanswered(minuteMs + 1), false],
      // Every other one is left out.
      [failedAgo(minuteMs), running, undefined],
      [{}, running, undefined],
      [failedAgo(dayMs), unanswered(minuteMs), undefined],
      [failedAgo(dayMs), { ...running, outcome: 'success' }, undefined],
      [failedAgo(dayMs), { ...running, settled_at: ago(0) }, undefined],
      [failedAgo(dayMs), { ...running, outcome: 'abandoned', settled_at: ago(0) }, undefined],
    ] as const) {
      const job = await addJob(db, await insertTask(db, accountId, ended), row);
      if (isOld === undefined) continue;
      expected.push({ ...job, provider: 'upstream', jobId: row.job_id ?? undefined, isOld });
    }
    const last = expected.at(-1) ?? assert.fail();
    const second = await addJob(db, last.taskId, unanswered(minuteMs + 1), 2);
    expected.push({ ...last, ...second });
    const list = (limit: number, from?: LeftoverJob) =>
      listLeftoverJobs(db, { minAgeMs: minuteMs, after: from, limit });
    assert.deepEqual(await list(100), expected);
    const pages: LeftoverJob[] = [];
    for (let page = await list(1); page.length > 0; page = await list(1, page.at(-1))) pages.push(...page);
    assert.deepEqual(pages, expected);
  }));

test('a job is settled once, its end is counted once, and a video that arrives after all is counted as late', () =>
  rolledBack(database.db, async (db) => {
    const sent = { ...running, sent_input: '{"prompt":"a boat"}' };
    const first = await newJob(db, sent);
    const ended = await newJob(db, { ...sent, outcome: 'abandoned', ended_at: ago(minuteMs) });
    const late = await newJob(db, { ...sent, outcome: 'abandoned', ended_at: ago(minuteMs) });
    const failed = await newJob(db, { ...sent, outcome: 'fail', ended_at: ago(minuteMs) });
    const settle = async (job: typeof first, outcome: 'abandoned' | 'late_success') =>
      (await recordLeftoverJobEnd(db, { ...job, outcome }))?.outcome;
    assert.equal(await settle(first, 'abandoned'), 'abandoned');
    assert.equal(await settle(first, 'late_success'), undefined, 'it was settled');
    assert.equal(await settle(ended, 'abandoned'), undefined, 'its end was counted before');
    assert.equal(await settle(late, 'late_success'), 'late_success');
    assert.equal(await settle(failed, 'abandoned'), undefined);
    const row = { ...open, outcome: 'abandoned', settled_at: 0 };
    assert.deepEqual(await Promise.all([first, ended, late].map((job) => rowOf(db, job))), [
      { ...row, ended_at: 0 },
      { ...row, ended_at: minuteMs },
      { ...row, outcome: 'late_success', ended_at: minuteMs },
    ]);
    assert.equal((await rowOf(db, failed))?.['settled_at'], null);
  }));
