import assert from 'node:assert/strict';
import { createHmac, hkdfSync } from 'node:crypto';
import { after, before, test } from 'node:test';
import { claimStartCredit } from '../../../src/credits/sign-up/claim-start-credit.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

type Policy = Parameters<typeof claimStartCredit>[1];
const [current, previous] = ['the secret of now, at least 32 bytes', 'the secret before, at least 32 bytes'];
const claim = (email: string, policy: Pick<Policy, 'credits' | 'secrets'>) =>
  claimStartCredit(database.db, policy as Policy, email); // It reads no other setting.

test('a mailbox gets the start credit once, also under the secret after a rotation', async () => {
  assert.equal(await claim('a@example.com', { credits: 50, secrets: [previous] }), 50);
  assert.equal(await claim('a@example.com', { credits: 50, secrets: [current, previous] }), 0);
  assert.equal(await claim('a@example.com', { credits: 50, secrets: [current] }), 50, 'once the old secret is removed');
  assert.equal(await claim('b@example.com', { credits: 50, secrets: [current, previous] }), 50);
});

test('an installation without a start credit stores no mailbox', async () => {
  const stored = await hashes();
  assert.equal(await claim('none@example.com', { credits: 0, secrets: [current] }), 0);
  assert.deepEqual(await hashes(), stored);
});

test('what is stored is a hash with a key made of the current secret, the same in every release', async () => {
  await claim('stored@example.com', { credits: 1, secrets: [current, previous] });
  const key = Buffer.from(hkdfSync('sha256', current, '', 'start credits', 32));
  const hash = createHmac('sha256', key).update('stored@example.com').digest('hex');
  assert.ok((await hashes()).includes(hash));
});

async function hashes(): Promise<readonly string[]> {
  const text = `select encode(mailbox_hmac, 'hex') as hash from start_credits order by 1`;
  const rows = await database.db.run<{ readonly hash: string }>({ name: 'test-start-credits', text }, []);
  return rows.map(({ hash }) => hash);
}
