import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { accountsOfUser } from '../../../src/accounts/people/memberships.ts';
import { listAllSecurityEvents } from '../../../src/accounts/people/security-events.ts';
import {
  createUser,
  findUser,
  findUserByEmail,
  setUserDisabled,
  type User,
} from '../../../src/accounts/people/users.ts';
import { createOneTimeLink, findLink } from '../../../src/accounts/sign-in/one-time-links.ts';
import { listPasskeys } from '../../../src/accounts/sign-in/passkey-rows.ts';
import { createSession, findAndTouchSession, isSessionStored } from '../../../src/accounts/sign-in/sessions.ts';
import {
  acceptLinkAndSignIn,
  setPasswordAndEndOtherSessions,
  endOtherSessions,
  endOwnSession,
  SignInProofOutdatedError,
  renewSessionWithVerifiedProof,
  signInWithVerifiedProof,
  signOut,
} from '../../../src/accounts/sign-in/sign-in.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import type { StatementRunner } from '../../../src/platform/database/declare-statements.ts';
import { insertRow, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

// What each way to sign in and out changes and records, and that it changes nothing of another person.

let database: TestDatabase;
let accountId: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'first', credits: 0 });
  await createAccount(database.db, { name: 'second', credits: 0 });
});
after(() => database.close());

const origin = { address: '192.0.2.7', userAgent: 'a browser' };

async function newPerson(db: StatementRunner, name: string) {
  const email = `${name}@example.com`;
  const user = await createUser(db, { email, passwordHash: `hash of ${name}`, isOperator: false });
  const { userId } = user;
  const { session, token } = await createSession(db, userId, origin);
  const passkeyId = randomUUID();
  const credential = { credential_id: name, public_key: Buffer.from('k'), counter: 1, transports: '{}', name };
  await insertRow(db, 'passkeys', { id: passkeyId, user_id: userId, ...credential });
  const reset = await createOneTimeLink(db, { purpose: 'reset', email, isOperator: false });
  return { user, session, token, passkeyId, checkedHash: `hash of ${name}`, reset };
}

/** All that signing in may change of a person. */
async function stateOf(db: StatementRunner, { user, token, reset }: Awaited<ReturnType<typeof newPerson>>) {
  return {
    session: (await findAndTouchSession(db, token, { isBackground: true }))?.sessionId,
    passkeys: (await listPasskeys(db, user.userId)).map(({ counter, lastUsedAt }) => [
      counter,
      lastUsedAt !== undefined,
    ]),
    passwordHash: (await findUser(db, user.userId))?.passwordHash,
    hasReset: (await findLink(db, reset.token)) !== undefined,
  };
}

const eventsOf = async (db: StatementRunner, { userId }: Pick<User, 'userId'>) =>
  (await listAllSecurityEvents(db, { limit: 99 }))
    .filter((event) => event.userId === userId)
    .map(({ eventId: _id, createdAt: _at, ...event }) => event);

const eventOf = ({ userId, email }: User, kind: string, details: object = {}, ofAccount?: string) => {
  return { kind, userId, email, accountId: ofAccount, actor: undefined, ...origin, details };
};

/** Runs the test with a person and with one who must stay as they are. */
const withTwo = (work: (db: Database, person: Awaited<ReturnType<typeof newPerson>>) => Promise<void>) =>
  rolledBack(database.db, async (db) => {
    const bystander = await newPerson(db, 'bystander');
    const person = await newPerson(db, 'person');
    const untouched = await stateOf(db, bystander);
    await work(db, person);
    assert.deepEqual(await stateOf(db, bystander), untouched);
    assert.deepEqual(await eventsOf(db, bystander.user), []);
  });

test('each proof signs its person in, ends the earlier session, and is recorded with its means', () =>
  withTwo(async (db, { user, session, token, passkeyId, checkedHash, ...person }) => {
    const proofs = [
      { means: 'password', checkedHash },
      { means: 'passkey', passkeyId, counter: 5 },
      { means: 'oidc', authenticatedAt: 5_000 },
    ] as const;
    const events: unknown[] = [];
    let earlier = session;
    for (const proof of proofs) {
      const made = await signInWithVerifiedProof(db, { user, origin, before: earlier, ...proof });
      const { email, userId } = user;
      assert.deepEqual([made.session.userId, made.session.email], [userId, email]);
      assert.equal(made.session.authenticatedAt === 5_000, proof.means === 'oidc');
      assert.equal((await isSessionStored(db, earlier.sessionId)).exists, false);
      assert.ok(await findAndTouchSession(db, made.token, { isBackground: true }));
      events.unshift(eventOf(user, 'signed_in', { means: proof.means }));
      earlier = made.session;
    }
    assert.deepEqual(await eventsOf(db, user), events);
    const state = await stateOf(db, { user, session, token, passkeyId, checkedHash, ...person });
    assert.deepEqual(state, { session: undefined, passkeys: [[5, true]], passwordHash: checkedHash, hasReset: true });
  }));

test('a proof that is outdated signs no one in, and leaves no event', () =>
  withTwo(async (db, { user, session, passkeyId, checkedHash }) => {
    const password = { means: 'password', checkedHash } as const;
    for (const proof of [
      { ...password, checkedHash: 'another' },
      { means: 'passkey', passkeyId: randomUUID(), counter: 5 } as const,
    ])
      await assert.rejects(
        signInWithVerifiedProof(db, { user, origin, before: session, ...proof }),
        SignInProofOutdatedError,
      );
    await assert.rejects(
      renewSessionWithVerifiedProof(db, session, origin, { ...password, checkedHash: 'another' }),
      SignInProofOutdatedError,
    );
    await setUserDisabled(db, user.userId, true);
    for (const proof of [
      password,
      { means: 'passkey', passkeyId, counter: 5 },
      { means: 'oidc', authenticatedAt: 5 },
    ] as const) {
      await assert.rejects(
        signInWithVerifiedProof(db, { user, origin, before: session, ...proof }),
        SignInProofOutdatedError,
      );
      await assert.rejects(renewSessionWithVerifiedProof(db, session, origin, proof), SignInProofOutdatedError);
    }
    const unknown = { userId: randomUUID(), email: user.email };
    await assert.rejects(signInWithVerifiedProof(db, { user: unknown, origin, ...password }), SignInProofOutdatedError);
    assert.equal((await isSessionStored(db, session.sessionId)).exists, true);
    assert.deepEqual(await eventsOf(db, user), []);
  }));

test('another authentication renews its session, unless that has ended, and is recorded with its means', () =>
  withTwo(async (db, { user, session, token, passkeyId, checkedHash }) => {
    const events: unknown[] = [];
    for (const proof of [
      { means: 'password', checkedHash },
      { means: 'passkey', passkeyId, counter: 5 },
      { means: 'oidc', authenticatedAt: 5_000 },
    ] as const) {
      const renewed = (await renewSessionWithVerifiedProof(db, session, origin, proof)) ?? assert.fail();
      assert.equal(renewed.session.sessionId, session.sessionId);
      assert.equal(renewed.session.authenticatedAt === 5_000, proof.means === 'oidc');
      assert.equal(await findAndTouchSession(db, token, { isBackground: true }), undefined);
      assert.ok(await findAndTouchSession(db, renewed.token, { isBackground: true }));
      events.unshift(eventOf(user, 'reauthenticated', { means: proof.means }));
    }
    await signOut(db, session, origin);
    assert.equal(
      await renewSessionWithVerifiedProof(db, session, origin, { means: 'oidc', authenticatedAt: 5_000 }),
      undefined,
    );
    assert.deepEqual(await eventsOf(db, user), [eventOf(user, 'signed_out'), ...events]);
  }));

test('a person ends this session, another one of theirs, or all others, and each is recorded', () =>
  withTwo(async (db, { user, session }) => {
    const more = async () => (await createSession(db, user.userId, origin)).session.sessionId;
    const [first, second, third] = [await more(), await more(), await more()];
    const foreign = (await newPerson(db, 'foreign')).session.sessionId;
    assert.equal(await endOwnSession(db, session, origin, foreign), undefined);
    assert.deepEqual(await endOwnSession(db, session, origin, first), { sessionId: first });
    assert.equal(await endOtherSessions(db, session, origin), 2);
    const left = async () => {
      const exists: boolean[] = [];
      for (const id of [session.sessionId, first, second, third, foreign])
        exists.push((await isSessionStored(db, id)).exists);
      return exists;
    };
    assert.deepEqual(await left(), [true, false, false, false, true]);
    await signOut(db, session, origin);
    assert.deepEqual(await left(), [false, false, false, false, true]);
    const ended = (sessions: number) => eventOf(user, 'session_ended', { sessions });
    assert.deepEqual(await eventsOf(db, user), [eventOf(user, 'signed_out'), ended(2), ended(1)]);
  }));

test('a changed password renews this session, ends the others and withdraws resets; without the session it stays', () =>
  withTwo(async (db, person) => {
    const { user, session, checkedHash } = person;
    const other = (await createSession(db, user.userId, origin)).session.sessionId;
    const change = (from: string) =>
      setPasswordAndEndOtherSessions(db, session, origin, { checkedHash: from, passwordHash: 'new' });
    await assert.rejects(change('another'), SignInProofOutdatedError);
    const renewed = (await change(checkedHash)) ?? assert.fail();
    assert.equal(renewed.session.sessionId, session.sessionId);
    assert.ok(await findAndTouchSession(db, renewed.token, { isBackground: true }));
    assert.equal((await isSessionStored(db, other)).exists, false);
    const changed = { session: undefined, passkeys: [[1, false]], passwordHash: 'new', hasReset: false };
    assert.deepEqual(await stateOf(db, person), changed);
    await signOut(db, session, origin);
    assert.equal(
      await setPasswordAndEndOtherSessions(db, session, origin, { checkedHash: 'new', passwordHash: 'third' }),
      undefined,
    );
    assert.deepEqual(await stateOf(db, person), changed);
    assert.deepEqual(await eventsOf(db, user), [eventOf(user, 'signed_out'), eventOf(user, 'password_changed')]);
  }));

type Grant = Parameters<typeof createOneTimeLink>[1];

/** Makes a link and accepts it with these hashes. */
async function acceptNew(
  db: Database,
  grant: Grant,
  email: string,
  hashes: { passwordHash?: string; checkedHash?: string },
) {
  const { token } = await createOneTimeLink(db, grant);
  const link = (await findLink(db, token)) ?? assert.fail();
  const accepted = await acceptLinkAndSignIn(db, { link, email, origin, ...hashes });
  return { accepted, isOpen: (await findLink(db, token)) !== undefined };
}

test('an invitation makes a new user with a password, or gives a known one a role, and signs them in', () =>
  withTwo(async (db, person) => {
    const [email, known] = ['new@example.com', person.user.email];
    const invitation = { purpose: 'invite', accountId, role: 'member', isOperator: false } as const;
    const details = { purpose: 'invite', role: 'member', isOperator: false };
    const made = await acceptNew(db, { ...invitation, email }, email, { passwordHash: 'chosen' });
    const user = (await findUserByEmail(db, email)) ?? assert.fail();
    assert.deepEqual([made.accepted?.session.userId, made.isOpen, user.passwordHash], [user.userId, false, 'chosen']);
    const events = (of: User) => [
      eventOf(of, 'signed_in', { means: 'link' }),
      eventOf(of, 'link_accepted', details, accountId),
    ];
    assert.deepEqual(await eventsOf(db, user), events(user));
    const unproven = await acceptNew(db, { ...invitation, email: known }, known, { passwordHash: 'of another' });
    assert.deepEqual(unproven, { accepted: undefined, isOpen: true });
    const { checkedHash } = person;
    const joined = await acceptNew(db, { ...invitation, email: known }, known, { checkedHash });
    assert.deepEqual([joined.accepted?.session.userId, joined.isOpen], [person.user.userId, false]);
    assert.deepEqual(await eventsOf(db, person.user), events(person.user));
    for (const { userId } of [user, person.user])
      assert.deepEqual(
        (await accountsOfUser(db, userId)).map((own) => [own.accountId, own.role]),
        [[accountId, 'member']],
      );
    const state = await stateOf(db, person);
    assert.deepEqual([state.passwordHash, state.passkeys, state.hasReset], [checkedHash, [[1, false]], true]);
  }));

test('a reset replaces the password, and removes passkeys and earlier sessions', () =>
  withTwo(async (db, person) => {
    const { user } = person;
    const { email } = user;
    const { accepted, isOpen } = await acceptNew(db, { purpose: 'reset', email, isOperator: false }, email, {
      passwordHash: 'new',
    });
    assert.ok(accepted && !isOpen);
    assert.ok(await findAndTouchSession(db, accepted.token, { isBackground: true }));
    const state = { session: undefined, passkeys: [], passwordHash: 'new', hasReset: true };
    assert.deepEqual(await stateOf(db, person), state);
    const details = { purpose: 'reset', isOperator: false };
    assert.deepEqual(await eventsOf(db, user), [
      eventOf(user, 'signed_in', { means: 'link' }),
      eventOf(user, 'link_accepted', details),
    ]);
  }));

test('an invitation into an account that has closed stays unused, and the setup opens the oldest account', () =>
  withTwo(async (db) => {
    const email = 'new@example.com';
    const { token } = await createOneTimeLink(db, {
      purpose: 'invite',
      email,
      accountId,
      role: 'owner',
      isOperator: false,
    });
    const link = (await findLink(db, token)) ?? assert.fail();
    const setup = () => acceptNew(db, { purpose: 'setup', isOperator: true }, email, { passwordHash: 'chosen' });
    await db.run({ name: 'test-close', text: 'update accounts set closed_at = now() where id = $1' }, [accountId]);
    assert.equal(await acceptLinkAndSignIn(db, { link, email, origin, passwordHash: 'chosen' }), undefined);
    assert.equal(await findUserByEmail(db, email), undefined);
    await db.run({ name: 'test-open', text: 'update accounts set closed_at = null where id = $1' }, [accountId]);
    assert.ok((await setup()).accepted);
    const user = (await findUserByEmail(db, email)) ?? assert.fail();
    assert.equal(user.isOperator, true);
    const own = (await accountsOfUser(db, user.userId)).map((one) => [one.accountId, one.role]);
    assert.deepEqual(own, [[accountId, 'owner']]);
  }));
