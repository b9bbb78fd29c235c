import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  accountsOfUser,
  deleteMembership,
  findMembership,
  raiseRightsByInvitation,
  shareLockOldestOpenAccount,
  lockOpenAccounts,
  setMembership,
} from '../../../src/accounts/people/memberships.ts';
import type { Role } from '../../../src/accounts/people/account-roles-and-scopes.ts';
import { createUser, type User } from '../../../src/accounts/people/users.ts';
import { createSession } from '../../../src/accounts/sign-in/sessions.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

let users = 0;
const newUser = (isOperator = false): Promise<User> =>
  createUser(database.db, { email: `user-${(users += 1)}@people.example`, passwordHash: undefined, isOperator });
const newAccount = (name = 'studio') => createAccount(database.db, { name, credits: 0 });
const run = (text: string, ...values: readonly unknown[]) =>
  database.db.run<{ userId: string }>({ name: text, text, plannedAnew: true }, values);

/** Those of these users who have no account, and will be deleted. */
async function unattached(...all: readonly User[]): Promise<readonly string[]> {
  const ids = all.map(({ userId }) => userId);
  const text = `select id as "userId" from users where id = any($1::uuid[]) and unattached_since is not null`;
  const found = (await run(text, ids)).map(({ userId }) => userId);
  return all.filter(({ userId }) => found.includes(userId)).map(({ email }) => email);
}

test('a user has their accounts by name, with their role in each and its suspension', async () => {
  const { db } = database;
  const [user, other] = [await newUser(), await newUser()];
  const [b, a, c] = [await newAccount('b'), await newAccount('A'), await newAccount('C')];
  await setMembership(db, b, user.userId, 'member');
  await setMembership(db, a, user.userId, 'owner');
  await setMembership(db, a, other.userId, 'viewer');
  await setMembership(db, c, other.userId, 'viewer');
  await run(`update accounts set suspended_at = '2026-11-01Z', suspension_reason = 'unpaid' where id = $1`, b);
  const open = { suspendedAt: undefined, suspensionReason: undefined };
  assert.deepEqual(await accountsOfUser(db, user.userId), [
    { accountId: a, name: 'A', role: 'owner', ...open },
    { accountId: b, name: 'b', role: 'member', suspendedAt: Date.UTC(2026, 10), suspensionReason: 'unpaid' },
  ]);
});

test('a membership is that of one user in one account, and the latest role replaces the earlier one', async () => {
  const { db } = database;
  const [user, other] = [await newUser(), await newUser()];
  const [accountId, another] = [await newAccount(), await newAccount()];
  for (const role of ['owner', 'viewer'] as const) await setMembership(db, accountId, user.userId, role);
  await setMembership(db, accountId, other.userId, 'owner');
  await setMembership(db, another, user.userId, 'member');
  const { userId, email } = user;
  assert.deepEqual(await findMembership(db, accountId, userId), { userId, role: 'viewer', email });
  assert.deepEqual(await findMembership(db, another, userId), { userId, role: 'member', email });
  assert.equal(await findMembership(db, another, other.userId), undefined);
  await deleteMembership(db, accountId, userId);
  assert.equal(await findMembership(db, accountId, userId), undefined);
  assert.deepEqual(await findMembership(db, another, userId), { userId, role: 'member', email });
  assert.equal((await findMembership(db, accountId, other.userId))?.role, 'owner');
});

test('retention deletes those without an account: not who joins, not who has another one, and no operator', async () => {
  const { db } = database;
  const [joins, stays, operator, never] = [await newUser(), await newUser(), await newUser(true), await newUser()];
  const all = [joins, stays, operator, never] as const;
  await run(`update users set unattached_since = null where id = $1`, operator.userId);
  const [accountId, another] = [await newAccount(), await newAccount()];
  for (const { userId } of [joins, stays, operator]) await setMembership(db, accountId, userId, 'member');
  await setMembership(db, another, stays.userId, 'member');
  assert.deepEqual(await unattached(...all), [never.email]);
  for (const { userId } of [joins, stays, operator]) await deleteMembership(db, accountId, userId);
  assert.deepEqual(await unattached(...all), [joins.email, never.email]);
  await raiseRightsByInvitation(db, joins, { accountId, role: 'viewer', isOperator: false });
  assert.deepEqual(await unattached(...all), [never.email]);
});

test('an invitation raises a role and never lowers it, and ends the sessions of who gains rights', async () => {
  const { db } = database;
  const other = await newUser();
  await createSession(db, other.userId, { address: '192.0.2.1', userAgent: 'browser' });
  const accountId = await newAccount();
  const sessionsOf = async ({ userId }: User) =>
    (await run('select id from sessions where user_id = $1', userId)).length;
  const given = async (before_: Role | undefined, role: Role) => {
    const user = await newUser();
    if (before_ !== undefined) await setMembership(db, accountId, user.userId, before_);
    await createSession(db, user.userId, { address: '192.0.2.1', userAgent: 'browser' });
    await raiseRightsByInvitation(db, user, { accountId, role, isOperator: false });
    return [(await findMembership(db, accountId, user.userId))?.role, await sessionsOf(user)];
  };
  for (const [earlier, role, expected, sessions] of [
    [undefined, 'viewer', 'viewer', 0],
    ['viewer', 'viewer', 'viewer', 1],
    ['viewer', 'member', 'member', 0],
    ['member', 'owner', 'owner', 0],
    ['owner', 'member', 'owner', 1],
    ['member', 'viewer', 'member', 1],
  ] as const)
    assert.deepEqual(await given(earlier, role), [expected, sessions], `${earlier} invited as ${role}`);
  assert.equal(await sessionsOf(other), 1);
});

test('an invitation makes an operator, with or without an account, and takes that right from no one', async () => {
  const { db } = database;
  const [user, operator] = [await newUser(), await newUser(true)];
  for (const { userId } of [user, operator]) await createSession(db, userId, { address: '192.0.2.1', userAgent: '' });
  const accountId = await newAccount();
  await raiseRightsByInvitation(db, user, { isOperator: true });
  await raiseRightsByInvitation(db, operator, { isOperator: true });
  await setMembership(db, accountId, operator.userId, 'owner');
  await raiseRightsByInvitation(db, operator, { accountId, role: 'viewer', isOperator: false });
  const text = `select email, is_operator as "isOperator", (select count(*)::int from sessions where user_id = users.id) as sessions
    from users where id = any($1::uuid[]) order by email`;
  assert.deepEqual(
    await run(text, [user.userId, operator.userId]),
    [
      { email: user.email, isOperator: true, sessions: 0 },
      { email: operator.email, isOperator: true, sessions: 1 },
    ].toSorted((one, two) => (one.email < two.email ? -1 : 1)),
  );
});

test('open accounts are locked, and the first of them is the oldest', async () => {
  const { db } = database;
  const [open, closed, unnamed] = [await newAccount(), await newAccount(), await newAccount()];
  await run('update accounts set closed_at = now() where id = $1', closed);
  const ids = [unnamed, closed, open];
  assert.deepEqual(await lockOpenAccounts(db, ids), [{ accountId: open }, { accountId: unnamed }]);
  assert.deepEqual(await lockOpenAccounts(db, [open]), [{ accountId: open }]);
  const first = async () => (await shareLockOldestOpenAccount(db))?.accountId;
  const oldest = await first();
  assert.ok(oldest !== undefined && oldest < open);
  await run('update accounts set closed_at = now() where id < $1', unnamed);
  assert.equal(await first(), unnamed);
});
