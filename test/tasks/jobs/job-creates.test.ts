import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAccount } from '../../../src/credits/open-account.ts';
import {
  countOtherUnansweredCreates,
  intendOwnMachineJob,
  intendReservedJob,
  findIdsTakenByOurJobs,
  recordCreatedJob,
  recordUnusableCreateResponse,
  incrementLostRuns,
} from '../../../src/tasks/jobs/job-creates.ts';
import type { StatementRunner } from '../../../src/platform/database/declare-statements.ts';
import { ago, failedAgo, insertRow, insertTask, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
let accountId: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'creates', credits: 0 });
});
after(() => database.close());

const minuteMs = 60_000;
const pool = 'upstream/m';
type Row = Readonly<Record<string, unknown>>;

async function addJob(db: StatementRunner, row: Row, taskId?: string, ordinal = 1) {
  const of = taskId ?? (await insertTask(db, accountId));
  await insertRow(db, 'provider_jobs', { task_id: of, ordinal, provider: 'upstream', pool, ...row });
  return { taskId: of, ordinal };
}

/** These columns of a job; times as whether they are set. */
async function columnsOf(
  db: StatementRunner,
  { taskId, ordinal }: { taskId: string; ordinal: number },
  columns: string,
) {
  const text = `select ${columns} from provider_jobs where task_id = $1 and ordinal = $2`;
  return (await db.run({ name: 'test-columns', text, plannedAnew: true }, [taskId, ordinal]))[0];
}

test('an intent needs a task that has not ended and a slot that is still leased, and is committed once', () =>
  rolledBack(database.db, async (db) => {
    const config = { configHash: 'a'.repeat(64), config: '{"url":"b"}' };
    const columns = `provider, pool, job_id, config_hash, cost_micros, cost_currency, cost_basis, intended_at = now() as is_intended`;
    const none = { cost_micros: null, cost_currency: null };
    for (const [row, task, isGranted] of [
      [{ reserved_at: ago(minuteMs - 1) }, {}, true],
      [{ reserved_at: ago(minuteMs) }, {}, false],
      [{ reserved_at: ago(0), outcome: 'not_created' }, {}, false],
      [{ reserved_at: ago(0) }, failedAgo(0), false],
    ] as const) {
      const job = await addJob(db, row, await insertTask(db, accountId, task));
      const earlier = await columnsOf(db, job, columns);
      const intend = (at = pool) => intendReservedJob(db, { ...job, ...config, pool: at });
      assert.equal(await intend('upstream/other'), undefined);
      assert.deepEqual(await intend(), isGranted ? { ordinal: 1 } : undefined, JSON.stringify([row, task]));
      assert.equal(await intend(), undefined, 'again');
      const intended = {
        ...earlier,
        config_hash: config.configHash,
        ...none,
        cost_basis: 'unknown',
        is_intended: true,
      };
      assert.deepEqual(await columnsOf(db, job, columns), isGranted ? intended : earlier);
    }
    const job = await addJob(db, { reserved_at: ago(0) });
    const cost = { micros: 7, currency: 'EUR', basis: 'estimated' } as const;
    await intendReservedJob(db, { ...job, ...config, pool, jobId: 'run', cost });
    const costs = { cost_micros: 7, cost_currency: 'EUR', cost_basis: 'estimated' };
    const intended = { provider: 'upstream', pool, job_id: 'run', config_hash: config.configHash, is_intended: true };
    assert.deepEqual(await columnsOf(db, job, columns), { ...intended, ...costs });
    const stored = await db.run({ name: 'test-configs', text: 'select hash, config from provider_configs' });
    assert.deepEqual(stored, [{ hash: config.configHash, config: { url: 'b' } }]);

    const own = { taskId: await insertTask(db, accountId), ordinal: 3, provider: 'preview', jobId: 'mine' };
    assert.deepEqual(await intendOwnMachineJob(db, own), { ordinal: 3 });
    assert.equal(await intendOwnMachineJob(db, own), undefined, 'again');
    const nothing = { pool: null, config_hash: null, ...none, cost_basis: null };
    const made = { provider: 'preview', job_id: 'mine', is_intended: true, ...nothing };
    assert.deepEqual(await columnsOf(db, own, columns), made);
    const ended = await insertTask(db, accountId, failedAgo(0));
    assert.equal(await intendOwnMachineJob(db, { ...own, taskId: ended }), undefined);
  }));

const unanswered = { intended_at: ago(minuteMs) };

test('a created job keeps its first time and handle, and one that was given up meanwhile is to be stopped', () =>
  rolledBack(database.db, async (db) => {
    const columns = `job_id, handle, sent_input, outcome, settled_at is not null as is_settled,
      (extract(epoch from now() - submitted_at) * 1000)::int as submitted_ms`;
    const sent = { ...unanswered, sent_input: '{}' };
    const gone = { ended_at: ago(0), settled_at: ago(0) };
    const row = { job_id: 'made', handle: { a: 1 }, sent_input: null, outcome: null, is_settled: false };
    const known = { job_id: 'made', handle: '{"b":2}', submitted_at: ago(9) };
    for (const [first, outcome, last] of [
      [sent, 'recorded', { ...row, submitted_ms: 0 }],
      [
        { ...sent, outcome: 'fail', ...gone },
        'recorded',
        { ...row, outcome: 'fail', is_settled: true, submitted_ms: 0 },
      ],
      [{ ...sent, outcome: 'not_created', ...gone }, 'abandoned', { ...row, outcome: 'abandoned', submitted_ms: 0 }],
      [{ ...sent, outcome: 'abandoned', ...gone }, 'abandoned', { ...row, outcome: 'abandoned', submitted_ms: 0 }],
      [
        { ...sent, ...known, outcome: 'abandoned', ...gone },
        'abandoned',
        { ...row, outcome: 'abandoned', is_settled: true, submitted_ms: 9 },
      ],
    ] as const) {
      const job = await addJob(db, first);
      const made = await recordCreatedJob(db, { ...job, jobId: 'made', handle: { a: 1 } });
      assert.deepEqual([made, await columnsOf(db, job, columns)], [outcome, last]);
      await recordCreatedJob(db, { ...job, jobId: 'made' });
      assert.deepEqual(await columnsOf(db, job, columns), last, 'without a handle it stays');
    }
  }));

test('a job that was created under the name of a repeated create belongs to the later row only', () =>
  rolledBack(database.db, async (db) => {
    const declined = { ...unanswered, outcome: 'not_created', ended_at: ago(0), settled_at: ago(0) };
    for (const [first, later, isNamed, outcome] of [
      [declined, unanswered, true, 'repeated'],
      [declined, { ...unanswered, job_id: 'made' }, true, 'repeated'],
      [declined, { ...unanswered, job_id: 'made', outcome: 'success' }, true, 'repeated'],
      [declined, unanswered, false, 'abandoned'],
      [declined, { ...unanswered, job_id: 'another' }, true, 'abandoned'],
      [declined, { ...unanswered, outcome: 'fail' }, true, 'abandoned'],
      [declined, { ...unanswered, provider: 'other' }, true, 'abandoned'],
      [declined, { reserved_at: ago(0) }, true, 'abandoned'],
      [{ ...declined, outcome: 'fail' }, unanswered, true, 'recorded'],
    ] as const) {
      const job = await addJob(db, first);
      await addJob(db, later, job.taskId, 2);
      const made = await recordCreatedJob(db, { ...job, jobId: 'made', isNamed });
      assert.equal(made, outcome, JSON.stringify([first, later, isNamed]));
    }
    const [last, elsewhere] = [await addJob(db, declined), await addJob(db, unanswered)];
    await addJob(db, unanswered, elsewhere.taskId, 2);
    await addJob(db, unanswered, last.taskId, 3);
    const third = await addJob(db, declined, last.taskId, 4);
    assert.equal(await recordCreatedJob(db, { ...third, jobId: 'made', isNamed: true }), 'abandoned', 'it is the last');
  }));

test('an answer without a job is kept for operators, up to its limit, and lost runs are counted, for one job each', () =>
  rolledBack(database.db, async (db) => {
    const job = await addJob(db, unanswered);
    const others = [
      await addJob(db, unanswered, job.taskId, 2),
      await addJob(db, { ...unanswered, job_id: 'made' }),
      await addJob(db, { ...unanswered, outcome: 'fail' }),
    ];
    for (const one of [job, ...others.slice(1)]) await recordUnusableCreateResponse(db, one, 'x'.repeat(8193));
    const details = async () => Promise.all([job, ...others].map((one) => columnsOf(db, one, 'detail, lost_runs')));
    const untouched = { detail: null, lost_runs: 0 };
    assert.deepEqual(await details(), [{ detail: 'x'.repeat(8192), lost_runs: 0 }, untouched, untouched, untouched]);
    assert.deepEqual(
      [await incrementLostRuns(db, job), await incrementLostRuns(db, job)],
      [{ lostRuns: 1 }, { lostRuns: 2 }],
    );
    assert.deepEqual(
      (await details()).map((one): unknown => one?.['lost_runs']),
      [2, 0, 0, 0],
    );
  }));

test('an id is claimed by a job of the same provider with exactly that id', () =>
  rolledBack(database.db, async (db) => {
    const long = 'x'.repeat(1000);
    await addJob(db, { ...unanswered, job_id: `${long}a` });
    await addJob(db, { ...unanswered, job_id: 'short' });
    const ids = [`${long}a`, `${long}b`, 'short', 'another'];
    assert.deepEqual(await findIdsTakenByOurJobs(db, 'upstream', ids), new Set([`${long}a`, 'short']));
    assert.deepEqual(await findIdsTakenByOurJobs(db, 'other', ids), new Set());
  }));

test('the rivals of a create are the other creates of its pool without a response, since ten minutes before it', () =>
  rolledBack(database.db, async (db) => {
    const intended = (ms: number) => ({ intended_at: ago(ms) });
    const own = await addJob(db, intended(0));
    const [clock] = await db.run<{ at: number }>({ name: 'test-now', text: 'select now() as at' });
    const at = clock?.at ?? assert.fail();
    const rivals = async () =>
      (await countOtherUnansweredCreates(db, { pool, taskId: own.taskId, ordinal: 1, intendedAt: at })).rivals;
    assert.equal(await rivals(), 0);
    for (const [row, counts] of [
      [intended(10 * minuteMs - 2), true],
      [intended(-minuteMs), true],
      [{ ...intended(0), outcome: 'abandoned' }, true],
      [intended(10 * minuteMs + 2), false],
      [{ ...intended(0), outcome: 'abandoned', settled_at: ago(0) }, true],
      [{ ...intended(0), outcome: 'not_created' }, false],
      [{ ...intended(0), job_id: 'made' }, false],
      [{ ...intended(0), pool: 'upstream/other' }, false],
      [{ reserved_at: ago(0) }, false],
    ] as const) {
      const earlier = await rivals();
      await addJob(db, row);
      assert.equal((await rivals()) - earlier, counts ? 1 : 0, JSON.stringify(row));
    }
    const earlier = await rivals();
    await addJob(db, intended(0), own.taskId, 2);
    assert.equal((await rivals()) - earlier, 1, 'another create of the same task');
  }));
