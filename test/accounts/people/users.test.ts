import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { listOperatorActions } from '../../../src/accounts/operators/audit-log.ts';
import {
  createSetupLink,
  endSessionsOfUserAs,
  setUserDisabledAs,
  setUserIsOperatorAs,
} from '../../../src/accounts/people/change-users-as-operator.ts';
import { setMembership } from '../../../src/accounts/people/memberships.ts';
import { listAllSecurityEvents } from '../../../src/accounts/people/security-events.ts';
import {
  createUser,
  findUser,
  findUserByEmail,
  hasOperator,
  writePasswordHash,
  setUserIsOperator,
} from '../../../src/accounts/people/users.ts';
import {
  beginAccountViewAs,
  clearAccountView,
  findAccountView,
} from '../../../src/accounts/people/view-account-as-owner.ts';
import { createOneTimeLink, findLink } from '../../../src/accounts/sign-in/one-time-links.ts';
import { createSession, isSessionStored } from '../../../src/accounts/sign-in/sessions.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import type { StatementRunner } from '../../../src/platform/database/declare-statements.ts';
import { rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { origin, shell } from '../../support/service/person.ts';

let database: TestDatabase;
let accountId: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'viewed', credits: 0 });
});
after(() => database.close());

const newUser = (db: StatementRunner, name: string, isOperator = false) =>
  createUser(db, { email: `${name}@example.com`, passwordHash: 'hash', isOperator });

const run = (db: StatementRunner, text: string, values: readonly unknown[] = []) =>
  db.run({ name: 'test-users', text, plannedAnew: true }, values);

/** The person with a session and an open link. */
async function newPerson(db: StatementRunner, name: string, isOperator = false) {
  const user = await newUser(db, name, isOperator);
  const { sessionId } = (await createSession(db, user.userId, origin)).session;
  const { token } = await createOneTimeLink(db, { purpose: 'reset', email: user.email, isOperator: false });
  const access = async () => [(await isSessionStored(db, sessionId)).exists, (await findLink(db, token)) !== undefined];
  return { ...user, sessionId, access };
}

test('a user is found by id and by e-mail as made, and a password is that of one user', () =>
  rolledBack(database.db, async (db) => {
    const mailboxHash = Buffer.alloc(32, 7);
    const made = await createUser(db, { email: 'a@example.com', passwordHash: 'hash', isOperator: true, mailboxHash });
    const other = await newUser(db, 'b');
    const user = {
      userId: made.userId,
      email: 'a@example.com',
      passwordHash: 'hash',
      isOperator: true,
      isDisabled: false,
    };
    assert.deepEqual(made, user);
    assert.deepEqual([await findUser(db, made.userId), await findUserByEmail(db, 'a@example.com')], [user, user]);
    assert.deepEqual(await run(db, 'select id from users where mailbox_hash = $1', [mailboxHash]), [
      { id: made.userId },
    ]);
    await writePasswordHash(db, made.userId, 'another');
    assert.deepEqual(await findUser(db, made.userId), { ...user, passwordHash: 'another' });
    assert.deepEqual(await findUser(db, other.userId), other);
    assert.equal(await findUser(db, randomUUID()), undefined);
  }));

test('who is no operator any more and has no account is kept from then on, and no other one', () =>
  rolledBack(database.db, async (db) => {
    const [alone, member, other] = [await newUser(db, 'a', true), await newUser(db, 'b', true), await newUser(db, 'c')];
    await setMembership(db, accountId, member.userId, 'viewer');
    await run(db, `update users set unattached_since = to_timestamp(5)`);
    for (const { userId } of [alone, member]) await setUserIsOperator(db, userId, true);
    const since = () =>
      run(db, 'select unattached_since = now() as now, unattached_since as at from users order by email');
    const untouched = { now: false, at: 5_000 };
    const none = { now: null, at: null };
    assert.deepEqual(await since(), [none, none, untouched]);
    for (const { userId } of [alone, member]) await setUserIsOperator(db, userId, false);
    const [first, ...rest] = await since();
    assert.deepEqual([first?.['now'], rest], [true, [none, untouched]]);
    assert.equal((await findUser(db, other.userId))?.isOperator, false);
  }));

test('an operator changes one person: their sessions end, their links where they lose rights, and it is recorded once', () =>
  rolledBack(database.db, async (db) => {
    await newUser(db, 'another', true);
    for (const [name, change, wasOperator, action, kind, access] of [
      [
        'disable',
        (userId: string) => setUserDisabledAs(db, shell, { userId }, true),
        false,
        'people.disable',
        'user_disabled',
        [false, false],
      ],
      [
        'enable',
        (userId: string) => setUserDisabledAs(db, shell, { userId }, false),
        false,
        undefined,
        undefined,
        [true, true],
      ],
      [
        'promote',
        (userId: string) => setUserIsOperatorAs(db, shell, { userId }, true),
        false,
        'people.operator',
        'operator_changed',
        [false, true],
      ],
      [
        'demote',
        (userId: string) => setUserIsOperatorAs(db, shell, { userId }, false),
        true,
        'people.operator',
        'operator_changed',
        [false, false],
      ],
      [
        'sign-out',
        (userId: string) => endSessionsOfUserAs(db, shell, { userId }),
        false,
        'people.end_sessions',
        'session_ended',
        [false, true],
      ],
    ] as const) {
      const [person, bystander] = [
        await newPerson(db, name, wasOperator),
        await newPerson(db, `${name}-bystander`, wasOperator),
      ];
      const userBefore = (await findUser(db, bystander.userId)) ?? assert.fail();
      const earlier = (await listOperatorActions(db, { limit: 99 })).length;
      for (let times = 0; times < 2; times += 1) await change(person.userId);
      assert.deepEqual(await person.access(), access, name);
      assert.deepEqual(
        [await bystander.access(), await findUser(db, bystander.userId)],
        [[true, true], userBefore],
        name,
      );
      const { userId, email } = person;
      const done = (await listOperatorActions(db, { limit: 99 })).slice(0, -earlier || undefined);
      assert.deepEqual(
        done.map(({ action: of, details }) => [of, details]),
        action === undefined ? [] : [[action, { userId, email }]],
      );
      const events = (await listAllSecurityEvents(db, { limit: 99 })).filter((event) => event.userId === userId);
      const mails = events.map((event) => [event.kind, event.email, event.actor]);
      assert.deepEqual(mails, kind === undefined ? [] : [[kind, email, shell.name]]);
      if (kind === 'user_disabled') {
        assert.equal((await findUser(db, userId))?.isDisabled, true);
        await setUserDisabledAs(db, shell, { email }, false);
        assert.equal((await findUser(db, userId))?.isDisabled, false);
      }
    }
    assert.equal(await setUserDisabledAs(db, shell, { userId: randomUUID() }, true), undefined);
    assert.equal(await setUserDisabledAs(db, shell, { email: 'unknown@example.com' }, true), undefined);
  }));

test('the last enabled operator stays, and a setup link needs an installation without operators', () =>
  rolledBack(database.db, async (db) => {
    const first = (await createSetupLink(db)) ?? assert.fail();
    const second = (await createSetupLink(db)) ?? assert.fail();
    assert.deepEqual(
      [await findLink(db, first.token), (await findLink(db, second.token))?.isOperator],
      [undefined, true],
    );
    assert.equal((await hasOperator(db)).exists, false);
    const [last, disabled] = [await newUser(db, 'last', true), await newUser(db, 'disabled', true)];
    assert.equal((await hasOperator(db)).exists, true);
    assert.equal(await createSetupLink(db), undefined);
    const { userId } = last;
    await setUserDisabledAs(db, shell, { userId: disabled.userId }, true);
    assert.equal(await setUserDisabledAs(db, shell, { userId }, true), 'last_operator');
    assert.equal(await setUserIsOperatorAs(db, shell, { userId }, false), 'last_operator');
    assert.deepEqual(await findUser(db, userId), last);
    await setUserIsOperatorAs(db, shell, { userId: disabled.userId }, false);
    assert.equal((await findUser(db, disabled.userId))?.isOperator, false, 'a disabled one is not the last');
  }));

test('a view of an account belongs to one session, for an hour, and is recorded', () =>
  rolledBack(database.db, async (db) => {
    const other = await createAccount(db, { name: 'other', credits: 0 });
    const [operator, bystander] = [await newPerson(db, 'viewer', true), await newPerson(db, 'bystander', true)];
    const { sessionId } = operator;
    const begin = (of: string) => beginAccountViewAs(db, shell, { sessionId, accountId: of, reason: 'a test' });
    assert.equal(await begin(randomUUID()), false);
    assert.equal(await findAccountView(db, sessionId), undefined);
    assert.deepEqual([await begin(other), await begin(accountId)], [true, true]);
    await run(db, `update accounts set suspended_at = to_timestamp(5), suspension_reason = 'bills' where id = $1`, [
      accountId,
    ]);
    const [row] = await db.run<{ at: number }>({
      name: 'test-hour',
      text: `select now() + interval '1 hour' as at`,
    });
    const view = { accountId, name: 'viewed', suspendedAt: 5_000, suspensionReason: 'bills', expiresAt: row?.at };
    assert.deepEqual(await findAccountView(db, sessionId), view);
    assert.equal(await findAccountView(db, bystander.sessionId), undefined);
    const actions = (await listOperatorActions(db, { limit: 9 })).map((one) => [
      one.action,
      one.accountId,
      one.details,
    ]);
    const details = { reason: 'a test' };
    assert.deepEqual(actions, [
      ['accounts.view', accountId, details],
      ['accounts.view', other, details],
    ]);
    const expire = 'update sessions set viewed_until = now() + $2 * interval $$1 ms$$ where id = $1';
    for (const [ms, isOpen] of [
      [1, true],
      [0, false],
    ] as const) {
      await run(db, expire, [sessionId, ms]);
      assert.equal((await findAccountView(db, sessionId)) !== undefined, isOpen);
    }
    await begin(accountId);
    await clearAccountView(db, bystander.sessionId);
    assert.ok(await findAccountView(db, sessionId));
    await clearAccountView(db, sessionId);
    assert.equal(await findAccountView(db, sessionId), undefined);
  }));
