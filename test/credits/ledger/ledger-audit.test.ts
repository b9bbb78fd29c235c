import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { AuditKind } from '../../../src/credits/ledger/ledger-audit.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { auditLedger, listViolations, runAndRecordAudit } from '../../../src/credits/ledger/ledger-audit.ts';
import { setSpendCaps } from '../../../src/accounts/limits/spend-caps.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { readLastChecksAndFindings } from '../../../src/credits/last-checks-and-findings.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import {
  checkGuards,
  type LedgerRule,
  ledgerRules,
  type LedgerViolation,
} from '../../../src/credits/ledger/audit-rules.ts';
import { insertRow } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { runAsSuperuser } from '../../support/processes/run-as-superuser.ts';
import { accept, balance, type Books, plants, soundBooks, whileDamaged } from './damaged-books.ts';
import { rareAndSound, wrongAmounts } from './wrong-amounts.ts';

describe('the audit of the books', () => {
  let books: Books;
  before(async () => {
    books = await soundBooks();
  });
  after(() => books.close());

  test('finds nothing in sound books', async () => {
    assert.deepEqual([await auditLedger(books.db), await runAndRecordAudit(books.db, 'recent')], [[], []]);
  });

  for (const { what, statements } of rareAndSound) {
    test(`finds nothing in ${what}`, async () => {
      await whileDamaged(books, statements(books), async (db) => {
        assert.deepEqual([await auditLedger(db), await runAndRecordAudit(db, 'recent')], [[], []]);
      });
    });
  }

  for (const { rule, what, statements } of [...plants, ...wrongAmounts]) {
    test(`finds ${what}, by ${rule}, in a full audit and in one of what is recent`, async () => {
      await whileDamaged(books, statements(books), async (db) => {
        assertFound(await auditLedger(db), rule);
        assertFound(await runAndRecordAudit(db, 'recent'), rule);
      });
    });
  }

  test('finds each trigger, constraint and index that is gone', async () => {
    const gone: Readonly<Record<string, readonly string[]>> = {
      'alter table accounts drop constraint': ['accounts_balance_check', 'accounts_unfinished_tasks_check'],
      'alter table tasks drop constraint': ['failed_is_refunded'],
      'alter table ledger_entries drop constraint': [
        'only_reversals_overdraw',
        'top_up_fits_kind',
        'one_charge_one_refund',
        'sign_fits_kind',
        'task_fits_kind',
      ],
      'alter table tasks disable trigger': ['final_tasks_never_change', 'tasks_are_never_deleted'],
      'alter table ledger_entries disable trigger': ['ledger_is_append_only'],
      'alter table operator_actions disable trigger': ['operator_actions_are_append_only'],
      'drop index': ['ledger_by_idempotency_key'],
    };
    const statements = Object.entries(gone).flatMap(([what, names]) => names.map((name) => `${what} ${name}`));
    await whileDamaged(books, statements, async (db) => {
      const found = (await checkGuards(db)).map(({ rule, detail }) => `${rule}: ${detail}`);
      const names = Object.values(gone).flat();
      assert.deepEqual(
        found.toSorted(),
        names.map((name) => `books_are_guarded: ${name} is missing or disabled`).toSorted(),
      );
    });
  });

  test('every rule has a violation that proves it', () => {
    assert.deepEqual([...new Set(plants.map(({ rule }) => rule))].toSorted(), [...ledgerRules].toSorted());
  });
});

function assertFound(violations: readonly LedgerViolation[], rule: LedgerRule): void {
  assert.ok(
    violations.some((violation) => violation.rule === rule),
    `${rule} is among ${JSON.stringify(violations)}`,
  );
}

describe('the scheduled audits', () => {
  const oldTasks = 12_000;
  let database: TestDatabase;
  let accountId: string;
  before(async () => {
    database = await createTestDatabase();
    accountId = await createAccount(database.db, { name: 'large', credits: oldTasks });
    await runAsSuperuser(database, `update accounts set balance = 0`, insertOldTasks, insertOldEntries);
    await runAsSuperuser(database, `update ledger_entries set created_at = now() - interval '1 hour'`);
  });
  after(() => database.close());

  const insertOldTasks = `
    insert into tasks (id, account_id, model, price_name, param, state, credits_charged, result, request_sha256, deadline_ms, created_at, completed_at)
    select gen_random_uuid(), a.id, 'm', 'standard', '{}', 'success', 1, '{}', sha256(''), 1800000, t, t
    from accounts a, generate_series(1, ${oldTasks}) n, lateral (select now() - interval '1 hour' as t) at`;
  const insertOldEntries = `
    insert into ledger_entries (account_id, task_id, kind, amount, balance_after)
    select account_id, id, 'charge', -1, ${oldTasks} - row_number() over (order by id) from tasks order by id`;

  test('the first audit reads everything, later recent ones what is new, and those of the night everything again', async () => {
    assert.equal(await rowsRead('recent'), 3 * oldTasks + 1, 'the grant, and each task with its end and charge');
    assert.equal(await rowsRead('recent'), 0);
    const taskId = await acceptAfterGrant();
    assert.equal(await rowsRead('recent'), 3, 'the grant, the charge and the task');
    await failAndRefund(database.db, taskId, { failCode: 'internal', failMsg: 'x' });
    assert.equal(await rowsRead('recent'), 5, 'and the refund, and the end of the task');
    assert.equal(
      await rowsRead('full'),
      2 * oldTasks + 6,
      'the account, two grants, a refund, and each task with its charge',
    );
    assert.deepEqual(await auditLedger(database.db), []);
  });

  test('a violation among old rows is found at night, stays known, and is forgotten when it is corrected', async () => {
    const startedAt = Date.now();
    const rewrite = (sign: string) =>
      runAsSuperuser(database, `update ledger_entries set amount = amount ${sign} 1 where id = 11000`);
    await rewrite('-');
    assert.deepEqual(await runAndRecordAudit(database.db, 'recent'), []);
    const found = await runAndRecordAudit(database.db, 'full');
    assert.equal(found.length, 2, 'entry and task');
    assert.deepEqual(await runAndRecordAudit(database.db, 'recent'), found);
    assert.equal((await readLastChecksAndFindings(database.db)).violations, 2);
    await rewrite('+');
    assert.deepEqual(await runAndRecordAudit(database.db, 'recent'), []);
    const { violations, auditedAt, fullyAuditedAt } = await readLastChecksAndFindings(database.db);
    assert.equal(violations, 0);
    assert.ok(fullyAuditedAt >= startedAt && auditedAt > fullyAuditedAt);
  });

  test('a cap that counts wrongly is found at night, stays known, and is forgotten when it is corrected', async () => {
    const capped = await createAccount(database.db, { name: 'capped', credits: 0 });
    assert.ok(await setSpendCaps(database.db, capped, { kind: 'account', id: capped }, { total: 1_000 }));
    await runAsSuperuser(database, `update spend_caps set spent = 5`);
    assert.deepEqual(await runAndRecordAudit(database.db, 'recent'), []);
    const [found, ...others] = await runAndRecordAudit(database.db, 'full');
    assert.deepEqual([found?.accountId, others], [capped, []]);
    assert.match(found?.detail ?? '', /^total cap of account \S+: 5 spent, its tasks add up to 0$/);
    assert.deepEqual(await runAndRecordAudit(database.db, 'recent'), [found]);
    await runAsSuperuser(database, `update spend_caps set spent = 0`);
    assert.deepEqual(await runAndRecordAudit(database.db, 'recent'), []);
    assert.equal((await readLastChecksAndFindings(database.db)).violations, 0);
  });

  test('an audit that ends while another one finds a violation forgets nothing of that', async () => {
    const rewrite = (sign: string) =>
      runAsSuperuser(database, `update ledger_entries set amount = amount ${sign} 1 where id = 11000`);
    let found = 0;
    const run: Database['run'] = async (statement, values) => {
      if (statement.name === 'record-audit') {
        await rewrite('-');
        found = (await runAndRecordAudit(database.db, 'full')).length;
      }
      return database.db.run(statement, values);
    };
    await runAndRecordAudit({ ...database.db, run }, 'recent');
    assert.deepEqual([found, (await readLastChecksAndFindings(database.db)).violations], [2, 2]);
    await rewrite('+');
    assert.deepEqual(await runAndRecordAudit(database.db, 'recent'), []);
  });

  test('violations on both sides of the borders of pages are found, each once', async () => {
    const charges = await database.db.run<{ readonly id: number; readonly taskId: string }>({
      name: 'test-charges-at-borders',
      text: `
select id::float8 as id, task_id as "taskId" from (
  select *, row_number() over (order by id) as nth from ledger_entries where kind <> 'refund'
) numbered where kind = 'charge' and (nth <= 3 or abs(nth % 2000 - 1000) >= 997) order by id`,
      plannedAnew: true,
    });
    assert.ok(charges.length > 30);
    const ids = charges.map(({ id }) => id).join();
    const rewrite = (sign: string) =>
      runAsSuperuser(database, `update ledger_entries set amount = amount ${sign} 1 where id in (${ids})`);
    await rewrite('-');
    const found = await auditLedger(database.db);
    const expected = charges.flatMap(({ id, taskId }) => [
      `balance_after_is_running_sum ${id}`,
      `task_has_its_charge ${taskId}`,
    ]);
    const key = ({ rule, entryId, taskId }: LedgerViolation) => `${rule} ${entryId ?? taskId}`;
    assert.deepEqual(found.map(key).toSorted(), expected.toSorted());
    await rewrite('+');
  });

  test('wrong caps of more accounts than a page has are found, each once, at night and after a booking', async () => {
    const accounts: string[] = [];
    for (let number = 1; number <= 45; number += 1) {
      const id = await createAccount(database.db, { name: `capped ${number}`, credits: 1 });
      assert.ok(await setSpendCaps(database.db, id, { kind: 'account', id }, { total: 1_000 }));
      accounts.push(id);
    }
    const ids = accounts.map((id) => `'${id}'`).join();
    await runAsSuperuser(database, `update spend_caps set spent = 5 where account_id in (${ids})`);
    for (const found of [await runAndRecordAudit(database.db, 'recent'), await auditLedger(database.db)])
      assert.deepEqual(
        [found.length, new Set(found.map((one) => one.accountId))],
        [accounts.length, new Set(accounts)],
      );
    await runAsSuperuser(database, `update spend_caps set spent = 0`);
    assert.deepEqual(await runAndRecordAudit(database.db, 'recent'), []);
  });

  test('an audit of ruined books ends at 1,000 violations, with no further pages', async () => {
    const rewrite = (sign: string) =>
      runAsSuperuser(database, `update ledger_entries set amount = amount ${sign} 1 where kind = 'charge'`);
    await rewrite('-');
    const reads: number[] = [];
    assert.equal((await auditLedger(database.db, () => reads.push(1))).length, 1_000);
    assert.ok(reads.length < 12, `${reads.length} pages`);
    await rewrite('+');
  });

  async function acceptAfterGrant(): Promise<string> {
    await runAsSuperuser(
      database,
      balance(132),
      `insert into ledger_entries (account_id, kind, amount, balance_after) values ('${accountId}', 'grant', 132, 132)`,
    );
    return accept(database.db, accountId);
  }

  async function rowsRead(kind: AuditKind): Promise<number> {
    let read = 0;
    const run: Database['run'] = async (statement, values) => {
      const rows = await database.db.run(statement, values);
      if (/^(page-of|list-recent)/.test(statement.name)) read += rows.length;
      // The rows pass through as they are.
      return rows as never;
    };
    await runAndRecordAudit({ ...database.db, run }, kind);
    return read;
  }
});

test('violations are listed with the name of their account, the oldest first, and by rule of one time', async (t) => {
  const database = await createTestDatabase();
  t.after(() => database.close());
  const { db } = database;
  const [accountId, taskId] = [await createAccount(db, { name: 'wrong', credits: 0 }), randomUUID()];
  for (const violation of [
    { rule: 'b', account_id: accountId, entry_id: 7, detail: 'b is wrong', found_at: new Date(2_000) },
    { rule: 'a', account_id: accountId, task_id: taskId, detail: 'a is wrong', found_at: new Date(2_000) },
    { rule: 'c', detail: 'c is wrong', found_at: new Date(1_000) },
  ])
    await insertRow(db, 'ledger_violations', violation);
  const nothing = { accountId: undefined, accountName: undefined, entryId: undefined, taskId: undefined };
  const account = { ...nothing, accountId, accountName: 'wrong' };
  const expected = [
    { ...nothing, rule: 'c', detail: 'c is wrong', foundAt: 1_000 },
    { ...account, taskId, rule: 'a', detail: 'a is wrong', foundAt: 2_000 },
    { ...account, entryId: 7, rule: 'b', detail: 'b is wrong', foundAt: 2_000 },
  ];
  assert.deepEqual(await listViolations(db), expected);
  const many = `
insert into ledger_violations (rule, entry_id, detail, found_at)
select 'd', n, '', to_timestamp(3) from generate_series(1, 98) n`;
  await db.run({ name: 'test-many', text: many });
  const listed = await listViolations(db);
  assert.equal(listed.length, 100);
  assert.deepEqual(listed.slice(0, 3), expected);
});
