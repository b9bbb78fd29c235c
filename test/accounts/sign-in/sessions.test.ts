import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createUser } from '../../../src/accounts/people/users.ts';
import {
  createSession,
  findAndTouchSession,
  listSessions,
  rotateSessionToken,
} from '../../../src/accounts/sign-in/sessions.ts';
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
    const renewed = (await rotateSessionToken(db, first.session.sessionId)) ?? assert.fail();
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
  const renewed = await rotateSessionToken(db, session.sessionId, Date.now() + 86_400_000);
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
