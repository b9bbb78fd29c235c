import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findLink } from '../../src/people/one-time-links.ts';
import { closedSignUp, requestSignUp } from '../../src/people/sign-up.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { videogen } from '../support/videogen.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

async function run(args: readonly string[], smtp: Readonly<Record<string, string>> = {}) {
  const { DATABASE_URL, VIDEOGEN_SECRET } = { DATABASE_URL: database.url, VIDEOGEN_SECRET: 's'.repeat(32) };
  const env = { ...process.env, DATABASE_URL, VIDEOGEN_SECRET, PUBLIC_URL: 'https://video.example.com', ...smtp };
  const { stdout, stderr } = await videogen(env, ...args);
  return { stdout, stderr };
}

test('an operator without a mail server lists sign-ups and creates a link, which opens the account', async () => {
  const policy = { ...closedSignUp, mode: 'open' } as const;
  await requestSignUp(database.db, policy, { email: 'ann@example.com', address: '192.0.2.1' });
  const { stdout: listed } = await run(['sign-up', 'list']);
  assert.match(listed, /^SIGN-UP .*MAIL\n[0-9a-f-]{36} {2}ann@example\.com {2}192\.0\.2\.1 {2}20\S+Z {2}none\n$/);
  const linkId = /^[0-9a-f-]{36}/m.exec(listed)?.[0] ?? '';
  const { stdout: made } = await run(['sign-up', 'link', linkId]);
  const token =
    /^https:\/\/video\.example\.com\/console\/confirm#([\w-]{43})\nWorks once, until /.exec(made)?.[1] ?? '';
  assert.equal((await findLink(database.db, token))?.email, 'ann@example.com');
  const unknown = await run(['sign-up', 'link', '019abc12-3456-7def-8901-234567890abc']);
  assert.match(unknown.stderr, /open sign-up not found: 019abc12/);
});

test('with a mail server, an invitation of the command line waits to be sent by the API', async () => {
  const invite = ['user', 'invite', 'bob@example.com', '--operator'];
  assert.doesNotMatch((await run(invite)).stdout, /e-mail/);
  const smtp = { SMTP_URL: 'smtp://mail.example.com', SMTP_FROM: 'no-reply@example.com' };
  assert.match((await run(invite, smtp)).stdout, /It is also sent by e-mail\.\n$/);
  const text = `select kind, state from mails where recipient = 'bob@example.com'`;
  assert.deepEqual(await database.db.run({ name: 'test-mails', text }), [{ kind: 'invite', state: 'waiting' }]);
});
