import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Actor } from '../../../src/accounts/operators/actors-and-actions.ts';
import {
  changeWithAudit,
  type DoneAction,
  listOperatorActions,
  recordOperatorAction,
} from '../../../src/accounts/operators/audit-log.ts';
import { createOperator } from '../../../src/accounts/operators/operator-keys.ts';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { insertTask, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

test('each action is listed with its actor and all that it concerned, the newest first, by account and operator, in pages', async () => {
  const accounts = [
    await createAccount(database.db, { name: 'one', credits: 0 }),
    await createAccount(database.db, { name: 'two', credits: 0 }),
  ] as const;
  await rolledBack(database.db, async (db) => {
    const { operatorId } = await createOperator(db, { name: 'eve' });
    const actors: readonly Actor[] = [
      { kind: 'operator', operatorId, name: 'eve', requestId: 'r1' },
      { kind: 'user', userId: randomUUID(), name: 'bob@example.com', requestId: 'r2' },
      { kind: 'command_line', name: 'ada' },
    ];
    const taskId = await insertTask(db, accounts[1]);
    const key = await createKeyUnchecked(db, { accountId: accounts[1], name: 'k', scopes: [] });
    const details = { reason: 'a test' };
    const done: readonly DoneAction[] = [
      { action: 'accounts.rename', accountId: accounts[0], details },
      { action: 'tasks.cancel', accountId: accounts[1], taskId, details: {} },
      { action: 'keys.revoke', accountId: accounts[1], keyId: key?.keyId, details },
    ];
    for (const [index, actor] of actors.entries()) {
      const one = done[index] ?? assert.fail();
      assert.equal(await changeWithAudit(db, actor, () => Promise.resolve({ answer: index, done: one })), index);
    }
    assert.equal(
      await changeWithAudit(db, { kind: 'command_line', name: 'ada' }, () => Promise.resolve({ answer: 7 })),
      7,
    );
    await recordOperatorAction(db, { kind: 'command_line', name: 'ada' }, { action: 'people.erase', details: {} });
    const listed = await listOperatorActions(db, { limit: 9 });
    const none = { accountId: undefined, taskId: undefined, keyId: undefined, accountName: undefined };
    assert.deepEqual(
      listed.map(({ actionId: _id, createdAt, ...rest }) => ({ ...rest, isTimed: createdAt > 0 })).toReversed(),
      [
        { ...none, ...done[0], accountName: 'one', actor: actors[0], isTimed: true },
        { ...none, ...done[1], accountName: 'two', actor: actors[1], isTimed: true },
        { ...none, ...done[2], accountName: 'two', actor: actors[2], isTimed: true },
        { ...none, action: 'people.erase', details: {}, actor: actors[2], isTimed: true },
      ],
    );
    const [, second, third, fourth] = listed;
    const list = (filter: object) => listOperatorActions(db, { limit: 9, ...filter });
    assert.deepEqual(await list({ accountId: accounts[1] }), [second, third]);
    assert.deepEqual(await list({ operatorId }), [fourth]);
    assert.deepEqual(await list({ operatorId, accountId: accounts[1] }), []);
    assert.deepEqual(await list({ before: second?.actionId, limit: 1 }), [third]);
  });
});

test('a change that fails is not recorded, and one that cannot be recorded is not made', async () => {
  const { db } = database;
  const accountId = await createAccount(db, { name: 'before', credits: 0 });
  const rename = (details: DoneAction['details'], failure?: Error) =>
    changeWithAudit(db, { kind: 'command_line', name: 'ada' }, async (transaction) => {
      await transaction.run({ name: 'test-rename', text: `update accounts set name = 'after' where id = $1` }, [
        accountId,
      ]);
      if (failure !== undefined) throw failure;
      return { answer: undefined, done: { action: 'accounts.rename', accountId: randomUUID(), details } };
    });
  await assert.rejects(rename({}, new Error('no')), /no/);
  await assert.rejects(rename({}), /foreign key/);
  const rows = await db.run({ name: 'test-name', text: 'select name from accounts where id = $1' }, [accountId]);
  assert.deepEqual([rows, await listOperatorActions(db, { limit: 9 })], [[{ name: 'before' }], []]);
});
