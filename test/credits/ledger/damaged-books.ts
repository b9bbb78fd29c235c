import assert from 'node:assert/strict';
import { createAccount } from '../../../src/credits/open-account.ts';
import { createKeyWithinAllLimits } from '../../../src/accounts/keys/keys.ts';
import { createCodesAs, redeemCode } from '../../../src/credits/ledger/redemption-codes.ts';
import { setSpendCaps } from '../../../src/accounts/limits/spend-caps.ts';
import { setMembership } from '../../../src/accounts/people/memberships.ts';
import { createUser } from '../../../src/accounts/people/users.ts';
import type { CreatorKeyOrPerson } from '../../../src/tasks/accept/acceptance-contract.ts';
import { type Database, databaseJoiningTransaction } from '../../../src/platform/database/database.ts';
import { completeTask, failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import type { LedgerRule } from '../../../src/credits/ledger/audit-rules.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { shell } from '../../support/service/person.ts';
import { acceptTestTask, madeUpResult, taskParam } from '../../support/tasks/tasks.ts';

export type Books = TestDatabase & {
  readonly accountId: string;
  readonly live: string;
  readonly done: string;
  readonly failed: string;
};

/**
 * Sound books: one account, one task of each kind of end, 1,000 credits of which 264 are spent. Half of the credits come from a code,
 * and caps count a task of a key and one of a member.
 */
export async function soundBooks(): Promise<Books> {
  const database = await createTestDatabase();
  const { db } = database;
  const accountId = await createAccount(db, { name: 'audited', credits: 500 });
  const { codes } = await createCodesAs(db, shell, { name: 'spring', credits: 500, codes: 2 });
  await redeemCode(db, accountId, codes[0] ?? '');
  const key = await createKeyWithinAllLimits(db, {
    accountId,
    name: 'a',
    scopes: ['tasks:write'],
    caps: { total: 1_000 },
  });
  assert.ok(key.kind === 'made');
  const { keyId } = key.apiKey;
  const { userId } = await createUser(db, { email: 'ada@example.com', isOperator: false, passwordHash: undefined });
  await setMembership(db, accountId, userId, 'member');
  await setSpendCaps(db, accountId, { kind: 'member', id: userId }, { total: 1_000 });
  await setSpendCaps(db, accountId, { kind: 'account', id: accountId }, { day: 1_000, total: 1_000 });
  const live = await accept(db, accountId, { kind: 'key', keyId });
  const done = await accept(db, accountId, { kind: 'person', userId });
  const failed = await accept(db, accountId, { kind: 'key', keyId });
  await completeTask(db, done, madeUpResult);
  await failAndRefund(db, failed, { failCode: 'internal', failMsg: 'It failed.' });
  return { ...database, accountId, live, done, failed };
}

/**
 * Applies the statements as the superuser, with every trigger and foreign key out of force, in a transaction that is rolled back after
 * `use`: a database per violation would take a second each.
 */
export async function whileDamaged(
  { db }: Books,
  statements: readonly string[],
  use: (damaged: Database) => Promise<void>,
): Promise<void> {
  const rollback = new Error('rolls back');
  const work = async (run: Database['run']) => {
    for (const text of ['set local session_replication_role = replica', ...statements])
      await run({ name: 'damage', text, plannedAnew: true });
    await use(databaseJoiningTransaction({ run }));
    throw rollback;
  };
  await assert.rejects(db.transaction(work), rollback);
}

export function accept(db: Database, accountId: string, by?: CreatorKeyOrPerson): Promise<string> {
  return acceptTestTask(db, accountId, taskParam('audited'), by);
}

export type Plant = {
  readonly rule: LedgerRule;
  readonly what: string;
  readonly statements: (books: Books) => readonly string[];
};

export const entry = (books: Books, taskId: string, kind: string, amount: number) =>
  `insert into ledger_entries (account_id, task_id, kind, amount, balance_after)
   values ('${books.accountId}', '${taskId}', '${kind}', ${amount}, 736 + ${amount})`;
/** Declares the terms of a model whose shortfalls are refunded, at the price that was charged. */
export const refunding = `shortfall = '{"policy": "refund", "prices": [{"name": "standard", "creditsPerSecond": 33, "creditsPerVideo": 0, "fromMs": 0}]}'`;
/** A paid purchase of 50 credits, with a grant of `granted`. */
export const topUp = ({ accountId, live }: Books, granted: number) => [
  `insert into top_ups (id, account_id, provider, is_test, package, credits, currency, minor_units, state, settled_by, paid_at)
   values ('${live}', '${accountId}', 'stripe', true, 'starter', 50, 'EUR', 500, 'paid', 'event', now())`,
  `insert into ledger_entries (account_id, top_up_id, kind, amount, balance_after)
   values ('${accountId}', '${live}', 'grant', ${granted}, 736 + ${granted})`,
  balance(736 + granted),
];
export const balance = (value: number | string) => `update accounts set balance = ${value}`;

export const plants: readonly Plant[] = [
  {
    rule: 'balance_is_that_of_last_entry',
    what: 'a credit out of nowhere',
    statements: () => [balance('balance + 1')],
  },
  {
    rule: 'balance_is_that_of_last_entry',
    what: 'a missing latest entry',
    statements: () => ['delete from ledger_entries where id = (select max(id) from ledger_entries)'],
  },
  {
    rule: 'balance_after_is_running_sum',
    what: 'an entry rewritten',
    statements: ({ done }) => [`update ledger_entries set amount = amount + 1 where task_id = '${done}'`],
  },
  {
    rule: 'balance_after_is_running_sum',
    what: 'a missing entry in the middle',
    statements: ({ done }) => [`delete from ledger_entries where task_id = '${done}'`],
  },
  {
    rule: 'only_reversals_overdraw',
    what: 'a balance below zero, with an entry to match',
    statements: ({ accountId }) => [
      'alter table ledger_entries drop constraint only_reversals_overdraw',
      `insert into ledger_entries (account_id, kind, amount, balance_after) values ('${accountId}', 'adjustment', -741, -5)`,
      balance(-5),
    ],
  },
  {
    rule: 'entry_belongs_to_its_top_up',
    what: 'a grant of more credits than were bought',
    statements: (books) => [...topUp(books, 51)],
  },
  {
    rule: 'entry_belongs_to_its_top_up',
    what: 'a grant for a purchase that is not paid',
    statements: (books) => [
      ...topUp(books, 50),
      `update top_ups set state = 'open', paid_at = null, settled_by = null`,
    ],
  },
  {
    rule: 'paid_top_up_is_granted',
    what: 'a payment without its grant',
    statements: (books) => topUp(books, 50).slice(0, 1),
  },
  {
    rule: 'top_up_is_reversed_in_proportion',
    what: 'half of a payment returned, with all of its credits',
    statements: (books) => [
      ...topUp(books, 50),
      `insert into top_up_reversals (top_up_id, reference, kind, minor_units, is_taken, is_final)
       select id, 're_1', 'refund', 250, true, true from top_ups`,
    ],
  },
  {
    rule: 'unfinished_count_is_true',
    what: 'a count that is never decremented',
    statements: () => ['update accounts set unfinished_tasks = 2'],
  },
  {
    rule: 'entry_belongs_to_its_task',
    what: 'a charge without a task',
    statements: ({ live }) => [`delete from tasks where id = '${live}'`],
  },
  {
    rule: 'entry_belongs_to_its_task',
    what: 'a charge that adds credits',
    statements: ({ live }) => [
      'alter table ledger_entries drop constraint sign_fits_kind',
      `update ledger_entries set amount = -amount where task_id = '${live}'`,
    ],
  },
  {
    rule: 'task_has_its_charge',
    what: 'a task that was never charged',
    statements: ({ live }) => [`delete from ledger_entries where task_id = '${live}'`],
  },
  {
    rule: 'task_has_its_charge',
    what: 'a second charge',
    statements: (books) => [
      'alter table ledger_entries drop constraint one_charge_one_refund',
      entry(books, books.done, 'charge', -132),
      balance(604),
    ],
  },
  {
    rule: 'failed_task_is_refunded_in_full',
    what: 'a missing refund with its credits',
    statements: ({ failed }) => [
      `delete from ledger_entries where task_id = '${failed}' and kind = 'refund'`,
      balance(604),
    ],
  },
  {
    rule: 'failed_task_is_refunded_in_full',
    what: 'a second refund',
    statements: (books) => [
      'alter table ledger_entries drop constraint one_charge_one_refund',
      entry(books, books.failed, 'refund', 132),
      balance(868),
    ],
  },
  {
    rule: 'failed_task_is_refunded_in_full',
    what: 'a task that failed without a refund',
    statements: ({ live }) => [
      'alter table tasks drop constraint failed_is_refunded',
      `update tasks set state = 'fail', fail_code = 'internal', fail_msg = 'x', completed_at = now() where id = '${live}'`,
      'update accounts set unfinished_tasks = 0',
    ],
  },
  {
    rule: 'only_failed_tasks_are_refunded',
    what: 'a refund of a task that succeeded',
    statements: (books) => [entry(books, books.done, 'refund', 132), balance(868)],
  },
  {
    rule: 'partial_refund_is_price_difference',
    what: 'a partial refund that its task does not have',
    statements: (books) => [entry(books, books.done, 'partial_refund', 33), balance(769)],
  },
  {
    rule: 'partial_refund_is_price_difference',
    what: 'a partial refund without its entry',
    statements: ({ done }) => [`update tasks set credits_refunded = 33, ${refunding} where id = '${done}'`],
  },
  {
    rule: 'partial_refund_is_price_difference',
    what: 'a short video without a partial refund',
    statements: ({ done }) => [
      `update tasks set ${refunding}, result = (result::jsonb || '{"durationSeconds": 2}')::json where id = '${done}'`,
    ],
  },
  {
    rule: 'partial_refund_is_price_difference',
    what: 'a partial refund of another amount than the difference',
    statements: (books) => [
      `update tasks set credits_refunded = 33, ${refunding} where id = '${books.done}'`,
      entry(books, books.done, 'partial_refund', 33),
      balance(769),
    ],
  },
  {
    rule: 'code_is_granted_once',
    what: 'a redeemed code without its grant',
    statements: () => [`update ledger_entries set idempotency_key = null where idempotency_key like 'code %'`],
  },
  {
    rule: 'code_is_granted_once',
    what: 'a grant of more than its code',
    statements: () => ['update code_batches set credits = 499'],
  },
  {
    rule: 'code_is_granted_once',
    what: 'a code granted twice',
    statements: ({ accountId }) => [
      'drop index ledger_by_idempotency_key',
      `insert into ledger_entries (account_id, kind, amount, balance_after, reason, idempotency_key)
       select account_id, kind, amount, 736 + amount, reason, idempotency_key from ledger_entries where idempotency_key like 'code %'`,
      `update accounts set balance = balance + 500 where id = '${accountId}'`,
    ],
  },
  {
    rule: 'code_is_granted_once',
    what: 'a grant for a code that is not redeemed',
    statements: () => ['update redemption_codes set redeemed_by = null, redeemed_at = null'],
  },
  {
    rule: 'code_is_granted_once',
    what: 'a code that another account has redeemed',
    statements: () => ['update redemption_codes set redeemed_by = gen_random_uuid() where redeemed_by is not null'],
  },
  ...(['account', 'member', 'key'] as const).map((kind) => ({
    rule: 'cap_counts_what_was_spent' as const,
    what: `a cap of the ${kind} that counts a credit less than was spent`,
    statements: () => [`update spend_caps set spent = spent - 1 where subject_kind = '${kind}'`],
  })),
  {
    rule: 'cap_counts_what_was_spent',
    what: 'a refund that did not restore its cap',
    statements: () => [`update spend_caps set spent = spent + 132 where period = 'day'`],
  },
  {
    rule: 'caps_are_enforced',
    what: 'an account whose caps are out of force',
    statements: () => ['update accounts set capped = false'],
  },
  {
    rule: 'books_are_guarded',
    what: 'a unique index dropped',
    statements: () => ['drop index ledger_by_idempotency_key'],
  },
  {
    rule: 'books_are_guarded',
    what: 'a trigger switched off',
    statements: () => ['alter table ledger_entries disable trigger ledger_is_append_only'],
  },
  {
    rule: 'books_are_guarded',
    what: 'a constraint dropped',
    statements: () => ['alter table ledger_entries drop constraint one_charge_one_refund'],
  },
];
