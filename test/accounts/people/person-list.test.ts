import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setMembership } from '../../../src/accounts/people/memberships.ts';
import { listMembers, listPeople } from '../../../src/accounts/people/person-list.ts';
import { createUser, setUserDisabled } from '../../../src/accounts/people/users.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import type { StatementRunner } from '../../../src/platform/database/declare-statements.ts';
import { rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
let accounts: readonly [string, string];
before(async () => {
  database = await createTestDatabase();
  accounts = [
    await createAccount(database.db, { name: 'zebra', credits: 0 }),
    await createAccount(database.db, { name: 'apple', credits: 0 }),
  ];
});
after(() => database.close());

/** Ada owns one account and views the other, Bea is a member of the first, and Cyd is an operator. */
async function newPeople(db: StatementRunner) {
  const newUser = async (name: string, isOperator: boolean) =>
    (await createUser(db, { email: `${name}@example.com`, passwordHash: undefined, isOperator })).userId;
  const [cyd, bea, ada] = [await newUser('cyd', true), await newUser('bea', false), await newUser('ada', false)];
  await setMembership(db, accounts[0], ada, 'owner');
  await setMembership(db, accounts[1], ada, 'viewer');
  await setMembership(db, accounts[0], bea, 'member');
  await setUserDisabled(db, bea, true);
  const run = (text: string, values: readonly unknown[] = []) =>
    db.run({ name: 'test-people', text, plannedAnew: true }, values);
  await run(`update users set created_at = to_timestamp(1), last_sign_in_at = to_timestamp(2)`);
  await run('update users set last_sign_in_at = to_timestamp(9) where id = $1', [cyd]);
  await run(`update memberships set created_at = to_timestamp(3)`);
  const session = `
insert into sessions (id, user_id, hash, expires_at, address, user_agent, last_used_at)
values (gen_random_uuid(), $1, sha256(gen_random_uuid()::text::bytea), now(), 'a', 'b', to_timestamp($2))`;
  for (const [userId, second] of [
    [ada, 5],
    [ada, 4],
    [cyd, 6],
  ] as const)
    await run(session, [userId, second]);
  return { ada, bea, cyd };
}

test('the members of an account are listed by e-mail with their role in it and their last use', () =>
  rolledBack(database.db, async (db) => {
    const { ada, bea } = await newPeople(db);
    const [accountId] = accounts;
    const adaListed = {
      userId: ada,
      email: 'ada@example.com',
      isDisabled: false,
      role: 'owner',
      joinedAt: 3_000,
      lastUsedAt: 5_000,
    };
    const beaListed = {
      userId: bea,
      email: 'bea@example.com',
      isDisabled: true,
      role: 'member',
      joinedAt: 3_000,
      lastUsedAt: 2_000,
    };
    const members = (page: object = {}) => listMembers(db, { accountId, limit: 9, ...page });
    assert.deepEqual(await members(), [adaListed, beaListed]);
    assert.deepEqual(await members({ limit: 1 }), [adaListed]);
    assert.deepEqual(await members({ after: adaListed.email }), [beaListed]);
    assert.deepEqual(await members({ search: 'BEA@' }), [beaListed]);
    assert.deepEqual(await members({ search: 'cyd' }), []);
  }));

test('operators list all people with their accounts by name, or those of one account', () =>
  rolledBack(database.db, async (db) => {
    const { ada, bea, cyd } = await newPeople(db);
    const [zebra, apple] = accounts;
    const own = (accountId: string, name: string, role: string) => ({ accountId, name, role });
    const common = { isDisabled: false, role: undefined, joinedAt: undefined, isOperator: false };
    const times = { createdAt: 1_000, lastSignInAt: 2_000, lastUsedAt: 2_000 };
    const people = [
      {
        ...common,
        ...times,
        userId: ada,
        email: 'ada@example.com',
        lastUsedAt: 5_000,
        accounts: [own(apple, 'apple', 'viewer'), own(zebra, 'zebra', 'owner')],
      },
      {
        ...common,
        ...times,
        userId: bea,
        email: 'bea@example.com',
        isDisabled: true,
        accounts: [own(zebra, 'zebra', 'member')],
      },
      {
        ...common,
        ...times,
        userId: cyd,
        email: 'cyd@example.com',
        isOperator: true,
        lastSignInAt: 9_000,
        lastUsedAt: 9_000,
        accounts: [],
      },
    ];
    assert.deepEqual(await listPeople(db, { limit: 9 }), people);
    assert.deepEqual(await listPeople(db, { limit: 1, after: 'bea@example.com' }), people.slice(2));
    assert.deepEqual(await listPeople(db, { limit: 9, accountId: apple }), [
      { ...people[0], role: 'viewer', joinedAt: 3_000 },
    ]);
  }));
