import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setMembership } from '../../../src/accounts/people/memberships.ts';
import {
  listAccountSecurityEvents,
  listAllSecurityEvents,
  recordSecurityEvent,
} from '../../../src/accounts/people/security-events.ts';
import { createUser } from '../../../src/accounts/people/users.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

const idsOf = (events: readonly { readonly eventId: number }[]) => events.map(({ eventId }) => eventId);

test('an account lists its events and those of its members that concern no other account, newest first, in pages', async () => {
  const { db } = database;
  const accounts = [
    await createAccount(db, { name: 'own', credits: 0 }),
    await createAccount(db, { name: 'other', credits: 0 }),
  ] as const;
  const newUser = (name: string) =>
    createUser(db, { email: `${name}@example.com`, passwordHash: 'x', isOperator: false });
  const [member, stranger] = [await newUser('member'), await newUser('stranger')];
  await setMembership(db, accounts[0], member.userId, 'owner');
  await setMembership(db, accounts[1], stranger.userId, 'owner');
  const origin = { address: '192.0.2.1', userAgent: 'browser' };
  const record = async (userId: string, accountId?: string) => {
    await recordSecurityEvent(db, {
      kind: 'signed_in',
      userId,
      accountId,
      email: 'a@b.test',
      actor: 'ada',
      origin,
      details: { a: 1 },
    });
    const [latest] = await listAllSecurityEvents(db, { limit: 1 });
    assert.ok(latest);
    return latest;
  };
  const first = await record(member.userId, accounts[0]);
  const second = await record(member.userId);
  const elsewhere = [
    await record(member.userId, accounts[1]),
    await record(stranger.userId),
    await record(stranger.userId, accounts[1]),
  ];
  const third = await record(stranger.userId, accounts[0]);
  const { eventId, createdAt, ...fields } = third;
  assert.ok(eventId > second.eventId && createdAt > 0);
  assert.deepEqual(fields, {
    kind: 'signed_in',
    userId: stranger.userId,
    email: 'a@b.test',
    accountId: accounts[0],
    actor: 'ada',
    ...origin,
    details: { a: 1 },
  });
  const own = idsOf([third, second, first]);
  const pageOf = async (limit: number, cursor?: number) =>
    idsOf(await listAccountSecurityEvents(db, accounts[0], { before: cursor, limit }));
  assert.deepEqual(await pageOf(10), own);
  assert.deepEqual(
    [await pageOf(1), await pageOf(1, own[0]), await pageOf(1, own[1])],
    own.map((id) => [id]),
  );
  assert.deepEqual(await pageOf(2, own[0]), own.slice(1));
  const all = idsOf([third, ...elsewhere.toReversed(), second, first]);
  assert.deepEqual(idsOf(await listAllSecurityEvents(db, { limit: all.length })), all);
  assert.deepEqual(idsOf(await listAllSecurityEvents(db, { before: all[1], limit: 2 })), all.slice(2, 4));
});
