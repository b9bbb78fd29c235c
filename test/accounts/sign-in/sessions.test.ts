import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setMembership } from '../../../src/accounts/people/memberships.ts';
import { createUser, setUserDisabled } from '../../../src/accounts/people/users.ts';
import {
  createSession,
  endSession,
  endSessionsOfUser,
  findAndTouchSession,
  isSessionStored,
  listSessions,
  renewTokenAndAuthentication,
} from '../../../src/accounts/sign-in/sessions.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import type { StatementRunner } from '../../../src/platform/database/declare-statements.ts';
import { hashToken, newToken } from '../../../src/platform/secrets/secret-token.ts';
import { ago, insertRow, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { origin } from '../../support/service/person.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

const newUser = (email: string) => createUser(database.db, { email, passwordHash: undefined, isOperator: false });
const find = (token: string) => findAndTouchSession(database.db, token, { isBackground: false });

test('a session that is renewed stays that of its person, under a new secret', async () => {
  const { db } = database;
  for (const { userId, email } of [await newUser('a@example.com'), await newUser('b@example.com')]) {
    const first = await createSession(db, userId, origin);
    const renewed = (await renewTokenAndAuthentication(db, first.session.sessionId)) ?? assert.fail();
    const { sessionId } = first.session;
    const shown = {
      sessionId: renewed.session.sessionId,
      userId: renewed.session.userId,
      email: renewed.session.email,
    };
    assert.deepEqual(shown, { sessionId, userId, email });
    assert.equal(await find(first.token), undefined);
    assert.equal((await find(renewed.token))?.email, email);
  }
});

test('an authentication counts from its own time, and from now at the latest', async () => {
  const { db } = database;
  const { userId } = await newUser('c@example.com');
  const { session } = await createSession(db, userId, origin, 5_000);
  assert.deepEqual([session.authenticatedAt, session.isRecent], [5_000, false]);
  const renewed = await renewTokenAndAuthentication(db, session.sessionId, Date.now() + 86_400_000);
  assert.equal(renewed?.session.isRecent, true);
  assert.ok(renewed.session.authenticatedAt < Date.now() + 43_200_000);
});

test('sessions are listed by their last use, each with the time at which it ends without another', async () => {
  const { db } = database;
  const { userId } = await newUser('d@example.com');
  const made = [];
  for (let count = 0; count < 3; count += 1) made.push((await createSession(db, userId, origin)).session.sessionId);
  const [first, second, third] = made;
  const use = `update sessions set last_used_at = now() - $2 * interval '1 hour' where id = $1`;
  for (const [sessionId, hours] of [
    [first, 1],
    [second, 3],
    [third, 2],
  ] as const)
    await db.run({ name: 'test-use', text: use }, [sessionId, hours]);
  const listed = await listSessions(db, userId);
  assert.deepEqual(
    listed.map(({ sessionId }) => sessionId),
    [first, third, second],
  );
  for (const { expiresAt, lastUsedAt } of listed) assert.equal(expiresAt - lastUsedAt, 12 * 3_600_000);
});

const [minuteMs, hourMs] = [60_000, 3_600_000];
let people = 0;

/** A session with these columns, of a new person unless one is given, and its secret. */
async function newSession(
  db: StatementRunner,
  row: Readonly<Record<string, unknown>> = {},
  of?: string,
  isOperator = false,
) {
  const email = `session-${(people += 1)}@example.com`;
  const userId = of ?? (await createUser(db, { email, passwordHash: undefined, isOperator })).userId;
  const [token, sessionId] = [newToken(), randomUUID()];
  const about = { id: sessionId, user_id: userId, hash: hashToken(token), address: '192.0.2.1', user_agent: 'test' };
  await insertRow(db, 'sessions', { ...about, expires_at: ago(-hourMs), ...row });
  return { token, sessionId, userId };
}

test('a session lives until its end, and shorter without use; that of an operator an hour, and of no disabled person', () =>
  rolledBack(database.db, async (db) => {
    for (const [row, isOperator, lives] of [
      [{ expires_at: ago(-1) }, false, true],
      [{ expires_at: ago(0) }, false, false],
      [{ last_used_at: ago(12 * hourMs - 1) }, false, true],
      [{ last_used_at: ago(12 * hourMs) }, false, false],
      [{ last_used_at: ago(hourMs - 1) }, true, true],
      [{ last_used_at: ago(hourMs) }, true, false],
    ] as const) {
      const { token, sessionId, userId } = await newSession(db, row, undefined, isOperator);
      const lived = [
        (await listSessions(db, userId)).length === 1,
        (await findAndTouchSession(db, token, { isBackground: true }))?.sessionId === sessionId,
        (await renewTokenAndAuthentication(db, sessionId)) !== undefined,
      ];
      assert.deepEqual(lived, [lives, lives, lives], JSON.stringify([row, isOperator]));
    }
    const { token, userId } = await newSession(db);
    await setUserDisabled(db, userId, true);
    assert.equal(await findAndTouchSession(db, token, { isBackground: true }), undefined);
    assert.equal(await findAndTouchSession(db, newToken(), { isBackground: true }), undefined);
  }));

test('a new session lasts a week, that of an operator twelve hours, and is the last sign-in of its person alone', () =>
  rolledBack(database.db, async (db) => {
    const other = (await newSession(db)).userId;
    for (const [isOperator, hours] of [
      [false, 7 * 24],
      [true, 12],
    ] as const) {
      const email = `lasts-${hours}@example.com`;
      const { userId } = await createUser(db, { email, passwordHash: undefined, isOperator });
      const { session, token } = await createSession(db, userId, origin);
      const { sessionId, authenticatedAt } = session;
      const expiresAt = authenticatedAt + hours * hourMs;
      assert.deepEqual(session, { sessionId, userId, email, isOperator, authenticatedAt, expiresAt, isRecent: true });
      const found = await findAndTouchSession(db, token, { isBackground: true });
      assert.deepEqual(found, { ...session, role: undefined, suspended: false, isView: false });
      const text = 'select last_sign_in_at = now() as is_now from users where id = any($1::uuid[]) order by id = $2';
      const signedIn = await db.run({ name: 'test-signed-in', text }, [[userId, other], userId]);
      assert.deepEqual(signedIn, [{ is_now: null }, { is_now: true }]);
    }
  }));

test('a request is use of its session, at most once a minute, unless it runs in the background', () =>
  rolledBack(database.db, async (db) => {
    const other = await newSession(db, { last_used_at: ago(5 * minuteMs) });
    const usedMs = async (sessionId: string) => {
      const text = 'select (extract(epoch from now() - last_used_at) * 1000)::int as ms from sessions where id = $1';
      return (await db.run<{ ms: number }>({ name: 'test-used', text }, [sessionId]))[0]?.ms;
    };
    for (const [beforeMs, isBackground, afterMs] of [
      [minuteMs, false, minuteMs],
      [minuteMs + 1, false, 0],
      [minuteMs + 1, true, minuteMs + 1],
    ] as const) {
      const { token, sessionId } = await newSession(db, { last_used_at: ago(beforeMs) });
      await findAndTouchSession(db, token, { isBackground });
      assert.equal(await usedMs(sessionId), afterMs);
    }
    assert.equal(await usedMs(other.sessionId), 5 * minuteMs);
  }));

test('an authentication is recent for ten minutes, also after its session is renewed', () =>
  rolledBack(database.db, async (db) => {
    for (const [ms, isRecent] of [
      [10 * minuteMs - 1, true],
      [10 * minuteMs, false],
    ] as const) {
      const { token } = await newSession(db, { authenticated_at: ago(ms) });
      assert.equal((await findAndTouchSession(db, token, { isBackground: true }))?.isRecent, isRecent);
    }
  }));

test('a session has the role of its person in an account, or the view of an operator without a role there', async () => {
  const accounts = [
    await createAccount(database.db, { name: 'one', credits: 0 }),
    await createAccount(database.db, { name: 'two', credits: 0 }),
  ] as const;
  await rolledBack(database.db, async (db) => {
    const suspend = 'update accounts set suspended_at = now() where id = $1';
    const viewing = (until: number) => ({ viewed_account_id: accounts[1], viewed_until: ago(-until) });
    const [none, view] = [{ role: undefined, suspended: false, isView: false }, viewing(1)];
    for (const [row, isOperator, isMember, accountId, expected] of [
      [{}, false, true, accounts[1], { ...none, role: 'member' }],
      [{}, false, true, accounts[0], none],
      [{}, false, true, undefined, none],
      [view, true, false, accounts[1], { ...none, isView: true }],
      [view, true, false, accounts[0], none],
      [view, true, false, undefined, none],
      [viewing(0), true, false, accounts[1], none],
      [view, false, false, accounts[1], none],
      [view, true, true, accounts[1], { ...none, role: 'member' }],
    ] as const) {
      const { token, userId } = await newSession(db, row, undefined, isOperator);
      if (isMember) await setMembership(db, accounts[1], userId, 'member');
      const found = await findAndTouchSession(db, token, { accountId, isBackground: true });
      const { role, suspended, isView } = found ?? assert.fail();
      assert.deepEqual({ role, suspended, isView }, expected, JSON.stringify([row, isOperator, isMember, accountId]));
    }
    const { token, userId } = await newSession(db);
    await setMembership(db, accounts[0], userId, 'owner');
    await db.run({ name: 'test-suspend-one', text: suspend }, [accounts[0]]);
    const found = await findAndTouchSession(db, token, { accountId: accounts[0], isBackground: true });
    assert.deepEqual([found?.role, found?.suspended], ['owner', true]);
  });
});

test('a person ends one session of theirs, or all but one, and those of no one else', () =>
  rolledBack(database.db, async (db) => {
    const first = await newSession(db);
    const [second, third] = [await newSession(db, {}, first.userId), await newSession(db, {}, first.userId)];
    const other = await newSession(db);
    const all = [first, second, third, other] as const;
    const left = async () =>
      Promise.all(all.map(async ({ sessionId }) => (await isSessionStored(db, sessionId)).exists));
    assert.equal(await endSession(db, first.userId, other.sessionId), undefined);
    assert.deepEqual(await left(), [true, true, true, true]);
    assert.deepEqual(await endSession(db, first.userId, first.sessionId), { sessionId: first.sessionId });
    assert.deepEqual(await left(), [false, true, true, true]);
    const [ended] = [await endSessionsOfUser(db, first.userId, third.sessionId)];
    assert.deepEqual(ended, [{ sessionId: second.sessionId }]);
    assert.deepEqual(await endSessionsOfUser(db, first.userId), [{ sessionId: third.sessionId }]);
    assert.deepEqual(await left(), [false, false, false, true]);
  }));
