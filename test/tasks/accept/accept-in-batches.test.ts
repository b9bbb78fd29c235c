import { createAccount } from '../../../src/credits/open-account.ts';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { NewTask } from '../../../src/tasks/accept/acceptance-contract.ts';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { defaultConnectionQueueLimits } from '../../../src/platform/database/connection-queue-limits.ts';
import {
  createDatabase,
  type Database,
  DatabaseUnavailableError,
  DatabaseBusyError,
} from '../../../src/platform/database/database.ts';
import { setSpendCaps } from '../../../src/accounts/limits/spend-caps.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { createTaskAcceptor, maxBatchSize } from '../../../src/tasks/accept/accept-in-batches.ts';
import { createTestDatabase, patientDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { holdAt } from '../../support/database/held-statement.ts';
import { listedTerms, taskParam, requestOf } from '../../support/tasks/tasks.ts';
import { waitFor } from '../../support/wait-for.ts';

const price = 132;
/** No create is refused because the machine is slow. */
const patience = { ...defaultConnectionQueueLimits, ...patientDatabase.queue };

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(async () => {
  const violations = await auditLedger(database.db);
  await database.close();
  assert.deepEqual(violations, []);
});

function newAccount(credits = 500 * price): Promise<string> {
  return createAccount(database.db, { name: 'acceptor', credits });
}

function taskOf(accountId: string, more: Partial<NewTask> = {}): NewTask {
  return { taskId: uuidv7(), accountId, ...requestOf(taskParam('acceptor')), ...listedTerms, ...more };
}

async function tasksPaidBy(accountId: string): Promise<number> {
  return 500 - ((await findAccount(database.db, accountId))?.balance ?? NaN) / price;
}

type Statement = { readonly name: string; readonly tasks: number };

/** The database, and which statements accept how many tasks; `meddle` may replace a statement. */
function watched(meddle: (name: string, run: () => Promise<unknown>) => Promise<unknown> = (_, run) => run()) {
  const statements: Statement[] = [];
  let atOnce = 0;
  let mostAtOnce = 0;
  const db: Database = {
    ...database.db,
    run: async <Row extends pg.QueryResultRow>(...[statement, values]: Parameters<Database['run']>) => {
      const [ids] = values ?? [];
      statements.push({ name: statement.name, tasks: Array.isArray(ids) ? ids.length : 1 });
      mostAtOnce = Math.max(mostAtOnce, (atOnce += 1));
      // `meddle` returns the statement's rows or throws.
      const rows = meddle(statement.name, () => database.db.run(statement, values)) as Promise<Row[]>;
      return rows.finally(() => (atOnce -= 1));
    },
  };
  return { db, statements, mostAtOnce: () => mostAtOnce };
}

test('one statement is under way at a time, and what comes meanwhile goes into the next one, up to a bound', async () => {
  const accountId = await newAccount();
  const { db, statements, mostAtOnce } = watched();
  const accept = createTaskAcceptor(db, patience);
  const lone = accept(taskOf(accountId));
  await waitFor('the first to be sent', () => statements[0]);
  const others = Array.from({ length: 2 * maxBatchSize + 5 }, () => accept(taskOf(accountId)));
  for (const answer of await Promise.all([lone, ...others])) assert.equal(answer.kind, 'accepted');
  assert.deepEqual(statements, [
    { name: 'accept-tasks', tasks: 1 },
    { name: 'accept-tasks', tasks: maxBatchSize },
    { name: 'accept-tasks', tasks: maxBatchSize },
    { name: 'accept-tasks', tasks: 5 },
  ]);
  assert.equal(mostAtOnce(), 1);
});

test('a task that waits for its account delays neither later tasks nor concurrent ones', async () => {
  const [busy, free] = [await newAccount(), await newAccount()];
  const { db, statements } = watched();
  const accept = createTaskAcceptor(db, patience);
  const rival = new pg.Client({ connectionString: database.url });
  await rival.connect();
  await rival.query('begin');
  await rival.query('select from accounts where id = $1 for no key update', [busy]);
  const lone = accept(taskOf(busy));
  await waitFor('the lone one to be sent', () => statements[0]);
  const later = await Promise.all([accept(taskOf(free)), accept(taskOf(free))]);
  const behind = Array.from({ length: 20 }, () => accept(taskOf(busy)));
  const concurrent = await accept(taskOf(free));
  assert.deepEqual(
    [...later, concurrent].map(({ kind }) => kind),
    ['accepted', 'accepted', 'accepted'],
  );
  assert.equal(await tasksPaidBy(busy), 0);
  await rival.query('commit');
  await rival.end();
  for (const answer of await Promise.all([lone, ...behind])) assert.equal(answer.kind, 'accepted');
  assert.deepEqual([await tasksPaidBy(busy), await tasksPaidBy(free)], [21, 3]);
});

test('those who wait for one account wait with one statement, not with one each', async (t) => {
  // The account keeps its queue for a second.
  t.mock.method(performance, 'now', () => 0);
  const accountId = await newAccount();
  const { db, statements } = watched();
  const accept = createTaskAcceptor(db, patience);
  const rival = new pg.Client({ connectionString: database.url });
  await rival.connect();
  await rival.query('begin');
  await rival.query('select from accounts where id = $1 for no key update', [accountId]);
  const waiting = Array.from({ length: 10 }, () => accept(taskOf(accountId)));
  await waitFor('the wait to begin', () => statements[1]);
  waiting.push(accept(taskOf(accountId)), accept(taskOf(accountId)));
  await rival.query('commit');
  await rival.end();
  for (const answer of await Promise.all(waiting)) assert.equal(answer.kind, 'accepted');
  assert.deepEqual(statements, [
    { name: 'accept-tasks', tasks: 10 },
    { name: 'accept-tasks-of-one-account', tasks: 10 },
    { name: 'accept-tasks-of-one-account', tasks: 2 },
  ]);
});

test('two processes at one account accept all that it can pay, and not one more', async () => {
  const accountId = await newAccount(60 * price + 1);
  const processes = [1, 2].map(() => createDatabase({ url: database.url, ...patientDatabase }));
  const acceptors = processes.map((db) => createTaskAcceptor(db, patience));
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => acceptors.map((accept) => accept(taskOf(accountId)))).flat(),
  );
  await Promise.all(processes.map((db) => db.close()));
  assert.equal(answers.filter(({ kind }) => kind === 'accepted').length, 60);
  assert.equal(answers.filter(({ kind }) => kind === 'insufficient_credits').length, 20);
  assert.equal((await findAccount(database.db, accountId))?.balance, 1);
});

test('an invalid task does not affect the tasks of its batch', async () => {
  const accountId = await newAccount();
  const accept = createTaskAcceptor(database.db);
  const poisonous = accept(taskOf(accountId, { idempotencyKey: 'a\0b' }));
  const others = Array.from({ length: 5 }, () => accept(taskOf(accountId)));
  await assert.rejects(poisonous, /invalid byte sequence/);
  for (const answer of await Promise.all(others)) assert.equal(answer.kind, 'accepted');
  assert.equal(await tasksPaidBy(accountId), 5);
});

test('a statement that took too long decided nothing, so each is tried alone', async () => {
  const accountId = await newAccount();
  const cancelled = Object.assign(new pg.DatabaseError('canceling statement', 0, 'error'), { code: '57014' });
  const { db, statements } = watched((name, run) =>
    name === 'accept-tasks' ? Promise.reject(new DatabaseUnavailableError(true, cancelled)) : run(),
  );
  const accept = createTaskAcceptor(db, patience);
  const answers = await Promise.all([accept(taskOf(accountId)), accept(taskOf(accountId))]);
  assert.deepEqual(
    answers.map(({ kind }) => kind),
    ['accepted', 'accepted'],
  );
  assert.deepEqual(
    statements.map(({ name }) => name),
    ['accept-tasks', 'explain-task', 'explain-task', 'accept-tasks-of-one-account', 'accept-tasks-of-one-account'],
  );
});

test('when a response is lost, all callers learn that it was sent, and find the task by repeating the call', async () => {
  const accountId = await newAccount();
  let isLost = true;
  const { db, statements } = watched(async (_name, run) => {
    const rows = await run();
    if (isLost) throw new DatabaseUnavailableError(true, new Error('the connection broke'));
    return rows;
  });
  const accept = createTaskAcceptor(db, patience);
  const tasks = [taskOf(accountId), taskOf(accountId), taskOf(accountId)];
  const lost = await Promise.allSettled(tasks.map(accept));
  assert.deepEqual(
    lost.map(
      (outcome) =>
        outcome.status === 'rejected' && outcome.reason instanceof DatabaseUnavailableError && outcome.reason.wasSent,
    ),
    [true, true, true],
  );
  assert.deepEqual(statements, [{ name: 'accept-tasks', tasks: 3 }]);
  isLost = false;
  const found = await Promise.all(tasks.map(accept));
  assert.deepEqual(
    found.map((answer) => answer.kind === 'replayed' && answer.taskId),
    tasks.map(({ taskId }) => taskId),
  );
  assert.equal(await tasksPaidBy(accountId), 3);
});

for (const [afterMs, isInTime] of [
  [1_000, true],
  [1_001, false],
] as const)
  test(`a task that is sent after ${afterMs} of 1,000 ms is ${isInTime ? 'accepted' : 'refused and never sent'}; one that comes when too many wait is refused immediately`, async (t) => {
    let nowMs = 0;
    t.mock.method(performance, 'now', () => nowMs);
    const accountId = await newAccount();
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const { db, statements } = watched(async (_name, run) => {
      await held;
      return run();
    });
    const accept = createTaskAcceptor(db, { maxWaiting: 4, waitMs: 1_000 });
    const sent = accept(taskOf(accountId));
    await waitFor('the first to be sent', () => statements[0]);
    const late = Promise.allSettled([1, 2, 3].map(() => accept(taskOf(accountId))));
    await assert.rejects(accept(taskOf(accountId)), (error) => error instanceof DatabaseBusyError && !error.wasSent);
    nowMs = afterMs;
    letGo();
    for (const outcome of await late)
      if (isInTime) assert.ok(outcome.status === 'fulfilled' && outcome.value.kind === 'accepted');
      else
        assert.ok(
          outcome.status === 'rejected' && outcome.reason instanceof DatabaseBusyError && !outcome.reason.wasSent,
        );
    assert.equal((await sent).kind, 'accepted');
    assert.equal((await accept(taskOf(accountId))).kind, 'accepted', 'the queue continues');
    assert.equal(await tasksPaidBy(accountId), isInTime ? 5 : 2);
  });

for (const [tasks, more, caps, statement] of [
  ['attempts without a key', { attempt: 'merged' }, {}, 'find-merged-task'],
  ['tasks of an account with caps', {}, { total: 1_000 * price }, 'accept-capped-task'],
] as const) {
  test(`${tasks} that wait for their account leave connections to other accounts`, async () => {
    const [busy, free] = [await newAccount(), await newAccount()];
    await setSpendCaps(database.db, busy, { kind: 'account', id: busy }, caps);
    const pool = createDatabase({ url: database.url, poolSize: 2, ...patientDatabase });
    // The first one stops while it holds the account's lock.
    const held = holdAt(pool, statement);
    const acceptHeld = createTaskAcceptor(held.db, patience);
    const waiting = Array.from({ length: 6 }, () => acceptHeld(taskOf(busy, more)));
    await held.arrived;
    assert.equal((await createTaskAcceptor(pool, patience)(taskOf(free, more))).kind, 'accepted');
    assert.equal(await tasksPaidBy(busy), 0);
    held.go();
    const kinds = (await Promise.all(waiting)).map(({ kind }) => kind);
    const later = 'attempt' in more ? 'replayed' : 'accepted';
    assert.deepEqual(kinds.toSorted(), ['accepted', ...kinds.slice(1).map(() => later)]);
    await pool.close();
  });
}
