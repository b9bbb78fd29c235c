import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { type Database, DatabaseBusyError } from '../../../src/platform/database/database.ts';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import { setSpendCaps } from '../../../src/accounts/limits/spend-caps.ts';
import { setMembership } from '../../../src/accounts/people/memberships.ts';
import { createUser } from '../../../src/accounts/people/users.ts';
import type { NewTask } from '../../../src/tasks/accept/acceptance-contract.ts';
import { deleteTaskContentInDatabase } from '../../../src/tasks/end/content-deletion-rows.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { acceptTaskAlone, findRefusalOrReplay } from '../../../src/tasks/accept/accept-one-task.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { listedTerms, requestOf, taskParam } from '../../support/tasks/tasks.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

test('a task that loses a race to another request is read and tried again, five times at most', async () => {
  const accountId = await createAccount(database.db, { name: 'racing', credits: 132 });
  const task = { taskId: uuidv7(), accountId, ...requestOf(taskParam('racing')), ...listedTerms };
  const deadlock = Object.assign(new pg.DatabaseError('deadlock detected', 0, 'error'), { code: '40P01' });
  const attempt = async (losses: number) => {
    const names: string[] = [];
    const run: Database['run'] = async (statement, values) => {
      names.push(statement.name);
      const isAccepting = statement.name === 'accept-tasks-of-one-account';
      if (isAccepting && names.filter((name) => name === statement.name).length <= losses) throw deadlock;
      return database.db.run(statement, values);
    };
    const outcome = await acceptTaskAlone({ ...database.db, run }, task).catch((error: unknown) => error);
    return { outcome, names };
  };
  const tries = (count: number) => Array.from({ length: count }, () => ['explain-task', 'accept-tasks-of-one-account']);
  const lost = await attempt(5);
  assert.ok(lost.outcome instanceof DatabaseBusyError && !lost.outcome.wasSent);
  assert.deepEqual(lost.names, tries(5).flat());
  assert.equal((await findAccount(database.db, accountId))?.balance, 132);
  const won = await attempt(4);
  assert.deepEqual(won.outcome, { kind: 'accepted', taskId: task.taskId, creditsCharged: 132 });
  assert.deepEqual(won.names, tries(5).flat());
  assert.equal((await findAccount(database.db, accountId))?.balance, 0);
});

test('a create is explained: it can be accepted, repeats an accepted one, or is refused for one reason', async () => {
  const { db } = database;
  const newTask = (accountId: string, changes: Partial<NewTask> = {}): NewTask => ({
    taskId: uuidv7(),
    accountId,
    ...requestOf(taskParam('explained')),
    ...listedTerms,
    ...changes,
  });
  const explained = (task: NewTask) => findRefusalOrReplay(db, task);
  const set = (accountId: string, columns: string) =>
    db.run({ name: 'test-set-account', plannedAnew: true, text: `update accounts set ${columns} where id = $1` }, [
      accountId,
    ]);
  const rich = await createAccount(db, { name: 'rich', credits: 1_000 });
  assert.equal(await explained(newTask(rich)), undefined);

  const accepted = newTask(rich, { idempotencyKey: 'once' });
  assert.deepEqual(await acceptTaskAlone(db, accepted), {
    kind: 'accepted',
    taskId: accepted.taskId,
    creditsCharged: 132,
  });
  const replayed = { kind: 'replayed', taskId: accepted.taskId, creditsCharged: 132, state: 'waiting' };
  for (const repeat of [accepted, newTask(rich, { idempotencyKey: 'once' })])
    for (const outcome of [await explained(repeat), await acceptTaskAlone(db, repeat)])
      assert.deepEqual(outcome, replayed);
  const another = newTask(rich, { idempotencyKey: 'once', ...requestOf(taskParam('another')) });
  assert.deepEqual(await explained(another), { kind: 'key_reused' });
  const failure = { failCode: 'cancelled', failMsg: 'A test.' } as const;
  const { task } = await failAndRefund(db, accepted.taskId, failure);
  assert.deepEqual(await explained(accepted), { ...replayed, state: 'fail' });
  await deleteTaskContentInDatabase(db, task, []);
  for (const repeat of [accepted, another]) assert.deepEqual(await explained(repeat), { kind: 'content_deleted' });

  const poor = await createAccount(db, { name: 'poor', credits: 131 });
  assert.deepEqual(await explained(newTask(poor)), { kind: 'insufficient_credits', required: 132, balance: 131 });
  await set(rich, 'max_unfinished_tasks = 0');
  assert.deepEqual(await explained(newTask(rich)), { kind: 'too_many_unfinished_tasks', limit: 0 });
  await set(
    rich,
    `max_unfinished_tasks = 9, create_quota = 2, create_window_ms = 7200000, create_due_at = now() + interval '2 hours'`,
  );
  const tooFast = (await explained(newTask(rich))) ?? assert.fail();
  assert.ok(tooFast.kind === 'too_fast');
  const { limit, left } = tooFast.rate;
  assert.deepEqual([limit, left.remaining], [{ quota: 2, windowMs: 7_200_000 }, 0]);
  await set(rich, 'suspended_at = now()');
  assert.deepEqual(await explained(newTask(rich)), { kind: 'account_suspended' });
  assert.deepEqual(await explained(newTask(uuidv7())), { kind: 'account_not_found' });
  const by = { kind: 'key', keyId: uuidv7() } as const;
  assert.deepEqual(await explained(newTask(poor, { by })), { kind: 'key_inactive' });
  await assert.rejects(explained(newTask(poor, { listedPrices: [] })), /no price of videogen-2\.0-fast/);
});

test('a task counts towards the caps of its account and of its creator, and one beyond a cap is refused', async () => {
  const { db } = database;
  const accountId = await createAccount(db, { name: 'capped', credits: 1_000 });
  const person = await createUser(db, { email: 'capped@example.com', passwordHash: 'x', isOperator: false });
  await setMembership(db, accountId, person.userId, 'member');
  const key = { accountId, name: 'a key', scopes: ['tasks:write'] } as const;
  const { keyId } = (await createKeyUnchecked(db, key)) ?? assert.fail();
  const cap = (kind: 'account' | 'member' | 'key', id: string, credits: number) =>
    setSpendCaps(db, accountId, { kind, id }, { total: credits });
  await cap('account', accountId, 3 * 132);
  await cap('member', person.userId, 132);
  await cap('key', keyId, 2 * 132);
  const create = async (by?: NewTask['by']) => {
    const task = { taskId: uuidv7(), accountId, by, ...requestOf(taskParam('capped')), ...listedTerms };
    const outcome = await acceptTaskAlone(db, task);
    if (outcome.kind !== 'accepted') return outcome;
    assert.deepEqual(outcome, { kind: 'accepted', taskId: task.taskId, creditsCharged: 132 });
    return undefined;
  };
  const [byPerson, byKey] = [
    { kind: 'person', userId: person.userId },
    { kind: 'key', keyId },
  ] as const;
  const refused = (subject: string, subjectId: string, credits: number) => ({
    kind: 'spend_cap_reached',
    required: 132,
    cap: { subject, subjectId, period: 'total', credits, spent: credits, resetsAt: undefined },
  });
  assert.equal(await create(byPerson), undefined);
  assert.deepEqual(await create(byPerson), refused('member', person.userId, 132));
  assert.equal(await create(byKey), undefined);
  assert.equal(await create(byKey), undefined);
  assert.deepEqual(await create(), refused('account', accountId, 3 * 132));
  assert.equal((await findAccount(db, accountId))?.balance, 1_000 - 3 * 132);
  await cap('account', accountId, 1_000);
  assert.deepEqual(await create(byKey), refused('key', keyId, 2 * 132));
  assert.equal(await create(), undefined);
});
