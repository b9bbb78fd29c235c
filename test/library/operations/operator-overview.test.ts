import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { runAndRecordAudit } from '../../../src/credits/ledger/ledger-audit.ts';
import { completeTask, failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { beginGenerationAttempt } from '../../../src/tasks/task-rows.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { askWith, createTestOperator, dataOf, type TestOperator } from '../../support/service/operator-key.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import {
  countUnfinishedTasks,
  readCallbackBacklog,
  sumTasksCreatedInDay,
  sumTasksEndedInDay,
} from '../../../src/library/operations/overview-counts.ts';
import { createTestDatabase } from '../../support/database/test-database.ts';
import { acceptTestTask, madeUpResult, taskParam } from '../../support/tasks/tasks.ts';

let service: HttpService;
let operator: TestOperator;
before(async () => {
  service = await startHttpService();
  operator = await createTestOperator(service);
});
after(() => service.close());

const overview = () => dataOf(operator.ask('GET', '/api/admin/v1/overview'));

test('200 an empty installation', async () => {
  const { providers, ...others } = await overview();
  assert.deepEqual(others, {
    unfinished: [],
    stuckTasks: 0,
    lastDay: { created: 0, charged: 0, succeeded: 0, cancelled: 0, rejected: 0, failed: [], refunded: 0 },
    callbacks: { pending: 0, overdue: 0, undelivered: 0 },
    books: { auditedTime: null, violations: 0, found: [] },
  });
  assert.ok(Array.isArray(providers) && providers.length > 0);
});

test('200 tasks of all accounts, the day, owed callbacks, and what is wrong with the books', async () => {
  const { db } = service.database;
  const [one, two] = [await service.newAccount(1_000), await service.newAccount(1_000)];
  const failing = await service.create(one.key, { ...plainRequest, callBackUrl: 'http://127.0.0.1/' });
  const running = await service.create(one.key, plainRequest);
  await service.create(two.key, plainRequest);
  await failAndRefund(db, String(failing.json.data['taskId']), { failCode: 'timeout', failMsg: 'It took too long.' });
  await beginGenerationAttempt(db, String(running.json.data['taskId']));
  const text = 'update accounts set balance = balance + 1 where id = $1';
  await db.run({ name: 'test-break-books', text }, [two.accountId]);
  await runAndRecordAudit(db, 'recent');
  const { unfinished, lastDay, callbacks, books } = await overview();
  assert.deepEqual(
    (unfinished as { state: string; tasks: number; oldestMs: number }[]).map(({ state, tasks }) => [state, tasks]),
    [
      ['generating', 1],
      ['waiting', 1],
    ],
  );
  const failed = [{ failCode: 'timeout', tasks: 1 }];
  assert.deepEqual(lastDay, {
    created: 3,
    charged: 495,
    succeeded: 0,
    cancelled: 0,
    rejected: 0,
    failed,
    refunded: 165,
  });
  assert.deepEqual(callbacks, { pending: 1, overdue: 0, undelivered: 0 });
  const { auditedTime, violations, found } = books as {
    auditedTime: number | null;
    violations: number;
    found: { accountId: string; accountName: string }[];
  };
  assert.ok(auditedTime !== null);
  assert.equal(violations, found.length);
  assert.ok(found.some(({ accountId, accountName }) => accountId === two.accountId && accountName === 'test'));
});

test("401 with a client's key", async () => {
  const { key } = await service.newAccount(0);
  assert.equal((await askWith(service, key)('GET', '/api/admin/v1/overview')).status, 401);
});

test('200 cancelled tasks, and those whose prompt or reference media were rejected, do not count as failures', async () => {
  const earlier = (await overview())['lastDay'] as Readonly<Record<string, unknown>>;
  const { key } = await service.newAccount(1_000);
  const rejected = [
    'content_rejected',
    'image_invalid',
    'image_unreachable',
    'media_invalid',
    'media_unreachable',
  ] as const;
  for (const failCode of ['cancelled', ...rejected] as const) {
    const { json } = await service.create(key, plainRequest);
    await failAndRefund(service.database.db, String(json.data['taskId']), { failCode, failMsg: 'A test.' });
  }
  const succeeded = await service.create(key, plainRequest);
  await completeTask(service.database.db, String(succeeded.json.data['taskId']), madeUpResult);
  const { failed, ...later } = (await overview())['lastDay'] as Readonly<Record<string, unknown>>;
  const counted = [Number(earlier['cancelled']) + 1, Number(earlier['rejected']) + rejected.length, 1];
  assert.deepEqual([later['cancelled'], later['rejected'], later['succeeded']], counted);
  assert.deepEqual(failed, earlier['failed']);
});

test('200 what ended more than 24 hours ago is no part of the day', async () => {
  const { db } = service.database;
  const run = (name: string, text: string, values: readonly unknown[] = []) =>
    db.run({ name: `test-day-${name}`, text }, values);
  const earlier = await overview();
  const { accountId, key } = await service.newAccount(1_000);
  const { json } = await service.create(key, plainRequest);
  const taskId = String(json.data['taskId']);
  await failAndRefund(db, taskId, { failCode: 'timeout', failMsg: 'It took too long.' });
  await run('open', 'alter table tasks disable trigger final_tasks_never_change');
  const aged = `created_at = created_at - interval '25 hours', completed_at = completed_at - interval '25 hours'`;
  await run('age', `update tasks set ${aged} where id = $1`, [taskId]);
  await run('close', 'alter table tasks enable trigger final_tasks_never_change');
  const insert = `
insert into callback_deliveries (account_id, event, url, details, state, finished_at)
select $1, 'balance.low', 'http://events.test/' || hours, '{}', 'failed', now() - hours * interval '1 hour' from unnest(array[23, 25]) hours`;
  await run('callbacks', insert, [accountId]);
  const later = await overview();
  assert.deepEqual(later['lastDay'], earlier['lastDay']);
  const callbacks = earlier['callbacks'] as { readonly undelivered: number }; // the documented shape
  assert.deepEqual(later['callbacks'], { ...callbacks, undelivered: callbacks.undelivered + 1 });
});

test('callbacks count as pending until their end, as due from their time on, and as overdue after a minute', async (t) => {
  const database = await createTestDatabase();
  t.after(() => database.close());
  const { db } = database;
  const accountId = await createAccount(db, { name: 'receiver', credits: 0 });
  const insert = (state: string, seconds: number) =>
    db.run(
      {
        name: 'test-deliveries',
        text: `insert into callback_deliveries (account_id, event, url, details, state, due_at, finished_at)
          values ($1, 'balance.low', 'http://events.test/', '{}', $2, now() + $3 * interval '1 second', case when $2 <> 'pending' then now() end)`,
      },
      [accountId, state, seconds],
    );
  const none = { pending: 0, due: 0, overdue: 0, oldestDueMs: 0, undelivered: 0 };
  assert.deepEqual(await readCallbackBacklog(db), none);
  await insert('pending', 3_600);
  assert.deepEqual(await readCallbackBacklog(db), { ...none, pending: 1 });
  for (const [state, seconds] of [
    ['pending', -1],
    ['pending', -3_600],
    ['failed', -7_200],
    ['rejected', -7_200],
    ['delivered', -7_200],
  ] as const)
    await insert(state, seconds);
  const { oldestDueMs, ...counts } = await readCallbackBacklog(db);
  assert.deepEqual(counts, { pending: 3, due: 2, overdue: 1, undelivered: 2 });
  assert.ok(oldestDueMs >= 3_600_000 && oldestDueMs < 7_200_000);
});

test('the ends of the day are counted by fail code, the most frequent first, and unfinished tasks by model and state', async (t) => {
  const database = await createTestDatabase();
  t.after(() => database.close());
  const { db } = database;
  const accountId = await createAccount(db, { name: 'many', credits: 10_000 });
  const accept = () => acceptTestTask(db, accountId, taskParam('a test'));
  for (const failCode of ['internal', 'timeout', 'timeout'] as const)
    await failAndRefund(db, await accept(), { failCode, failMsg: 'A test.' });
  for (let tasks = 0; tasks < 3; tasks += 1) await completeTask(db, await accept(), madeUpResult);
  await accept();
  assert.deepEqual(await sumTasksEndedInDay(db), [
    { failCode: undefined, tasks: 3, refunded: 0 },
    { failCode: 'timeout', tasks: 2, refunded: 2 * 132 },
    { failCode: 'internal', tasks: 1, refunded: 132 },
  ]);
  assert.deepEqual(await sumTasksCreatedInDay(db), { created: 7, charged: 7 * 132 });
  const [unfinished, ...others] = await countUnfinishedTasks(db);
  assert.deepEqual(
    [unfinished?.model, unfinished?.state, unfinished?.tasks, others],
    ['videogen-2.0-fast', 'waiting', 1, []],
  );
});
