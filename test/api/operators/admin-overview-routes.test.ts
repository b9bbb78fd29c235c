import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createAccount } from '../../../src/credits/open-account.ts';
import { ago, failedAgo, insertRow, insertTask } from '../../support/database/rolled-back.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { createTestOperator, dataOf, type TestOperator } from '../../support/service/operator-key.ts';

let service: HttpService;
let operator: TestOperator;
before(async () => {
  service = await startHttpService();
  operator = await createTestOperator(service);
});
after(() => service.close());

const overview = () => dataOf(operator.ask('GET', '/api/admin/v1/overview'));

test('200 an overview has each figure under its documented name', async () => {
  const empty = await overview();
  const { db } = service.database;
  const none = { created: 0, charged: 0, succeeded: 0, cancelled: 0, rejected: 0, failed: [], refunded: 0 };
  assert.deepEqual(empty, {
    unfinished: [],
    stuckTasks: 0,
    lastDay: none,
    callbacks: { pending: 0, overdue: 0, undelivered: 0 },
    books: { auditedTime: null, violations: 0, found: [] },
    providers: empty['providers'],
  });
  const accountId = await createAccount(db, { name: 'Northlight', credits: 0 });
  const dayAndHour = 90_000_000;
  const old = { created_at: ago(dayAndHour) };
  const hour = 3_600_000;
  await insertTask(db, accountId, { model: 'm1', state: 'generating', created_at: ago(2 * hour) });
  await insertTask(db, accountId, { model: 'm1', state: 'generating', stuck_since: ago(0) });
  await insertTask(db, accountId, { model: 'm2', ...old });
  await insertTask(db, accountId, { ...failedAgo(dayAndHour), ...old });
  for (const [failCode, times] of [
    ['cancelled', 3],
    ['content_rejected', 1],
    ['image_invalid', 4],
    ['timeout', 2],
    ['internal', 5],
  ] as const)
    for (let time = 0; time < times; time += 1) await insertTask(db, accountId, failedAgo(hour, failCode));
  const video = { result: '{"videoKey":"v","posterKey":"p"}', state: 'success', completed_at: ago(hour) };
  for (let time = 0; time < 6; time += 1) await insertTask(db, accountId, video);
  const delivery = { account_id: accountId, event: 'balance.low', details: '{}', url: 'http://events.test/' };
  for (const [state, dueMs, times] of [
    ['pending', -hour, 2],
    ['pending', 120_000, 1],
    ['failed', 0, 3],
    ['rejected', 0, 1],
  ] as const)
    for (let time = 0; time < times; time += 1)
      await insertRow(db, 'callback_deliveries', {
        ...delivery,
        state,
        due_at: ago(dueMs),
        ...(state !== 'pending' && { finished_at: ago(0) }),
      });
  const [taskId, unknownAccount] = [randomUUID(), randomUUID()];
  const violation = { rule: 'rule-1', account_id: accountId, entry_id: 7, task_id: taskId, detail: 'detail 1' };
  await insertRow(db, 'ledger_violations', { ...violation, found_at: new Date(6_000) });
  const plain = { rule: 'rule-2', account_id: unknownAccount, detail: 'detail 2', found_at: new Date(5_000) };
  await insertRow(db, 'ledger_violations', plain);
  await db.run({ name: 'test-audited', text: 'update maintenance set audited_at = to_timestamp(4)' });
  const { unfinished, providers, ...others } = await overview();
  const shown = unfinished as { readonly oldestMs: number }[]; // the documented shape
  assert.deepEqual(
    shown.map(({ oldestMs, ...row }) => [row, Math.floor(oldestMs / hour)]),
    [
      [{ model: 'm1', state: 'generating', tasks: 2 }, 2],
      [{ model: 'm2', state: 'waiting', tasks: 1 }, 25],
    ],
  );
  assert.deepEqual(providers, (await dataOf(operator.ask('GET', '/api/admin/v1/providers')))['providers']);
  const noOne = { accountName: null, entryId: null, taskId: null };
  const ofNoOne = { rule: 'rule-2', accountId: unknownAccount, detail: 'detail 2', foundTime: 5_000 };
  const ofAccount = { rule: 'rule-1', accountId, accountName: 'Northlight', entryId: 7, taskId, detail: 'detail 1' };
  const found = [
    { ...ofNoOne, ...noOne },
    { ...ofAccount, foundTime: 6_000 },
  ];
  const counts = new Map([
    ['timeout', 2],
    ['internal', 5],
  ]);
  const { failed, ...day } = others['lastDay'] as { readonly failed: { failCode: string; tasks: number }[] };
  assert.deepEqual(new Map(failed.map(({ failCode, tasks }) => [failCode, tasks])), counts);
  assert.deepEqual([failed.length, Object.keys(failed[0] ?? {})], [2, ['failCode', 'tasks']]);
  const created = 2 + 15 + 6;
  const ended = { succeeded: 6, cancelled: 3, rejected: 5, refunded: 15 * 132 };
  assert.deepEqual(day, { created, charged: created * 132, ...ended });
  assert.deepEqual(others, {
    stuckTasks: 1,
    lastDay: others['lastDay'],
    callbacks: { pending: 3, overdue: 1, undelivered: 4 },
    books: { auditedTime: 4_000, violations: 2, found },
  });
});
