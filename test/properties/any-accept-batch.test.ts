import { createAccount } from '../../src/credits/open-account.ts';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { v7 as uuidv7 } from 'uuid';
import { acceptBatch } from '../../src/tasks/accept/accept-statement.ts';
import { acceptTaskAlone } from '../../src/tasks/accept/accept-one-task.ts';
import type { CreateOutcome, NewTask } from '../../src/tasks/accept/acceptance-contract.ts';
import { findAccount } from '../../src/accounts/accounts.ts';
import { createKeyUnchecked, revokeApiKey } from '../../src/accounts/keys/keys.ts';
import { auditLedger } from '../../src/credits/ledger/ledger-audit.ts';
import { readBalanceAndEntries } from '../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { createTaskAcceptor } from '../../src/tasks/accept/accept-in-batches.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/test-database.ts';
import { insertBackdatedPrice } from '../support/tasks/backdated-price.ts';
import { runs } from '../support/property.ts';
import { listedTerms, taskParam, requestOf } from '../support/tasks/tasks.ts';

/** So slow that nothing comes back while a test runs. */
const windowMs = 3_600_000;
const model = taskParam('').model;

const wealth = fc.record({
  credits: fc.integer({ min: 1, max: 2_000 }),
  room: fc.integer({ min: 0, max: 12 }),
  quota: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
  /** The account's own price; the list price by default. */
  price: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
  isSuspended: fc.constantFrom(false, false, false, true),
});
const order = fc.record({
  account: fc.nat({ max: 2 }),
  duration: fc.integer({ min: 4, max: 15 }),
  idempotencyKey: fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined, freq: 2 }),
  hasDeadKey: fc.constantFrom(false, false, false, false, true),
  /** The same task again as that of an earlier order, as after a lost answer. */
  repeats: fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.nat({ max: 27 }) }),
});
type Wealth = typeof wealth extends fc.Arbitrary<infer T> ? T : never;
type Order = typeof order extends fc.Arbitrary<infer T> ? T : never;
const accounts = fc.tuple(wealth, wealth, wealth);
const orders = (maxLength: number) => fc.array(order, { minLength: 1, maxLength });

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(async () => {
  const violations = await auditLedger(database.db);
  await database.close();
  assert.deepEqual(violations, []);
});

type Opened = Wealth & { readonly accountId: string; readonly liveKey: string; readonly deadKey: string };

const settle = {
  name: 'test-settle-account',
  text: `update accounts set max_unfinished_tasks = $2, create_quota = $3, create_window_ms = $4,
    suspended_at = case when $5 then now() end where id = $1`,
};

async function open(drawn: Wealth): Promise<Opened> {
  const { db } = database;
  const { credits, room, quota, price, isSuspended } = drawn;
  const accountId = await createAccount(db, { name: 'batch', credits });
  await db.run(settle, [accountId, room, quota, quota && windowMs, isSuspended]);
  if (price !== undefined) await insertBackdatedPrice(db, { model, accountId, creditsPerSecond: price, fromMs: 0 });
  const [live, dead] = [await newKey(accountId), await newKey(accountId)];
  await revokeApiKey(db, dead);
  return { ...drawn, accountId, liveKey: live, deadKey: dead };
}

async function newKey(accountId: string): Promise<string> {
  const created = await createKeyUnchecked(database.db, { accountId, name: 'a', scopes: ['tasks:write'] });
  assert.ok(created);
  return created.keyId;
}

function tasksOf(opened: readonly Opened[], drawn: readonly Order[]): readonly NewTask[] {
  const ids = drawn.map(() => uuidv7());
  return drawn.map(({ account, duration, idempotencyKey, hasDeadKey, repeats }, index) => {
    const twin = repeats !== undefined && repeats < index && drawn[repeats]?.account === account ? repeats : index;
    const owner = opened[account];
    assert.ok(owner);
    const keyId = hasDeadKey ? owner.deadKey : owner.liveKey;
    const taskId = ids[twin] ?? '';
    return {
      taskId,
      accountId: owner.accountId,
      by: { kind: 'key', keyId },
      ...requestOf(taskParam('p', { duration })),
      ...listedTerms,
      idempotencyKey,
    };
  });
}

function keyOf({ by }: NewTask): string | undefined {
  return by?.kind === 'key' ? by.keyId : undefined;
}

function priceOf(opened: readonly Opened[], { accountId, param }: NewTask): number {
  return param.input.duration * (opened.find((one) => one.accountId === accountId)?.price ?? 33);
}

/** Decides a batch as a clerk would: down the list, account by account, until something does not fit. */
function onPaper(
  opened: readonly Opened[],
  earlier: readonly NewTask[],
  requested: readonly NewTask[],
): readonly boolean[] {
  const books = new Map(opened.map((one) => [one.accountId, { ...one, quota: one.quota ?? Infinity, isOver: false }]));
  const known = new Set<string>();
  const namesOf = ({ taskId, accountId, idempotencyKey }: NewTask) =>
    idempotencyKey === undefined ? [taskId] : [taskId, `${accountId} ${idempotencyKey}`];
  const book = (task: NewTask): boolean => {
    const account = books.get(task.accountId);
    assert.ok(account);
    const price = priceOf(opened, task);
    account.isOver ||= price > account.credits || account.room < 1 || account.quota < 1;
    if (account.isOver) return false;
    account.credits -= price;
    account.room -= 1;
    account.quota -= 1;
    return true;
  };
  for (const task of earlier) {
    for (const name of namesOf(task)) known.add(name);
    book(task);
  }
  const inBatch = new Set<string>();
  return requested.map((task) => {
    const account = books.get(task.accountId);
    const names = namesOf(task);
    // A batch leaves out what shares a name with another of its tasks, also with one that is refused.
    const isRepeated = names.some((name) => inBatch.has(name));
    if (!isRepeated) for (const name of names) inBatch.add(name);
    const isKnown = isRepeated || names.some((name) => known.has(name));
    const isBarred = account?.isSuspended === true || keyOf(task) === account?.deadKey;
    return !isKnown && !isBarred && book(task);
  });
}

test('what is accepted in one batch is what a clerk would accept, and one by one it would be answered the same', async () => {
  await fc.assert(
    fc.asyncProperty(accounts, orders(4), orders(24), async (drawn, first, now) => {
      const { db } = database;
      const [opened, twins] = [await Promise.all(drawn.map(open)), await Promise.all(drawn.map(open))];
      const all = tasksOf(opened, [...first, ...now]);
      const [early, requested] = [all.slice(0, first.length), all.slice(first.length)];
      const earlier: NewTask[] = [];
      for (const task of early) if ((await acceptTaskAlone(db, task)).kind === 'accepted') earlier.push(task);
      const answers = await acceptBatch(db, requested, { waits: false });
      assert.deepEqual(
        answers.map((answer) => typeof answer !== 'string'),
        onPaper(opened, earlier, requested),
      );
      const accepted = requested.filter((_, index) => typeof answers[index] !== 'string');
      const alone: CreateOutcome[] = [];
      for (const task of [...earlier, ...accepted]) alone.push(await acceptTaskAlone(db, atTwin(task, opened, twins)));
      assert.deepEqual(
        answers.filter((answer) => typeof answer !== 'string').map(summaryOf),
        alone.slice(earlier.length).map(summaryOf),
      );
      assert.deepEqual(await Promise.all(opened.map(booksOf)), await Promise.all(twins.map(booksOf)));
    }),
    runs(80),
  );
});

function atTwin(task: NewTask, opened: readonly Opened[], twins: readonly Opened[]): NewTask {
  const twin = twins[opened.findIndex(({ accountId }) => accountId === task.accountId)];
  assert.ok(twin);
  return { ...task, taskId: uuidv7(), accountId: twin.accountId, by: { kind: 'key', keyId: twin.liveKey } };
}

/** The answer without the task's id and the time. */
function summaryOf(answer: CreateOutcome) {
  return answer.kind === 'accepted' ? [answer.creditsCharged, answer.rate?.left.remaining] : [answer.kind];
}

async function booksOf({ accountId }: Opened) {
  const account = await findAccount(database.db, accountId);
  const { entries } = await readBalanceAndEntries(database.db, { accountId, limit: 100 });
  return {
    balance: account?.balance,
    unfinished: account?.unfinishedTasks,
    entries: entries.map(({ kind, amount, balanceAfter }) => [kind, amount, balanceAfter]),
  };
}

test('concurrent creates get responses that the final books explain', async () => {
  await fc.assert(
    fc.asyncProperty(accounts, orders(60), fc.boolean(), async (drawn, now, isTwoProcesses) => {
      const { db } = database;
      const opened = await Promise.all(drawn.map(open));
      const requested = tasksOf(opened, now);
      const acceptors = [createTaskAcceptor(db), createTaskAcceptor(db)];
      const answers = await Promise.all(
        requested.map((task, index) =>
          (acceptors[isTwoProcesses ? index % 2 : 0] ?? acceptTaskAlone.bind(null, db))(task),
        ),
      );
      for (const [index, answer] of answers.entries()) {
        const task = requested[index];
        assert.ok(task);
        await assertExplained(opened, task, answer, requested, answers);
      }
    }),
    runs(60),
  );
});

/** Nothing but creates happens, so balance, unfinished tasks and rate only get less: what did not fit then does not fit in the end. */
async function assertExplained(
  opened: readonly Opened[],
  task: NewTask,
  answer: CreateOutcome,
  requested: readonly NewTask[],
  answers: readonly CreateOutcome[],
): Promise<void> {
  const owner = opened.find(({ accountId }) => accountId === task.accountId);
  assert.ok(owner);
  const mine = requested.flatMap((other, index) => {
    const found = answers[index];
    return other.accountId === task.accountId && found?.kind === 'accepted' ? [{ ...other, ...found }] : [];
  });
  const left = owner.credits - mine.reduce((sum, { creditsCharged }) => sum + creditsCharged, 0);
  const isDead = keyOf(task) === owner.deadKey;
  const twins = mine.filter(
    (other) => other.taskId === task.taskId || (task.idempotencyKey && other.idempotencyKey === task.idempotencyKey),
  );
  switch (answer.kind) {
    case 'accepted':
      assert.ok(!isDead && !owner.isSuspended && mine.length <= owner.room && mine.length <= (owner.quota ?? Infinity));
      assert.equal(answer.creditsCharged, priceOf(opened, task));
      assert.ok(left >= 0);
      return assert.deepEqual([twins.length, twins[0]?.taskId], [1, task.taskId]);
    case 'replayed':
      return assert.ok(twins.some(({ taskId }) => taskId === answer.taskId));
    case 'key_reused':
      return assert.ok(twins.some(({ param }) => param.input.duration !== task.param.input.duration));
    case 'key_inactive':
      return assert.ok(isDead);
    case 'account_suspended':
      return assert.ok(owner.isSuspended);
    case 'insufficient_credits':
      return assert.ok(answer.required === priceOf(opened, task) && answer.required > left);
    case 'too_many_unfinished_tasks':
      return assert.equal(mine.length, owner.room);
    case 'too_fast':
      return assert.equal(mine.length, owner.quota);
    case 'account_not_found':
      assert.fail('the account is there');
    case 'content_deleted':
      assert.fail('nothing is deleted here');
    case 'spend_cap_reached':
      assert.fail('there are no caps here');
  }
}
