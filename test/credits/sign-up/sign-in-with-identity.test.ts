import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accountsOfUser } from '../../../src/accounts/people/memberships.ts';
import { createUser, findUserByEmail } from '../../../src/accounts/people/users.ts';
import { createInvitation, findLink } from '../../../src/accounts/sign-in/one-time-links.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { findUserOfIdentity, signInWithIdentity } from '../../../src/credits/sign-up/sign-in-with-identity.ts';
import { closeAccountAs } from '../../../src/tasks/end/close-account-rows.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { origin, shell } from '../../support/service/person.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

const issuer = 'https://id.example.com';
const signIn = (email: string | undefined, subject: string, of = issuer) =>
  signInWithIdentity(database.db, { issuer: of, subject, email }, { origin });
const newAccount = (name: string) => createAccount(database.db, { name, credits: 0 });
const invite = (email: string, accountId: string) =>
  createInvitation(database.db, { actor: 'ada' }, { email, accountId, role: 'viewer', isOperator: false });
async function membershipsOf(email: string) {
  const user = await findUserByEmail(database.db, email);
  if (user === undefined) return undefined;
  return (await accountsOfUser(database.db, user.userId)).map(({ name, role }) => [name, role]);
}

test('an identity with an invited e-mail becomes a person of every open account that invited it, and uses the links up', async () => {
  const email = 'invited@example.com';
  const [one, two, closed] = [await newAccount('one'), await newAccount('two'), await newAccount('closed')];
  const links = [await invite(email, one), await invite(email, two)];
  await invite(email, closed);
  const other = await invite('other@example.com', one);
  await closeAccountAs(database.db, shell, { accountId: closed, reason: 'test' });
  assert.ok((await signIn(email, 'subject 1')) !== undefined);
  const invitedTo = [
    ['one', 'viewer'],
    ['two', 'viewer'],
  ];
  assert.deepEqual(await membershipsOf(email), invitedTo);
  for (const { token } of links) assert.equal(await findLink(database.db, token), undefined);
  assert.equal((await findLink(database.db, other.token))?.linkId, other.linkId);
  const user = await findUserByEmail(database.db, email);
  assert.deepEqual(
    [user?.isOperator, user?.isDisabled, user?.passwordHash],
    [false, false, undefined],
    'without a password and without rights of an operator',
  );
  assert.deepEqual(await findUserOfIdentity(database.db, issuer, 'subject 1'), { userId: user?.userId });
  assert.equal(await findUserOfIdentity(database.db, issuer, 'subject 2'), undefined);
  assert.equal(await findUserOfIdentity(database.db, 'https://other.example', 'subject 1'), undefined);
});

test('an identity whose e-mail is neither invited nor that of a person, or not verified, opens no session', async () => {
  const { db } = database;
  await createUser(db, { email: 'known@example.com', passwordHash: undefined, isOperator: false });
  assert.equal(await signIn('stranger@example.com', 'stranger'), undefined);
  assert.equal(await findUserByEmail(db, 'stranger@example.com'), undefined);
  assert.equal(await signIn(undefined, 'without'), undefined);
  assert.ok((await signIn('known@example.com', 'known')) !== undefined);
  assert.equal(await signIn('known@example.com', 'another'), undefined, 'a person has one identity of an issuer');
  assert.ok((await signIn('known@example.com', 'another', 'https://other.example')) !== undefined);
});

test('a person who signs in under another e-mail than their own accepts no invitation to it', async () => {
  const accountId = await newAccount('later');
  await createUser(database.db, { email: 'old@example.com', passwordHash: undefined, isOperator: false });
  assert.ok((await signIn('old@example.com', 'moved')) !== undefined);
  const { token, linkId } = await invite('new@example.com', accountId);
  assert.ok((await signIn('new@example.com', 'moved')) !== undefined);
  assert.deepEqual(await membershipsOf('old@example.com'), []);
  assert.equal(await membershipsOf('new@example.com'), undefined);
  assert.equal((await findLink(database.db, token))?.linkId, linkId);
});
