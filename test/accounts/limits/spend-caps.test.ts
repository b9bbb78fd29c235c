import { createAccount } from '../../../src/credits/open-account.ts';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { v7 as uuidv7 } from 'uuid';
import type { CreateOutcome, NewTask } from '../../../src/tasks/accept/acceptance-contract.ts';
import { findAccount, lockAccount } from '../../../src/accounts/accounts.ts';
import { createKeyWithinAllLimits, rotateAccountKey } from '../../../src/accounts/keys/keys.ts';
import { listOperatorActions } from '../../../src/accounts/operators/audit-log.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import {
  type CapChange,
  type CapSubject,
  listSpendCapsOfAccount,
  setCapsInTransaction,
  setSpendCaps,
  setSpendCapsAs,
} from '../../../src/accounts/limits/spend-caps.ts';
import { type Database, DatabaseUnavailableError, readRow } from '../../../src/platform/database/database.ts';
import { acceptCappedTaskStatement } from '../../../src/tasks/accept/accept-statement.ts';
import { acceptTaskAlone } from '../../../src/tasks/accept/accept-one-task.ts';
import { createTaskAcceptor } from '../../../src/tasks/accept/accept-in-batches.ts';
import { acceptWithRetry } from '../../../src/tasks/accept/accept-with-retry.ts';
import { closeAccountAs } from '../../../src/tasks/end/close-account-rows.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { settledOrBlocked } from '../../support/database/held-statement.ts';
import { shell } from '../../support/service/person.ts';
import { listedTerms, requestOf, taskParam } from '../../support/tasks/tasks.ts';

const price = 132;
let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(async () => {
  const violations = await auditLedger(database.db);
  await database.close();
  assert.deepEqual(violations, []);
});

type Client = { readonly accountId: string; readonly by: { readonly kind: 'key'; readonly keyId: string } };

const newAccount = () => createAccount(database.db, { name: 'caps', credits: 1_000 * price });

async function newKey(accountId: string, caps?: CapChange): Promise<Client> {
  const made = await createKeyWithinAllLimits(database.db, { accountId, name: 'a', scopes: ['tasks:write'], caps });
  assert.ok(made.kind === 'made');
  return { accountId, by: { kind: 'key', keyId: made.apiKey.keyId } };
}

function taskOf(client: Client, more: Partial<NewTask> = {}): NewTask {
  return { taskId: uuidv7(), ...client, ...requestOf(taskParam('caps')), ...listedTerms, ...more };
}

const kinds = (answers: readonly CreateOutcome[], kind: CreateOutcome['kind']) =>
  answers.filter((answer) => answer.kind === kind).length;

async function setCap({ accountId }: Client, subject: CapSubject, change: CapChange): Promise<void> {
  assert.ok(await setSpendCaps(database.db, accountId, subject, change));
}

async function spentOf({ accountId }: Client): Promise<readonly (readonly [string, string, number])[]> {
  return (await listSpendCapsOfAccount(database.db, accountId)).map(({ subject, period, spent }) => [
    subject,
    period,
    spent,
  ]);
}

test('a key that is revoked after the checks, and before the charge, is refused', async () => {
  const client = await newKey(await newAccount(), { total: 20 * price });
  const revoke = { name: 'test-revoke', text: 'update api_keys set revoked_at = now() where id = $1' };
  const { db } = database;
  const revoking: Database = {
    ...db,
    transaction: (work) =>
      db.transaction((run) =>
        work(async (statement, values) => {
          if (statement.name === acceptCappedTaskStatement.name) await db.run(revoke, [client.by.keyId]);
          return run(statement, values);
        }),
      ),
  };
  assert.equal((await acceptTaskAlone(revoking, taskOf(client))).kind, 'key_inactive');
  const read = { name: 'test-spent', text: 'select spent::int from spend_caps where account_id = $1' };
  assert.deepEqual(await db.run(read, [client.accountId]), [{ spent: 0 }]);
});

test('100 concurrent creates from two processes spend exactly up to the cap', async () => {
  const client = await newKey(await newAccount(), { total: 20 * price + price - 1 });
  const processes = [createTaskAcceptor(database.db), createTaskAcceptor(database.db)];
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) => (processes[index % 2] ?? assert.fail())(taskOf(client))),
  );
  assert.equal(kinds(answers, 'accepted'), 20);
  assert.equal(kinds(answers, 'spend_cap_reached'), 80);
  assert.deepEqual(await spentOf(client), [['key', 'total', 20 * price]]);
  assert.equal((await findAccount(database.db, client.accountId))?.balance, 980 * price);
});

test('a refund restores the cap of its period, once', async () => {
  const accept = createTaskAcceptor(database.db);
  const client = await newKey(await newAccount(), { total: price });
  const first = await accept(taskOf(client));
  assert.ok(first.kind === 'accepted');
  assert.equal((await accept(taskOf(client))).kind, 'spend_cap_reached');
  const fail = () => failAndRefund(database.db, first.taskId, { failCode: 'cancelled', failMsg: 'Cancelled.' });
  await Promise.all([fail(), fail(), fail()]);
  assert.deepEqual(await spentOf(client), [['key', 'total', 0]]);
  assert.equal((await accept(taskOf(client))).kind, 'accepted');
});

test('a refund that waits while a cap is set is taken off it', async () => {
  const client = await newKey(await newAccount());
  const { accountId } = client;
  const first = await createTaskAcceptor(database.db)(taskOf(client));
  assert.ok(first.kind === 'accepted');
  let refunded: Promise<unknown> = Promise.resolve();
  await database.db.transaction(async (run) => {
    await lockAccount({ run }, accountId);
    assert.ok(
      await setCapsInTransaction({ run }, accountId, { kind: 'account', id: accountId }, { total: 10 * price }),
    );
    refunded = failAndRefund(database.db, first.taskId, { failCode: 'cancelled', failMsg: 'Cancelled.' });
    await settledOrBlocked(database.db, refunded);
  });
  await refunded;
  assert.deepEqual(await spentOf(client), [['account', 'total', 0]]);
});

test('creates and refunds at the same time leave exactly what was charged and not refunded', async () => {
  const client = await newKey(await newAccount(), { total: 1_000 * price });
  await setCap(client, { kind: 'account', id: client.accountId }, { total: 1_000 * price });
  const processes = [createTaskAcceptor(database.db), createTaskAcceptor(database.db)];
  const failure = { failCode: 'cancelled', failMsg: 'Cancelled.' } as const;
  await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      const accepted = await (processes[index % 2] ?? assert.fail())(taskOf(client));
      assert.ok(accepted.kind === 'accepted');
      if (index % 3 > 0) await failAndRefund(database.db, accepted.taskId, failure);
    }),
  );
  assert.deepEqual(await spentOf(client), [
    ['account', 'total', 20 * price],
    ['key', 'total', 20 * price],
  ]);
  assert.equal((await findAccount(database.db, client.accountId))?.balance, 980 * price);
});

test('a create whose commit is uncertain is charged once, and counts once', async () => {
  const client = await newKey(await newAccount(), { total: price });
  let commits = 0;
  const accept = createTaskAcceptor({
    ...database.db,
    transaction: async (work) => {
      const result = await database.db.transaction(work);
      commits += 1;
      if (commits === 1) throw new DatabaseUnavailableError(true, new Error('the response to the commit was lost'));
      return result;
    },
  });
  const refundUncertain = () => assert.fail('it is not refunded');
  for (const attempt of [undefined, 1] as const) {
    commits = 0;
    const other = attempt === undefined ? client : await newKey(await newAccount(), { total: price });
    const answer = await acceptWithRetry({ accept, refundUncertain }, taskOf(other, { attempt }));
    assert.equal(answer.kind, 'accepted');
    assert.deepEqual(await spentOf(other), [['key', 'total', price]]);
    assert.equal((await findAccount(database.db, other.accountId))?.balance, 999 * price);
  }
});

test('a cap that is set later counts what its subject alone has spent before', async () => {
  const accept = createTaskAcceptor(database.db);
  const accountId = await newAccount();
  const [one, other] = [await newKey(accountId), await newKey(accountId)];
  for (const client of [one, one, other]) await accept(taskOf(client));
  await setCap(one, { kind: 'key', id: one.by.keyId }, { total: 3 * price });
  await setCap(one, { kind: 'account', id: accountId }, { total: 10 * price });
  assert.deepEqual(await spentOf(one), [
    ['account', 'total', 3 * price],
    ['key', 'total', 2 * price],
  ]);
  assert.equal((await accept(taskOf(one))).kind, 'accepted');
  assert.equal((await accept(taskOf(one))).kind, 'spend_cap_reached');
  assert.equal((await accept(taskOf(other))).kind, 'accepted');
  assert.deepEqual(await spentOf(one), [
    ['account', 'total', 5 * price],
    ['key', 'total', 3 * price],
  ]);
  await setCap(one, { kind: 'key', id: one.by.keyId }, { total: null });
  assert.equal((await accept(taskOf(one))).kind, 'accepted');
});

test('a rotated key shares the cap of the key before it', async () => {
  const accept = createTaskAcceptor(database.db);
  const client = await newKey(await newAccount(), { total: 2 * price });
  await accept(taskOf(client));
  const made = await rotateAccountKey(database.db, {
    accountId: client.accountId,
    keyId: client.by.keyId,
    within: ['tasks:write'],
    overlapSeconds: 60,
  });
  assert.ok(made.kind === 'made');
  const rotated: Client = { ...client, by: { kind: 'key', keyId: made.apiKey.keyId } };
  assert.equal((await accept(taskOf(rotated))).kind, 'accepted');
  for (const either of [client, rotated]) assert.equal((await accept(taskOf(either))).kind, 'spend_cap_reached');
  const [cap] = await listSpendCapsOfAccount(database.db, client.accountId);
  assert.equal(cap?.subjectId, made.apiKey.keyId);
});

test('a repeated create under a cap returns its task, and other refusals keep their reasons', async () => {
  const accept = createTaskAcceptor(database.db);
  const client = await newKey(await newAccount(), { total: price });
  const first = await accept(taskOf(client, { idempotencyKey: 'one' }));
  const replay = await accept(taskOf(client, { idempotencyKey: 'one' }));
  assert.deepEqual([first.kind, replay.kind], ['accepted', 'replayed']);
  const repeat = await accept(taskOf(client, { attempt: 1 }));
  assert.equal(repeat.kind, 'replayed');
  const accountId = await createAccount(database.db, { name: 'poor', credits: 1 });
  const poor = await accept(taskOf(await newKey(accountId, { total: 10 * price })));
  assert.equal(poor.kind, 'insufficient_credits');
});

test('a create that dies before its commit counts towards no cap', async () => {
  const client = await newKey(await newAccount(), { total: price });
  const accept = createTaskAcceptor({
    ...database.db,
    transaction: (work) =>
      database.db.transaction(async (run) => {
        await work(run);
        throw new Error('the process stops before the commit');
      }),
  });
  await assert.rejects(accept(taskOf(client)), /before the commit/);
  assert.deepEqual(await spentOf(client), [['key', 'total', 0]]);
  assert.equal((await findAccount(database.db, client.accountId))?.balance, 1_000 * price);
});

test('the cap that is used up or would be exceeded is marked as reached, and no other one', async () => {
  const reached = (accountId: string) =>
    database.db.run(
      {
        name: 'test-reached',
        text: 'select subject_kind as subject, period from spend_caps where account_id = $1 and reached_in is not null',
      },
      [accountId],
    );
  const expected = [{ subject: 'key', period: 'total' }];
  for (const [total, afterFirst] of [
    [price, expected],
    [price + 1, []],
  ] as const) {
    const accept = createTaskAcceptor(database.db);
    const accountId = await newAccount();
    const client = await newKey(accountId, { day: 9 * price, total });
    await newKey(accountId, { total: 9 * price });
    await setCap(client, { kind: 'account', id: accountId }, { day: 9 * price, total: 9 * price });
    await accept(taskOf(client));
    assert.deepEqual(await reached(accountId), afterFirst);
    assert.equal((await accept(taskOf(client))).kind, 'spend_cap_reached');
    assert.deepEqual(await reached(accountId), expected);
  }
});

test('removing a cap leaves those of other periods and subjects; a stranger has none to remove', async () => {
  const accountId = await newAccount();
  const client = await newKey(accountId, { day: 1, total: 2 });
  await setCap(client, { kind: 'account', id: accountId }, { day: 3, total: 4 });
  await setCap(client, { kind: 'key', id: client.by.keyId }, { total: null });
  const caps = async () =>
    (await listSpendCapsOfAccount(database.db, accountId)).map(({ subject, period, credits }) => [
      subject,
      period,
      credits,
    ]);
  const left = [
    ['account', 'day', 3],
    ['account', 'total', 4],
    ['key', 'day', 1],
  ];
  assert.deepEqual(await caps(), left);
  const stranger = uuidv7();
  assert.equal(await setSpendCaps(database.db, accountId, { kind: 'member', id: stranger }, { day: null }), false);
  assert.equal(await setSpendCaps(database.db, accountId, { kind: 'key', id: stranger }, { day: null }), false);
  assert.deepEqual(await caps(), left);
});

test('the audit log has the caps that an operator sets with their subject, unless they are set already', async () => {
  const accountId = await newAccount();
  const { by } = await newKey(accountId);
  const [ofAccount, ofKey] = [
    { kind: 'account', id: accountId },
    { kind: 'key', id: by.keyId },
  ] as const;
  for (const [subject, change] of [
    [ofAccount, { day: 3 }],
    [ofAccount, { day: 3, month: null }],
    [ofKey, { day: 3, total: 4 }],
    [{ ...ofKey, id: by.keyId.toUpperCase() }, { day: null }],
    [ofKey, { day: null, total: 4 }],
  ] as const)
    assert.ok(await setSpendCapsAs(database.db, shell, accountId, subject, change));
  const actions = await listOperatorActions(database.db, { accountId, limit: 9 });
  assert.deepEqual(actions.map(({ action, details }) => [action, details]).toReversed(), [
    ['caps.set', { subject: 'account', subjectId: accountId, day: 3 }],
    ['caps.set', { subject: 'key', subjectId: by.keyId, day: 3, total: 4 }],
    ['caps.set', { subject: 'key', subjectId: by.keyId, day: null }],
  ]);
});

const findCapped = (accountId: string) =>
  readRow<{ readonly capped: boolean }>(
    database.db,
    { name: 'test-capped', text: 'select capped from accounts where id = $1' },
    [accountId],
  );

test('the cap of a member who has left makes no create slower, and is in force again when they return', async () => {
  const accountId = await newAccount();
  const run = (text: string, values: readonly unknown[]) => database.db.run({ name: text, text }, values);
  const userId = uuidv7();
  await run('insert into users (id, email) values ($1, $2)', [userId, `${userId}@example.com`]);
  const join = () =>
    run(`insert into memberships (account_id, user_id, role) values ($1, $2, 'member')`, [accountId, userId]);
  const isCapped = async () => (await findCapped(accountId))?.capped;
  await join();
  assert.ok(await setSpendCaps(database.db, accountId, { kind: 'member', id: userId }, { total: 20 * price }));
  const found = [await isCapped()];
  await run('delete from memberships where user_id = $1', [userId]);
  found.push(await isCapped());
  await join();
  found.push(await isCapped());
  assert.deepEqual(found, [true, false, true]);
});

test('caps of a closed account are changed neither by its members nor by an operator', async () => {
  const accountId = await newAccount();
  const subject = { kind: 'account', id: accountId } as const;
  assert.ok(await setSpendCaps(database.db, accountId, subject, { total: 5 }));
  await closeAccountAs(database.db, shell, { accountId, reason: 'test' });
  const refusal = { name: 'AccountClosedError' };
  await assert.rejects(setSpendCaps(database.db, accountId, subject, { total: 6 }), refusal);
  await assert.rejects(setSpendCapsAs(database.db, shell, accountId, subject, { total: 6 }), refusal);
  const caps = await listSpendCapsOfAccount(database.db, accountId);
  assert.deepEqual(
    caps.map(({ credits }) => credits),
    [5],
  );
});
