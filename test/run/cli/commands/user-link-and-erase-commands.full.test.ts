import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAccount } from '../../../../src/credits/open-account.ts';
import { setMembership } from '../../../../src/accounts/people/memberships.ts';
import { findLink } from '../../../../src/accounts/sign-in/one-time-links.ts';
import { listOperatorActions } from '../../../../src/accounts/operators/audit-log.ts';
import { invitePersonAs } from '../../../../src/accounts/people/change-users-as-operator.ts';
import { createUser } from '../../../../src/accounts/people/users.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database/test-database.ts';
import { videogen } from '../../../support/processes/run-videogen.ts';

let database: TestDatabase;
let smtp: Readonly<Record<string, string>> = {};
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

async function run(...args: readonly string[]): Promise<{ json: Record<string, unknown>; stderr: string }> {
  const env = {
    ...process.env,
    DATABASE_URL: database.url,
    VIDEOGEN_SECRET: 's'.repeat(32),
    PUBLIC_URL: 'https://video.example.com',
    ...smtp,
  };
  const { stdout, stderr } = await videogen(env, 'user', ...args, '--json');
  // A command with --json prints one JSON object, and nothing when it is refused.
  return { json: JSON.parse(stdout === '' ? '{}' : stdout) as Record<string, unknown>, stderr };
}

/** The link behind an address that a command printed. */
async function linkAt(url: unknown, purpose: string) {
  const [, token = ''] =
    new RegExp(`^https://video\\.example\\.com/console/${purpose}#([\\w-]{43})$`).exec(String(url)) ?? [];
  return findLink(database.db, token);
}

test('the setup link is created while there is no operator', async () => {
  const { json } = await run('setup-link');
  assert.equal((await linkAt(json['url'], 'setup'))?.isOperator, true);
  await createUser(database.db, { email: 'ada@example.com', passwordHash: 'x', isOperator: true });
  assert.equal(await linkAt(json['url'], 'setup'), undefined, 'of no use from then on');
  assert.match((await run('setup-link')).stderr, /has an operator already/);
});

test('reset creates a link for a person by address, which is also mailed if there is a mail server', async () => {
  const { db } = database;
  await createUser(db, { email: 'erin@example.com', passwordHash: 'x', isOperator: false });
  const { json } = await run('reset', 'Erin@Example.com');
  assert.equal((await linkAt(json['url'], 'reset'))?.email, 'erin@example.com');
  assert.equal(json['isMailed'], false);
  const [latest] = await listOperatorActions(db, { limit: 1 });
  assert.equal(latest?.action, 'people.reset');
  assert.ok(!JSON.stringify(latest).includes(String(json['url']).slice(-43)));
  assert.match((await run('reset', 'unknown@example.com')).stderr, /no user has the address/);
  assert.match((await run('reset', 'erin')).stderr, /must be an e-mail address/);
  smtp = { SMTP_URL: 'smtp://mail.example.com', SMTP_FROM: 'no-reply@example.com' };
  assert.equal((await run('reset', 'erin@example.com')).json['isMailed'], true);
  smtp = {};
  const text = `select kind, state from mails where recipient = 'erin@example.com'`;
  assert.deepEqual(await db.run({ name: 'test-mails', text }), [{ kind: 'reset', state: 'waiting' }]);
});

test('erase deletes a person by address or id, and an address that was only invited, for good', async () => {
  const { db } = database;
  const [frank, grace] = [
    await createUser(db, { email: 'frank@example.com', passwordHash: 'x', isOperator: false }),
    await createUser(db, { email: 'grace@example.com', passwordHash: 'x', isOperator: false }),
  ];
  const invited = { email: 'heidi@example.com', isOperator: true, accountId: undefined, role: undefined };
  await invitePersonAs(db, { kind: 'command_line', name: 'ada' }, invited, undefined);
  assert.deepEqual((await run('erase', 'Frank@Example.com')).json, { userId: frank.userId });
  assert.deepEqual((await run('erase', grace.userId)).json, { userId: grace.userId });
  assert.deepEqual((await run('erase', 'heidi@example.com')).json, { userId: null });
  const actions = await listOperatorActions(db, { limit: 100 });
  assert.equal(actions.filter(({ action }) => action === 'people.erase').length, 3);
  assert.ok(!/frank|grace|heidi/.test(JSON.stringify(actions)));
  for (const address of ['frank@example.com', 'heidi@example.com'])
    assert.match((await run('erase', address)).stderr, /no user has the address/);
  assert.match((await run('erase', '019abc12-3456-7def-8901-234567890abc')).stderr, /no user has the id/);
  assert.match((await run('erase', 'ada@example.com')).stderr, /the only operator/);
  const accountId = await createAccount(db, { name: 'owned', credits: 0 });
  const ivan = await createUser(db, { email: 'ivan@example.com', passwordHash: 'x', isOperator: false });
  await setMembership(db, accountId, ivan.userId, 'owner');
  assert.match((await run('erase', 'ivan@example.com')).stderr, new RegExp(`account ${accountId} has no other owner`));
});
