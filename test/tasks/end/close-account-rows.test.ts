import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { createKeyUnchecked, listApiKeys } from '../../../src/accounts/keys/keys.ts';
import { listOperatorActions } from '../../../src/accounts/operators/audit-log.ts';
import { setMembership } from '../../../src/accounts/people/memberships.ts';
import { listAllSecurityEvents } from '../../../src/accounts/people/security-events.ts';
import { createUser } from '../../../src/accounts/people/users.ts';
import { createOneTimeLink } from '../../../src/accounts/sign-in/one-time-links.ts';
import { createSession } from '../../../src/accounts/sign-in/sessions.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import type { StatementRunner } from '../../../src/platform/database/declare-statements.ts';
import {
  closeAccountAs,
  closeOwnAccount,
  finishClosure,
  isClosing,
  listAccountUploads,
  listOpenClosures,
  listTasksOfClosedAccount,
} from '../../../src/tasks/end/close-account-rows.ts';
import { ago, failedAgo, insertRow, insertTask, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { origin, shell } from '../../support/service/person.ts';

let database: TestDatabase;
let accountId: string;
let otherAccountId: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'closed', credits: 0 });
  otherAccountId = await createAccount(database.db, { name: 'other', credits: 0 });
});
after(() => database.close());

const run = (db: StatementRunner, text: string, values: readonly unknown[] = []) =>
  db.run({ name: 'test-closing', text, plannedAnew: true }, values);
const countOf = async (db: StatementRunner, what: string): Promise<unknown> =>
  (await run(db, `select count(*)::int as rows from ${what}`))[0]?.['rows'];

async function addAccess(db: StatementRunner, of: string) {
  const newUser = async (isOperator = false) => {
    const email = `${randomUUID()}@example.com`;
    const { userId } = await createUser(db, { email, passwordHash: undefined, isOperator });
    await setMembership(db, of, userId, 'member');
    return userId;
  };
  const [member, operator, elsewhere] = [await newUser(), await newUser(true), await newUser()];
  await createKeyUnchecked(db, { accountId: of, name: 'active', scopes: [] });
  const revoked = await createKeyUnchecked(db, { accountId: of, name: 'revoked', scopes: [] });
  await run(db, 'update api_keys set revoked_at = to_timestamp(5) where id = $1', [revoked?.keyId]);
  const invitee = { email: 'a@example.com', accountId: of, role: 'viewer', isOperator: false } as const;
  await createOneTimeLink(db, { purpose: 'invite', ...invitee });
  await insertRow(db, 'event_endpoints', { account_id: of, url: 'http://events.test/', types: [] });
  return { member, operator, elsewhere };
}

async function accessOf(db: StatementRunner, of: string) {
  const { suspendedAt, closedAt } = (await findAccount(db, of)) ?? assert.fail();
  const keys = (await listApiKeys(db, of)).map(({ name, revokedAt }) => [name, revokedAt]);
  const where = `where account_id = '${of}'`;
  const rows = ['memberships', 'one_time_links', 'event_endpoints', 'account_closures'];
  return {
    suspendedAt,
    closedAt,
    keys: Object.fromEntries(keys) as unknown, // by name
    rows: await Promise.all(rows.map((table) => countOf(db, `${table} ${where}`))),
  };
}

test('a closure ends every access to its account, is recorded once, and changes no other account', () =>
  rolledBack(database.db, async (db) => {
    const { member, operator, elsewhere } = await addAccess(db, accountId);
    await addAccess(db, otherAccountId);
    await setMembership(db, otherAccountId, elsewhere, 'viewer');
    const untouched = await accessOf(db, otherAccountId);
    assert.deepEqual(untouched.rows, [4, 1, 1, 0]);
    const close = (of: string) => closeAccountAs(db, shell, { accountId: of, reason: 'requested' });
    const closed = (await close(accountId)) ?? assert.fail();
    const { closedAt } = closed;
    assert.ok(closedAt !== undefined);
    assert.deepEqual(await findAccount(db, accountId), closed);
    const keys = { active: closedAt, revoked: 5_000 };
    const ended = { suspendedAt: closedAt, closedAt, keys, rows: [0, 0, 0, 1] };
    assert.deepEqual(await accessOf(db, accountId), ended);
    assert.deepEqual(await accessOf(db, otherAccountId), untouched);
    const unattached = await run(db, 'select id from users where unattached_since = now() and id = any($1::uuid[])', [
      [member, operator, elsewhere],
    ]);
    assert.deepEqual(unattached, [{ id: member }]);
    assert.deepEqual(await close(accountId), closed);
    assert.equal(await close(randomUUID()), undefined);
    const actions = (await listOperatorActions(db, { limit: 9 })).map(({ action, details, ...rest }) => [
      action,
      rest.accountId,
      details,
    ]);
    assert.deepEqual(actions, [['accounts.close', accountId, { reason: 'requested' }]]);
  }));

test('a suspended account stays suspended since then when its owner closes it, which is an event once', () =>
  rolledBack(database.db, async (db) => {
    await run(db, 'update accounts set suspended_at = to_timestamp(5) where id = $1', [accountId]);
    const email = 'owner@example.com';
    const { userId } = await createUser(db, { email, passwordHash: undefined, isOperator: false });
    const { session } = await createSession(db, userId, origin);
    for (let times = 0; times < 2; times += 1) await closeOwnAccount(db, { session, accountId, origin });
    const { suspendedAt, closedAt = 0 } = (await findAccount(db, accountId)) ?? assert.fail();
    assert.ok(closedAt > 5_000);
    assert.equal(suspendedAt, 5_000);
    const events = (await listAllSecurityEvents(db, { limit: 9 })).map(
      ({ eventId: _id, createdAt: _at, details: _details, ...event }) => event,
    );
    assert.deepEqual(events, [{ kind: 'account_closed', userId, email, accountId, actor: undefined, ...origin }]);
  }));

test('open closures are listed in pages, and an account is being closed until its closure has finished', () =>
  rolledBack(database.db, async (db) => {
    const ids = [1, 2, 3].map((digit) => `00000000-0000-4000-8000-00000000000${digit}`);
    const [first = '', second = '', finished = ''] = ids;
    for (const id of [first, second]) await insertRow(db, 'account_closures', { account_id: id });
    await insertRow(db, 'account_closures', { account_id: finished, finished_at: ago(0) });
    const list = async (from: string | undefined, limit: number) =>
      (await listOpenClosures(db, { after: from, limit })).map((closure) => closure.accountId);
    assert.deepEqual(
      [await list(undefined, 9), await list(undefined, 1), await list(first, 9)],
      [[first, second], [first], [second]],
    );
    const closing = await Promise.all([...ids, accountId].map(async (id) => (await isClosing(db, id)).isClosing));
    assert.deepEqual(closing, [true, true, false, false]);
  }));

test('the tasks of an account are listed from the newest on, with what is left of each', () =>
  rolledBack(database.db, async (db) => {
    const deleted = { ...failedAgo(0), content_deleted_at: ago(0) };
    const expected: { readonly taskId: string; readonly isEmpty: boolean }[] = [];
    for (const [row, deletion, isEmpty] of [
      [{}, undefined, false],
      [failedAgo(0), undefined, false],
      [deleted, undefined, true],
      [deleted, { swept_at: null }, false],
      [deleted, { swept_at: ago(0) }, true],
    ] as const) {
      const taskId = await insertTask(db, accountId, { ...row, created_at: ago(expected.length) });
      const owed = { task_id: taskId, account_id: accountId, upload_ids: [] };
      if (deletion !== undefined) await insertRow(db, 'content_deletions', { ...owed, ...deletion });
      expected.push({ taskId, isEmpty });
    }
    await insertTask(db, otherAccountId);
    const list = (limit: number, from?: string) => listTasksOfClosedAccount(db, accountId, { after: from, limit });
    assert.deepEqual(await list(9), expected);
    assert.deepEqual([await list(2), await list(9, expected[1]?.taskId)], [expected.slice(0, 2), expected.slice(2)]);
  }));

test('a closure finishes when no file and no deletion of its account is left, and takes its secrets and events', () =>
  rolledBack(database.db, async (db) => {
    const finish = async () => (await finishClosure(db, accountId)).outcome;
    assert.equal(await finish(), 'not_open');
    for (const of of [accountId, otherAccountId]) {
      await insertRow(db, 'account_closures', { account_id: of });
      await insertRow(db, 'callback_secrets', { account_id: of, sealed: 'x' });
      const event = { account_id: of, url: 'http://events.test/', event: 'balance.low', details: '{}' };
      await insertRow(db, 'callback_deliveries', event);
      const taskId = await insertTask(db, of, failedAgo(0));
      await insertRow(db, 'callback_deliveries', { id: taskId, task_id: taskId, account_id: of, url: event.url });
    }
    const upload = (of: string, ms: number) => ({
      id: randomUUID(),
      account_id: of,
      file_name: 'video.mp4',
      bytes: 1,
      expires_at: ago(ms),
    });
    const uploads = [upload(accountId, 0), upload(accountId, 9), upload(otherAccountId, 0)] as const;
    for (const one of uploads) await insertRow(db, 'uploads', one);
    const listed = (index: 0 | 1) => ({ uploadId: uploads[index].id, fileName: 'video.mp4' });
    assert.deepEqual(await listAccountUploads(db, accountId, 9), [listed(1), listed(0)]);
    assert.deepEqual(await listAccountUploads(db, accountId, 1), [listed(1)]);
    assert.equal(await finish(), 'not_empty');
    await run(db, 'delete from uploads where account_id = $1', [accountId]);
    const taskId = await insertTask(db, accountId, { ...failedAgo(0), content_deleted_at: ago(0) });
    await insertRow(db, 'content_deletions', { task_id: taskId, account_id: accountId, upload_ids: [] });
    assert.equal(await finish(), 'not_empty');
    await run(db, 'update content_deletions set swept_at = now() where account_id = $1', [accountId]);
    const left = async () => {
      const tables = ['callback_secrets', 'callback_deliveries', 'account_closures where finished_at is null and true'];
      const of = (id: string) =>
        Promise.all(
          tables.map((table) =>
            countOf(db, `${table} ${table.includes('where') ? 'and' : 'where'} account_id = '${id}'`),
          ),
        );
      return [await of(accountId), await of(otherAccountId)];
    };
    assert.deepEqual(await left(), [
      [1, 2, 1],
      [1, 2, 1],
    ]);
    assert.equal(await finish(), 'finished');
    assert.deepEqual(await left(), [
      [0, 1, 0],
      [1, 2, 1],
    ]);
    assert.equal(await finish(), 'not_open');
  }));
