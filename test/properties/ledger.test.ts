import { createAccount } from '../../src/credits/open-account.ts';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { v7 as uuidv7 } from 'uuid';
import type { TaskParam } from '../../src/catalogue/tasks/task.ts';
import { acceptTaskAlone } from '../../src/tasks/accept/accept-one-task.ts';
import type { CreateOutcome, NewTask } from '../../src/tasks/accept/acceptance-contract.ts';
import { findAccount } from '../../src/accounts/accounts.ts';
import { completeTask, failAndRefund } from '../../src/tasks/end/end-task-statements.ts';
import { recordQueuing, findTask, beginGenerationAttempt } from '../../src/tasks/task-rows.ts';
import { findLedgerViolationsByIds } from '../../src/credits/ledger/audit-rules.ts';
import { bookCredits, readBalanceAndEntries } from '../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { createTaskAcceptor } from '../../src/tasks/accept/accept-in-batches.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/test-database.ts';
import { insertBackdatedPrice } from '../support/tasks/backdated-price.ts';
import { runs } from '../support/property.ts';
import { listedTerms, madeUpResult, taskParam, requestOf } from '../support/tasks/tasks.ts';
import {
  bodySeconds,
  emptyModel,
  explain,
  firstPrice,
  type Model,
  type Outcome,
  type Step,
  unfinishedOf,
} from './ledger-model.ts';

const slots = 5;
const maxUnfinished = 3;
const slot = fc.nat({ max: slots - 1 });
const key = fc.option(fc.nat({ max: 1 }), { nil: undefined, freq: 2 });
const body = fc.constantFrom(0 as const, 1 as const);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('accept' as const), slot, key, body }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom('confirm' as const, 'start' as const, 'complete' as const, 'refund' as const),
      slot,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('grant' as const), credits: fc.integer({ min: 1, max: 200 }) }),
  },
);
/** Concurrent steps: few enough that every order can be tried on paper. */
const phase = fc.array(step, { minLength: 1, maxLength: 4 });
/** The price that an operator gives the account before what follows happens; none ends it, mostly it stays as it is. */
const change = fc.option(
  fc.record({ creditsPerSecond: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }) }),
  { nil: undefined, freq: 2 },
);
const history = fc.record({
  credits: fc.integer({ min: 1, max: 600 }),
  /** True if concurrent creates share a statement, as those of one process do, or have one each, as if of several. */
  isShared: fc.boolean(),
  phases: fc.array(fc.record({ change, steps: phase }), { minLength: 1, maxLength: 12 }),
});
type Phase = {
  readonly change: { creditsPerSecond: number | undefined } | undefined;
  readonly steps: readonly Step[];
};

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

test('after any concurrent events, the books are those of some order of the events on paper', async () => {
  await fc.assert(
    fc.asyncProperty(history, ({ credits, isShared, phases }) => replay(credits, isShared, phases)),
    runs(120),
  );
});

async function replay(credits: number, isShared: boolean, phases: readonly Phase[]): Promise<void> {
  const account = await newAccount(credits, isShared);
  let models: readonly Model[] = [emptyModel(credits, maxUnfinished)];
  for (const { change: priceChange, steps: draft } of phases) {
    if (priceChange !== undefined) models = await changePrice(account, priceChange, models);
    const steps = draft.filter((each) => isPossible(each, draft, models));
    const outcomes = await Promise.all(steps.map((each) => perform(account, each)));
    models = distinct(models.flatMap((model) => explain(model, steps, outcomes)));
    assert.ok(models.length > 0, `no order of ${JSON.stringify(steps)} explains ${JSON.stringify(outcomes)}`);
  }
  const seen = await booksOf(account);
  const expected = models.map(paperOf);
  assert.ok(expected.includes(seen), `${seen} is none of ${expected.join(' | ')}`);
  await assertSound(account);
}

/** A price that changes concurrently is tested by test/properties/any-prices.test.ts; here all later steps read the new one. */
async function changePrice(
  { accountId }: TestAccount,
  { creditsPerSecond }: { creditsPerSecond: number | undefined },
  models: readonly Model[],
): Promise<readonly Model[]> {
  // The last of several from the same instant counts.
  const model = params[0].model;
  await insertBackdatedPrice(database.db, { model, accountId, creditsPerSecond, fromMs: 0 });
  return models.map((each) => ({ ...each, price: creditsPerSecond ?? firstPrice }));
}

/** A workflow is started after the commit of its task, so nothing moves a task that is being accepted at this phase. */
function isPossible(each: Step, atOnce: readonly Step[], models: readonly Model[]): boolean {
  if (each.kind === 'grant' || each.kind === 'accept') return true;
  const isBeingAccepted = atOnce.some(
    ({ kind, ...other }) => kind === 'accept' && 'slot' in other && other.slot === each.slot,
  );
  return !isBeingAccepted || models.every(({ tasks }) => tasks.has(each.slot));
}

type TestAccount = {
  readonly accountId: string;
  readonly taskIds: readonly string[];
  readonly accept: (task: NewTask) => Promise<CreateOutcome>;
};

async function newAccount(credits: number, isShared: boolean): Promise<TestAccount> {
  const accountId = await createAccount(database.db, { name: 'property', credits });
  const limit = { name: 'limit-test-account', text: 'update accounts set max_unfinished_tasks = $2 where id = $1' };
  await database.db.run(limit, [accountId, maxUnfinished]);
  const accept = isShared ? createTaskAcceptor(database.db) : (task: NewTask) => acceptTaskAlone(database.db, task);
  return { accountId, taskIds: Array.from({ length: slots }, () => uuidv7()), accept };
}

async function perform(account: TestAccount, each: Step): Promise<Outcome> {
  const { db } = database;
  const { accountId, taskIds } = account;
  if (each.kind === 'grant') {
    await bookCredits(db, { accountId, kind: 'grant', amount: each.credits, reason: 'property' });
    return 'granted';
  }
  const taskId = taskIds[each.slot] ?? '';
  if (each.kind === 'accept') return acceptAs(account, each);
  if (each.kind === 'confirm') return (await recordQueuing(db, taskId))?.state ?? 'unknown';
  if (each.kind === 'start') return (await beginGenerationAttempt(db, taskId))?.state ?? 'unknown';
  if (each.kind === 'complete') return endOf(completeTask(db, taskId, madeUpResult));
  return endOf(failAndRefund(db, taskId, { failCode: 'internal', failMsg: 'It failed.' }));
}

async function acceptAs(
  { accountId, taskIds, accept }: TestAccount,
  { slot: index, key: keyIndex, body: bodyIndex }: Extract<Step, { kind: 'accept' }>,
): Promise<Outcome> {
  const answer = await accept({
    taskId: taskIds[index] ?? '',
    accountId,
    ...requestOf(params[bodyIndex]),
    ...listedTerms,
    idempotencyKey: keyIndex === undefined ? undefined : `key ${keyIndex}`,
  });
  if (answer.kind !== 'accepted' && answer.kind !== 'replayed') return answer.kind;
  return `${answer.kind} ${taskIds.indexOf(answer.taskId)} ${answer.creditsCharged}`;
}

const params: readonly [TaskParam, TaskParam] = [
  taskParam('property', { duration: bodySeconds[0] }),
  taskParam('property', { duration: bodySeconds[1] }),
];

async function endOf(end: ReturnType<typeof completeTask>): Promise<Outcome> {
  const ended = await end.catch((error: Error) => error);
  if (!(ended instanceof Error)) return ended.task.state;
  assert.match(ended.message, /not found/);
  return 'unknown';
}

/** Everything about the account that must agree, as one line of text. */
async function booksOf({ accountId, taskIds }: TestAccount): Promise<string> {
  const [account, { entries }, tasks] = await Promise.all([
    findAccount(database.db, accountId),
    readBalanceAndEntries(database.db, { accountId, limit: 1_000 }),
    Promise.all(taskIds.map((taskId) => findTask(database.db, taskId))),
  ]);
  const amounts = entries.map(({ amount }) => amount).toReversed();
  return lineOf(
    account?.balance,
    account?.unfinishedTasks,
    amounts,
    tasks.map((task) => task?.state),
  );
}

function paperOf(model: Model): string {
  const states = Array.from({ length: slots }, (_, index) => model.tasks.get(index)?.state);
  return lineOf(model.balance, unfinishedOf(model), model.entries, states);
}

function lineOf(...facts: readonly unknown[]): string {
  return JSON.stringify(facts);
}

function distinct(models: readonly Model[]): readonly Model[] {
  return [...new Map(models.map((model) => [JSON.stringify([model, [...model.tasks]]), model])).values()];
}

async function assertSound({ accountId, taskIds }: TestAccount): Promise<void> {
  const books = await readBalanceAndEntries(database.db, { accountId, limit: 1_000 });
  const entries = books.entries.map(({ entryId }) => entryId);
  assert.deepEqual(
    await findLedgerViolationsByIds(database.db, { accounts: [accountId], entries, tasks: taskIds }),
    [],
  );
}

test('of any number of concurrent creates exactly as many are accepted as the balance and the limit of unfinished tasks allow', async () => {
  const crowd = fc.record({
    creates: fc.integer({ min: 1, max: 30 }),
    affordable: fc.integer({ min: 0, max: 30 }),
    isShared: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(crowd, async ({ creates, affordable, isShared }) => {
      const credits = Math.max(1, affordable * firstPrice * bodySeconds[0]);
      const { accountId, accept } = await newAccount(credits, isShared);
      const param = params[0];
      const accepting = Array.from({ length: creates }, () =>
        accept({ taskId: uuidv7(), accountId, ...requestOf(param), ...listedTerms }),
      );
      const accepted = (await Promise.all(accepting)).filter(({ kind }) => kind === 'accepted');
      assert.equal(accepted.length, Math.min(creates, affordable, maxUnfinished));
    }),
    runs(30),
  );
});
