import { createAccount } from '../../src/credits/open-account.ts';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { v7 as uuidv7 } from 'uuid';
import { closeAccountAs } from '../../src/tasks/end/close-account-rows.ts';
import { findAccount } from '../../src/accounts/accounts.ts';
import {
  bookCredits,
  type LedgerEntry,
  readBalanceAndEntries,
} from '../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { createCodesAs, redeemCode } from '../../src/credits/ledger/redemption-codes.ts';
import { type AccountStatement, monthOf, readStatement } from '../../src/credits/reports/account-statement.ts';
import { statementCsv } from '../../src/credits/reports/statement-csv.ts';
import { acceptTaskAlone } from '../../src/tasks/accept/accept-one-task.ts';
import { deleteTaskContentInDatabase } from '../../src/tasks/end/content-deletion-rows.ts';
import { completeTask, failAndRefund } from '../../src/tasks/end/end-task-statements.ts';
import { findTask } from '../../src/tasks/task-rows.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/test-database.ts';
import { shell } from '../support/service/person.ts';
import { runs } from '../support/property.ts';
import { runAsSuperuser } from '../support/processes/run-as-superuser.ts';
import { listedTerms, madeUpResult, perSecond, requestOf, taskParam } from '../support/tasks/tasks.ts';

// Random ledgers over several months are made by the functions of the service; their times are then moved.

const models = ['model-a', 'model-b'] as const;
const prices = ['standard', 'large'] as const;
const event = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('charge' as const),
      model: fc.constantFrom(...models),
      price: fc.constantFrom(...prices),
      seconds: fc.constantFrom(4, 5),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('refund' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('grant' as const, 'code' as const), credits: fc.nat(900) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('adjustment' as const), credits: fc.integer({ min: -50, max: 50 }) }),
  },
);
type Event = typeof event extends fc.Arbitrary<infer Value> ? Value : never;
const hourMs = 3_600_000;
/** The time before an entry; or it is booked around the start of the next month. */
const gap = fc.oneof(
  fc.record({ ms: fc.nat(400 * hourMs) }),
  fc.record({ toMonth: fc.constantFrom(-1_500, -1, 0, 1, 1_500) }),
);
/** Statements that run at the same time may book in another order than that of their times. */
const jitter = fc.constantFrom(0, 0, -900, 900);
const history = fc.record({
  events: fc.array(event, { minLength: 1, maxLength: 25 }),
  times: fc.array(fc.record({ gap, jitter }), { minLength: 60, maxLength: 60 }),
  deletesContent: fc.boolean(),
  closes: fc.boolean(),
});

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

test('the statements of all months are the ledger, from one balance to the next', async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ events, times, deletesContent, closes }) => {
      const { db } = database;
      const accountId = await createAccount(db, { name: 'property', credits: 2_000 });
      const taskIds: string[] = [];
      for (const each of events) await perform(accountId, taskIds, each);
      if (deletesContent) for (const taskId of taskIds) await deleteContent(taskId);
      if (closes) await closeAccountAs(db, shell, { accountId, reason: 'a test' });
      await moveTimes(accountId, times);
      await assertStatements(accountId);
    }),
    runs(60),
  );
});

async function perform(accountId: string, taskIds: string[], each: Event): Promise<void> {
  const { db } = database;
  if (each.kind === 'charge') {
    const taskId = uuidv7();
    const param = { ...taskParam('property', { duration: each.seconds }), model: each.model };
    const listedPrices = [{ ...perSecond(33), name: each.price }];
    const answer = await acceptTaskAlone(db, { taskId, accountId, ...requestOf(param), ...listedTerms, listedPrices });
    if (answer.kind === 'accepted') taskIds.push(taskId);
  } else if (each.kind === 'refund') {
    const taskId = taskIds.at(-1);
    if (taskId !== undefined) await failAndRefund(db, taskId, { failCode: 'internal', failMsg: 'It failed.' });
  } else if (each.kind === 'code') {
    const made = await createCodesAs(db, shell, { name: 'spring', credits: each.credits + 1, codes: 1 });
    assert.equal((await redeemCode(db, accountId, made.codes[0] ?? '')).kind, 'redeemed');
  } else if (each.kind === 'grant') {
    await bookCredits(db, { accountId, kind: 'grant', amount: each.credits + 1, reason: '=SUM(A1), "for" you' });
  } else if (each.credits !== 0) {
    await bookCredits(db, { accountId, kind: 'adjustment', amount: each.credits, reason: 'a correction' });
  }
}

async function deleteContent(taskId: string): Promise<void> {
  await completeTask(database.db, taskId, madeUpResult);
  const task = await findTask(database.db, taskId);
  assert.ok(task);
  assert.ok(await deleteTaskContentInDatabase(database.db, task, []));
}

type Time = { readonly gap: { readonly ms?: number; readonly toMonth?: number }; readonly jitter: number };

async function moveTimes(accountId: string, times: readonly Time[]): Promise<void> {
  const entries = await ledgerOf(accountId);
  let atMs = Date.UTC(2026, 0, 15);
  const moved = entries.map(({ entryId }, index) => {
    const { gap: passed, jitter: shift } = times[index] ?? assert.fail('more entries than times');
    const at = new Date(atMs);
    atMs =
      passed.toMonth === undefined
        ? atMs + (passed.ms ?? 0)
        : Math.max(atMs, Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1) + passed.toMonth);
    return `update ledger_entries set created_at = to_timestamp(${(atMs + shift) / 1_000}) where id = ${entryId}`;
  });
  const follow = `update tasks set created_at = entry.created_at from ledger_entries entry
    where entry.task_id = tasks.id and entry.kind = 'charge' and tasks.account_id = '${accountId}'`;
  await runAsSuperuser(database, ...moved, follow);
}

async function ledgerOf(accountId: string): Promise<readonly LedgerEntry[]> {
  return (await readBalanceAndEntries(database.db, { accountId, limit: 1_000 })).entries.toReversed();
}

async function assertStatements(accountId: string): Promise<void> {
  const entries = await ledgerOf(accountId);
  const lastMs = Math.max(...entries.map(({ createdAt }) => createdAt));
  let previous: AccountStatement | undefined;
  for (let index = 0; ; index += 1) {
    const month = monthOf(new Date(Date.UTC(2025, 11 + index)).toISOString().slice(0, 7)) ?? assert.fail();
    const statement = await readStatement(database.db, { accountId, ...month });
    const inMonth = entries.filter(({ createdAt }) => createdAt >= month.fromMs && createdAt < month.toMs);
    assert.equal(statement.opening, sumOf(entries.filter(({ createdAt }) => createdAt < month.fromMs)));
    assert.equal(statement.opening, previous?.closing ?? 0);
    assert.equal(statement.closing - statement.opening, sumOf(inMonth));
    assert.deepEqual(figuresOf(statement), await figuresOnPaper(inMonth));
    assertCsv(statement);
    previous = statement;
    if (month.fromMs > lastMs) break;
  }
  assert.equal(previous.closing, (await findAccount(database.db, accountId))?.balance);
}

function sumOf(entries: readonly LedgerEntry[]): number {
  return entries.reduce((sum, { amount }) => sum + amount, 0);
}

type Figures = Readonly<Record<string, readonly [entries: number, credits: number]>>;

function figuresOf({ lines }: AccountStatement): Figures {
  return added(lines.map((line) => [[line.section, line.model, line.priceName].join(' '), line.entries, line.credits]));
}

async function figuresOnPaper(entries: readonly LedgerEntry[]): Promise<Figures> {
  const figures = entries.map(async ({ kind, taskId, priceName, amount, reason }) => {
    const model = taskId === undefined ? undefined : (await findTask(database.db, taskId))?.param.model;
    const section = reason === 'Code of spring' ? 'code' : kind;
    return [[section, model, priceName].join(' '), 1, amount] as const;
  });
  return added(await Promise.all(figures));
}

function added(all: readonly (readonly [name: string, entries: number, credits: number])[]): Figures {
  const sums = new Map<string, readonly [number, number]>();
  for (const [name, entries, credits] of all) {
    const [counted, sum] = sums.get(name) ?? [0, 0];
    sums.set(name, [counted + entries, sum + credits]);
  }
  return Object.fromEntries([...sums].toSorted(([a], [b]) => a.localeCompare(b)));
}

/** The text of a reason has commas and quotes, so credits are the column after the count from the left. */
function assertCsv(statement: AccountStatement): void {
  const [, ...rows] = statementCsv(statement).trimEnd().split('\r\n');
  const credits = rows.map((row) => Number(row.split(',')[6]));
  assert.equal(
    credits.slice(0, -1).reduce((sum, one) => sum + one, 0),
    credits.at(-1),
  );
  assert.equal(rows.length, statement.lines.length + 2);
}
