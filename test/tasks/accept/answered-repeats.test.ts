import { createAccount } from '../../../src/credits/open-account.ts';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { pino } from 'pino';
import { v7 as uuidv7 } from 'uuid';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import type { NewTask } from '../../../src/tasks/accept/acceptance-contract.ts';
import { moderateCreate } from '../../../src/tasks/accept/order-task.ts';
import { createTaskAcceptor } from '../../../src/tasks/accept/accept-in-batches.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { createUncertainCreateRefunder } from '../../../src/tasks/accept/refund-uncertain-creates.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { eventsInto } from '../../support/service/metric-event-sinks.ts';
import { holdAt, settledOrBlocked } from '../../support/database/held-statement.ts';
import { listedTerms, requestOf, taskParam } from '../../support/tasks/tasks.ts';

// The response to a create was uncertain, and its client repeats it without an Idempotency-Key: the task of the first attempt is either
// refunded or the answer to the repeat, never both.

const price = 132;
const credits = 10 * price;
const log = pino({ level: 'silent' });

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(async () => {
  const violations = await auditLedger(database.db);
  await database.close();
  assert.deepEqual(violations, []);
});

/** The attempts at one create, in the order of their arrival. */
async function attempts(): Promise<Record<'first' | 'repeat' | 'second', NewTask>> {
  const accountId = await createAccount(database.db, { name: 'repeated', credits });
  const made = (attempt: number): NewTask => {
    return { taskId: uuidv7(), accountId, ...requestOf(taskParam('repeated')), ...listedTerms, attempt };
  };
  return { first: made(0), repeat: made(1), second: made(2) };
}

const accept = (task: NewTask, db: Database = database.db) => createTaskAcceptor(db)(task);

/** Settles an attempt whose response stated that nothing is charged. */
async function settle(attempt: NewTask, db: Database = database.db): Promise<string | undefined> {
  const outcomes: string[] = [];
  const events = eventsInto('uncertain_create_resolved', ({ outcome }) => outcomes.push(outcome));
  const uncertain = createUncertainCreateRefunder({ db, log, events, conclusiveMs: 0 });
  uncertain.add(attempt);
  await uncertain.drain(180_000);
  return outcomes[0];
}

async function assertTask({ taskId, accountId }: NewTask, state: 'waiting' | 'fail', paidTasks: number): Promise<void> {
  assert.equal((await findTask(database.db, taskId))?.state, state);
  assert.equal((await findAccount(database.db, accountId))?.balance, credits - paidTasks * price);
}

test('a task with which a repeat was answered is not refunded for its uncertain first attempt', async () => {
  const { first, repeat } = await attempts();
  await accept(first);
  const answer = await accept(repeat);
  assert.deepEqual([answer.kind, 'taskId' in answer && answer.taskId], ['replayed', first.taskId]);
  assert.equal(await settle(first), 'answered');
  await assertTask(first, 'waiting', 1);
});

test('a repeat whose commit is retried finds the task that it was answered with, however old that is', async () => {
  const { first, repeat } = await attempts();
  await accept(first);
  await accept(repeat);
  const text = `update tasks set created_at = created_at - interval '5 minutes' where id = $1`;
  await database.db.run({ name: 'test-age-task', text }, [first.taskId]);
  const retried = await accept(repeat);
  assert.deepEqual([retried.kind, 'taskId' in retried && retried.taskId], ['replayed', first.taskId]);
  await assertTask(first, 'waiting', 1);
});

test('a repeat after the refund is a new task', async () => {
  const { first, repeat } = await attempts();
  await accept(first);
  assert.equal(await settle(first), 'refunded');
  assert.equal((await accept(repeat)).kind, 'accepted');
  await assertTask(first, 'fail', 1);
  await assertTask(repeat, 'waiting', 1);
});

test('a refund that waits for a repeat finds its answer', async () => {
  const { first, repeat } = await attempts();
  await accept(first);
  const held = holdAt(database.db, 'record-answered-attempt');
  const answer = accept(repeat, held.db);
  await held.arrived;
  const outcome = settle(first);
  await settledOrBlocked(database.db, outcome);
  held.go();
  assert.equal((await answer).kind, 'replayed');
  assert.equal(await outcome, 'answered');
  await assertTask(first, 'waiting', 1);
});

test('a repeat that waits for a refund is a new task', async () => {
  const { first, repeat } = await attempts();
  await accept(first);
  const held = holdAt(database.db, 'record-failed-attempt');
  const outcome = settle(first, held.db);
  await held.arrived;
  const answer = accept(repeat);
  await settledOrBlocked(database.db, answer);
  held.go();
  assert.equal(await outcome, 'refunded');
  assert.equal((await answer).kind, 'accepted');
  await assertTask(first, 'fail', 1);
});

test('a repeat and the end of its task that wait for each other both finish', async () => {
  const { first, repeat } = await attempts();
  await accept(first);
  const held = holdAt(database.db, 'record-answered-attempt');
  const answer = accept(repeat, held.db);
  await held.arrived;
  const ended = failAndRefund(database.db, first.taskId, { failCode: 'internal', failMsg: 'the worker failed' });
  await settledOrBlocked(database.db, ended);
  held.go();
  assert.equal((await answer).kind, 'replayed');
  assert.ok((await ended).changed);
  await assertTask(first, 'fail', 0);
});

test('a task is refunded when all of its attempts have failed, in whichever order', async () => {
  for (const isFirstSettledFirst of [true, false]) {
    const { first, repeat, second } = await attempts();
    await accept(first);
    await accept(repeat);
    await accept(second);
    const [one, other] = isFirstSettledFirst ? [first, repeat] : [repeat, first];
    assert.deepEqual([await settle(one), await settle(other)], ['answered', 'answered']);
    await assertTask(first, 'waiting', 1);
    assert.equal(await settle(second), 'refunded');
    await assertTask(first, 'fail', 0);
  }
});

test('a first attempt that was overtaken keeps the task of the repeat', async () => {
  const { first, repeat } = await attempts();
  await accept(repeat);
  assert.equal((await accept(first)).kind, 'replayed');
  assert.equal(await settle(repeat), 'answered');
  await assertTask(repeat, 'waiting', 1);
});

test('a repeat that needs no moderation is an answer, too, unless the task was refunded meanwhile', async () => {
  for (const isRefunded of [false, true]) {
    const { first, repeat } = await attempts();
    await accept(first);
    const held = holdAt(database.db, 'lock-account-for-create');
    let checks = 0;
    const moderator = {
      checks: () => true,
      check: () => Promise.resolve({ kind: 'allowed' } as const).finally(() => (checks += 1)),
      close: () => Promise.resolve(),
    };
    const refundUncertain = () => assert.fail('the response is certain');
    const moderated = moderateCreate({ db: held.db, log, moderator, refundUncertain }, repeat);
    await held.arrived;
    if (isRefunded) assert.equal(await settle(first), 'refunded');
    held.go();
    const answer = await moderated;
    assert.deepEqual([answer?.kind, checks], isRefunded ? [undefined, 1] : ['replayed', 0]);
    if (!isRefunded) assert.equal(await settle(first), 'answered');
  }
});
