import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { maxMarginMs, readMargin } from '../../../src/credits/reports/margin-and-paid-money.ts';
import { reserveSlot } from '../../../src/tasks/jobs/slots.ts';
import type { JobCost } from '../../../src/tasks/jobs/provider-jobs.ts';
import { intendOwnMachineJob, intendReservedJob, recordCreatedJob } from '../../../src/tasks/jobs/job-creates.ts';
import { endProviderJob, freeSlotAndRecordCost, succeedProviderJob } from '../../../src/tasks/jobs/job-ends.ts';
import { completeTask, failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { runAsSuperuser } from '../../support/processes/run-as-superuser.ts';
import { createTestAccount } from '../../support/service/test-service.ts';
import { acceptTestTask, madeUpResult, taskParam } from '../../support/tasks/tasks.ts';

const dollars = (micros: number): JobCost => ({ micros, currency: 'USD', basis: 'estimated' });

test('a margin is of a quarter at most, whichever that is', () => {
  // July to September and October to December have the most days.
  assert.equal(maxMarginMs, Date.UTC(2026, 9, 1) - Date.UTC(2026, 6, 1));
});

describe('the margin of a time', () => {
  let database: TestDatabase;
  let accountId: string;
  /** Each test sells a model of its own. */
  let model = '';
  let models = 0;
  beforeEach(() => {
    models += 1;
    model = `model-${models}`;
  });
  before(async () => {
    database = await createTestDatabase();
    ({ accountId } = await createTestAccount(database, 1_000_000));
  });
  after(() => database.close());

  const margin = async (filter: { model?: string; provider?: string } = {}) => {
    const rows = await readMargin(database.db, { fromMs: 0, toMs: Date.now() + 60_000, currency: 'USD', ...filter });
    return rows.filter((one) => one.model === model).map((one) => ({ ...one }));
  };
  const accepted = () => acceptTestTask(database.db, accountId, { ...taskParam('sold'), model });
  const intend = async (taskId: string, ordinal: number, provider: string, cost?: JobCost) => {
    const pool = `${provider}/model`;
    await reserveSlot(database.db, { taskId, ordinal, accountId, pool, provider, limit: 100 });
    await intendReservedJob(database.db, { taskId, ordinal, pool, configHash: 'a'.repeat(64), config: '{}', cost });
    return { taskId, ordinal };
  };
  const succeed = async (job: { taskId: string; ordinal: number }, cost?: JobCost) => {
    await recordCreatedJob(database.db, { ...job, jobId: `job of ${job.taskId}` });
    await freeSlotAndRecordCost(database.db, { ...job, cost });
    await succeedProviderJob(database.db, job.taskId);
    await completeTask(database.db, job.taskId, madeUpResult);
  };
  const refund = (taskId: string) =>
    failAndRefund(database.db, taskId, { failCode: 'provider_unavailable', failMsg: 'It is not available.' });
  const row = (provider: string, figures: object) => ({
    model,
    priceName: 'standard',
    provider,
    tasks: 1,
    jobs: 1,
    creditsCharged: 132,
    creditsRefunded: 0,
    costMicros: 0,
    unknownJobs: 0,
    foreignJobs: 0,
    ...figures,
  });

  test('adds up, to the micro-unit, what was estimated and what the upstream reported instead', async () => {
    await succeed(await intend(await accepted(), 1, 'a', dollars(606_001)));
    await succeed(await intend(await accepted(), 1, 'a', dollars(606_001)), {
      micros: 604_799,
      currency: 'USD',
      basis: 'reported',
    });
    assert.deepEqual(await margin(), [row('a', { tasks: 2, jobs: 2, creditsCharged: 264, costMicros: 1_210_800 })]);
  });

  test('gives the credits of a task to its last provider, and the cost to each that caused it', async () => {
    const taskId = await accepted();
    const failed = await intend(taskId, 1, 'a', dollars(100));
    await endProviderJob(database.db, { ...failed, outcome: 'fail' });
    const declined = await intend(taskId, 2, 'b', dollars(300));
    await endProviderJob(database.db, { ...declined, outcome: 'not_created', cost: 'free' });
    await succeed(await intend(taskId, 3, 'c', dollars(500)));
    assert.deepEqual(await margin(), [
      row('a', { creditsCharged: 0, costMicros: 100 }),
      row('b', { creditsCharged: 0 }),
      row('c', { costMicros: 500 }),
    ]);
  });

  test('counts jobs of unknown cost and of another currency as such, beside what is known', async () => {
    await succeed(await intend(await accepted(), 1, 'a', dollars(500)));
    await succeed(await intend(await accepted(), 1, 'a'));
    await succeed(await intend(await accepted(), 1, 'a', { micros: 9, currency: 'EUR', basis: 'estimated' }));
    const lost = await intend(await accepted(), 1, 'a', dollars(500));
    await endProviderJob(database.db, { ...lost, outcome: 'abandoned', cost: 'unknown' });
    await refund(lost.taskId);
    const figures = { creditsCharged: 528, creditsRefunded: 132, costMicros: 500, unknownJobs: 2, foreignJobs: 1 };
    assert.deepEqual(await margin(), [row('a', { tasks: 4, jobs: 4, ...figures })]);
  });

  test('finds that a job on our own machine and one that was declined cost nothing upstream', async () => {
    const local = await accepted();
    await intendOwnMachineJob(database.db, { taskId: local, ordinal: 1, provider: 'preview' });
    await recordCreatedJob(database.db, { taskId: local, ordinal: 1, jobId: 'job' });
    await succeedProviderJob(database.db, local);
    await completeTask(database.db, local, madeUpResult);
    const refused = await intend(await accepted(), 1, 'a');
    await endProviderJob(database.db, { ...refused, outcome: 'refused', cost: 'free' });
    await refund(refused.taskId);
    assert.deepEqual(await margin(), [row('a', { creditsRefunded: 132 }), row('preview', {})]);
  });

  test('has the tasks that ended from its beginning to before its end', async () => {
    await succeed(await intend(await accepted(), 1, 'a', dollars(500)));
    const at = Date.UTC(2026, 0, 5);
    await runAsSuperuser(database, `update tasks set completed_at = '2026-01-05T00:00:00Z' where model = '${model}'`);
    const read = (fromMs: number) => readMargin(database.db, { fromMs, toMs: fromMs + 1, currency: 'USD' });
    const sold = row('a', { costMicros: 500 });
    assert.deepEqual(await Promise.all([at - 1, at, at + 1].map(read)), [[], [sold], []]);
  });

  test('shows tasks that never came to a provider, and can be limited to one model and one provider', async () => {
    await refund(await accepted());
    const waited = await accepted();
    const provider = { taskId: waited, ordinal: 1, accountId, pool: 'a/model', provider: 'a', limit: 100 };
    await reserveSlot(database.db, provider);
    await refund(waited);
    await succeed(await intend(await accepted(), 1, 'a', dollars(500)));
    const none = row('none', { tasks: 2, jobs: 0, creditsCharged: 264, creditsRefunded: 264 });
    const sold = row('a', { costMicros: 500 });
    assert.deepEqual(await margin(), [sold, none]);
    assert.deepEqual(await margin({ provider: 'a' }), [sold]);
    assert.deepEqual(await margin({ provider: 'none', model }), [none]);
    assert.deepEqual(await margin({ model: 'another' }), []);
  });
});
