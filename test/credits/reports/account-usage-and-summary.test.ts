import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import {
  listKeyUses,
  listUsageByDayAndPrice,
  summarizeAccount,
} from '../../../src/credits/reports/account-usage-and-summary.ts';
import type { StatementRunner } from '../../../src/platform/database/declare-statements.ts';
import { ago, failedAgo, insertRow, insertTask, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
let accountId: string;
let otherAccountId: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'uses', credits: 0 });
  otherAccountId = await createAccount(database.db, { name: 'others', credits: 0 });
});
after(() => database.close());

const dayMs = 86_400_000;
const [fromMs, toMs] = [Date.parse('2026-01-05T00:00:00Z'), Date.parse('2026-01-07T00:00:00Z')];
type Row = Readonly<Record<string, unknown>>;
const newTask = (db: StatementRunner, row: Row = {}, of = accountId) => insertTask(db, of, row);
const at = (ms: number) => ({ created_at: new Date(ms) });

test('a day has the charges of its tasks, by model and price, and the refunds, grants and adjustments booked in it', () =>
  rolledBack(database.db, async (db) => {
    for (const [ms, row] of [
      [fromMs, {}],
      [fromMs + dayMs - 1, { credits_charged: 7 }],
      [fromMs + dayMs, {}],
      [fromMs, { price_name: 'another' }],
      [fromMs, { model: 'a model' }],
      [fromMs - 1, {}],
      [toMs, {}],
    ] as const)
      await newTask(db, { ...at(ms), ...row });
    await newTask(db, at(fromMs), otherAccountId);
    const book = async (kind: string, amount: number, ms: number, of = accountId) => {
      const isRefund = kind.endsWith('refund');
      const taskId = isRefund ? await newTask(db, { ...at(fromMs - dayMs), model: 'refunded' }, of) : null;
      const entry = { account_id: of, task_id: taskId, kind, amount, balance_after: 0, ...at(ms) };
      await insertRow(db, 'ledger_entries', entry);
    };
    for (const [kind, amount] of [
      ['refund', 5],
      ['partial_refund', 3],
      ['grant', 100],
    ] as const) {
      for (const ms of [fromMs, toMs - 1]) await book(kind, amount, ms);
      for (const ms of [fromMs - 1, toMs]) await book(kind, amount, ms);
      await book(kind, amount, fromMs, otherAccountId);
    }
    await insertRow(db, 'ledger_entries', {
      account_id: accountId,
      kind: 'adjustment',
      amount: 8,
      balance_after: 0,
      ...at(fromMs),
    });
    const [first, second] = ['2026-01-05', '2026-01-06'];
    const day = { model: 'm', priceName: 'standard', charged: 0, refunded: 0, granted: 0, tasks: 0 };
    const noModel = { model: undefined, priceName: undefined };
    assert.deepEqual(await listUsageByDayAndPrice(db, { accountId, fromMs, toMs }), [
      { ...day, day: first, model: 'a model', charged: 132, tasks: 1 },
      { ...day, day: first, priceName: 'another', charged: 132, tasks: 1 },
      { ...day, day: first, charged: 139, tasks: 2 },
      { ...day, day: first, model: 'refunded', refunded: 8 },
      { ...day, day: first, ...noModel, granted: 108 },
      { ...day, day: second, charged: 132, tasks: 1 },
      { ...day, day: second, model: 'refunded', refunded: 8 },
      { ...day, day: second, ...noModel, granted: 100 },
    ]);
  }));

test('a key has the tasks of the last thirty days, and what they cost in the end', () =>
  rolledBack(database.db, async (db) => {
    const [key, old, foreign] = [randomUUID(), randomUUID(), randomUUID()];
    const limit = 30 * dayMs;
    await newTask(db, { key_id: key, created_at: ago(limit - 1) });
    await newTask(db, { key_id: key, ...failedAgo(0) });
    await newTask(db, { key_id: key, created_at: ago(limit) });
    await newTask(db, { key_id: old, created_at: ago(limit) });
    await newTask(db);
    await newTask(db, { key_id: foreign }, otherAccountId);
    assert.deepEqual(await listKeyUses(db, accountId), [{ keyId: key, tasks: 2, credits: 132 }]);
  }));

test('a summary counts the tasks of its account by state, ended ones of the last week, and what it has', () =>
  rolledBack(database.db, async (db) => {
    const success = { state: 'success', result: '{}', completed_at: ago(0) };
    const empty = { waiting: 0, queuing: 0, generating: 0, success: 0, fail: 0, violations: 0, auditedAt: undefined };
    const nothing = { hasKey: false, hasTask: false, hasCallback: false };
    const fresh = { balance: 0, ...empty, ...nothing };
    assert.deepEqual(await summarizeAccount(db, accountId), fresh);
    const old = { created_at: ago(7 * dayMs) };
    const week = { created_at: ago(7 * dayMs - 1) };
    for (const [count, row] of [
      [1, old],
      [2, { ...old, state: 'queuing' }],
      [3, { ...old, state: 'generating' }],
      [4, { ...week, ...success }],
      [5, { ...week, ...failedAgo(0) }],
      [1, { ...old, ...success }],
      [1, { ...old, ...failedAgo(0) }],
    ] as const)
      for (let tasks = 0; tasks < count; tasks += 1) await newTask(db, row);
    const run = (text: string, values: readonly unknown[] = []) =>
      db.run({ name: 'test-summary', text, plannedAnew: true }, values);
    await run('update accounts set balance = 9 where id = $1', [accountId]);
    await run('update maintenance set audited_at = to_timestamp(7)');
    for (const entry of [1, 2])
      await insertRow(db, 'ledger_violations', { rule: 'a', account_id: accountId, entry_id: entry, detail: 'b' });
    const counts = { waiting: 1, queuing: 2, generating: 3, success: 4, fail: 5, violations: 2, auditedAt: 7_000 };
    const account = { balance: 9, ...counts, ...nothing, hasTask: true };
    assert.deepEqual(await summarizeAccount(db, accountId), account);
    const event = { account_id: accountId, url: 'http://events.test/', event: 'balance.low', details: '{}' };
    await insertRow(db, 'callback_deliveries', event);
    assert.deepEqual(await summarizeAccount(db, accountId), account, 'an event is no callback');
    const taskId = await newTask(db, { state: 'queuing' });
    await insertRow(db, 'callback_deliveries', { id: taskId, task_id: taskId, account_id: accountId, url: event.url });
    await createKeyUnchecked(db, { accountId, name: 'a', scopes: [] });
    const has = { hasKey: true, hasTask: true, hasCallback: true };
    assert.deepEqual(await summarizeAccount(db, accountId), { ...account, queuing: 3, ...has });
    assert.deepEqual(await summarizeAccount(db, otherAccountId), { ...fresh, auditedAt: 7_000 });
  }));
