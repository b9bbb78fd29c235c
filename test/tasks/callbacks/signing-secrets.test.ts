import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createSecretBox, SecretBoxError } from '../../../src/platform/secrets/secret-box.ts';
import {
  ensureSigningSecrets,
  resealSecrets,
  revealSecretOnce,
  rotateSecret,
} from '../../../src/tasks/callbacks/signing-secrets.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

const box = createSecretBox('the key from the configuration');
let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

const newAccount = () => createAccount(database.db, { name: 'test', credits: 0 });
const secretsOf = (accountId: string) => ensureSigningSecrets(database.db, box, accountId);
const rotate = (accountId: string, overlapSeconds: number) =>
  rotateSecret(database.db, box, { accountId, purpose: 'callback', overlapSeconds });

test('the first use makes one secret, however many processes start concurrently', async () => {
  const accountId = await newAccount();
  const seen = await Promise.all(Array.from({ length: 8 }, () => secretsOf(accountId)));
  assert.match(String(seen[0]?.[0]), /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.equal(new Set(seen.flat()).size, 1);
  assert.notDeepEqual(await secretsOf(await newAccount()), seen[0]);
});

test('the database alone does not reveal a secret', async () => {
  const accountId = await newAccount();
  const [secret = ''] = await secretsOf(accountId);
  const text = 'select * from callback_secrets where account_id = $1';
  const rows = await database.db.run({ name: 'test-read-secrets', text }, [accountId]);
  assert.equal(rows.length, 1);
  assert.ok(!JSON.stringify(rows).includes(secret.slice('whsec_'.length, -1)));
});

test('the owner is shown a secret once, also when a callback used it first and when two requests race', async () => {
  for (const isUsedFirst of [false, true]) {
    const accountId = await newAccount();
    const used = isUsedFirst ? await secretsOf(accountId) : undefined;
    const reveal = () => revealSecretOnce(database.db, box, accountId, 'callback');
    const answers = await Promise.all(Array.from({ length: 5 }, reveal));
    const shown = answers.filter((answer) => answer !== undefined);
    assert.equal(shown.length, 1);
    assert.deepEqual(shown, used ?? (await secretsOf(accountId)));
  }
});

test('a rotation signs with both for the overlap, the new one first, and the new one was shown by it', async () => {
  const accountId = await newAccount();
  const [old] = await secretsOf(accountId);
  const next = await rotate(accountId, 3_600);
  assert.deepEqual(await secretsOf(accountId), [next, old]);
  assert.equal(await revealSecretOnce(database.db, box, accountId, 'callback'), undefined);
});

test('without an overlap the old secret signs nothing any more', async () => {
  const accountId = await newAccount();
  await secretsOf(accountId);
  const next = await rotate(accountId, 0);
  assert.deepEqual(await secretsOf(accountId), [next]);
});

test('the ten newest secrets sign, and older ones are deleted', async () => {
  const accountId = await newAccount();
  const made: string[] = [];
  for (let rotation = 0; rotation < 12; rotation += 1) made.push(await rotate(accountId, 3_600));
  assert.deepEqual(await secretsOf(accountId), made.slice(-10).toReversed());
  const text = 'select 1 from callback_secrets where account_id = $1';
  assert.equal((await database.db.run({ name: 'test-count-secrets', text }, [accountId])).length, 10);
});

test('callbacks and events have secrets of their own, and so has each account', async () => {
  const [accountId, other] = [await newAccount(), await newAccount()];
  const all = async () => {
    const secrets: (readonly string[])[] = [];
    for (const of of [accountId, other])
      for (const purpose of ['callback', 'event'] as const)
        secrets.push(await ensureSigningSecrets(database.db, box, of, purpose));
    return secrets;
  };
  const made = await all();
  assert.equal(new Set(made.flat()).size, 4);
  assert.equal(await revealSecretOnce(database.db, box, accountId, 'event'), made[1]?.[0]);
  assert.equal(await revealSecretOnce(database.db, box, accountId, 'callback'), made[0]?.[0]);
  const rotation = { accountId, purpose: 'event', overlapSeconds: 3_600 } as const;
  const next = await rotateSecret(database.db, box, rotation);
  assert.deepEqual(await all(), [made[0], [next, ...(made[1] ?? [])], made[2], made[3]]);
  for (const purpose of ['callback', 'event'] as const)
    assert.notEqual(await revealSecretOnce(database.db, box, other, purpose), undefined, purpose);
});

test('concurrent rotations all succeed and leave one current secret', async () => {
  const accountId = await newAccount();
  const made = await Promise.all(Array.from({ length: 6 }, () => rotate(accountId, 3_600)));
  const active = await secretsOf(accountId);
  assert.deepEqual(active.toSorted(), made.toSorted());
  const text = 'select 1 from callback_secrets where account_id = $1 and expires_at is null';
  assert.equal((await database.db.run({ name: 'test-count-current', text }, [accountId])).length, 1);
});

test('after VIDEOGEN_SECRET was changed a secret cannot be opened, and a rotation is the way out', async () => {
  const accountId = await newAccount();
  await secretsOf(accountId);
  const changed = createSecretBox('another key');
  await assert.rejects(ensureSigningSecrets(database.db, changed, accountId), SecretBoxError);
  const next = await rotateSecret(database.db, changed, { accountId, purpose: 'callback', overlapSeconds: 3_600 });
  assert.deepEqual(await ensureSigningSecrets(database.db, changed, accountId), [next]);
});

test('after a rotation of VIDEOGEN_SECRET what is stored is moved to the new one, also by two at a time, and again', async () => {
  const { db } = database;
  await db.run({ name: 'test-drop-secrets', text: 'delete from callback_secrets' });
  const [previous, both, alone] = [
    createSecretBox('the old one'),
    createSecretBox('the new one', ['the old one']),
    createSecretBox('the new one'),
  ];
  const secrets = new Map<string, readonly string[]>();
  for (let count = 0; count < 205; count += 1) {
    const accountId = await newAccount();
    secrets.set(accountId, await ensureSigningSecrets(db, previous, accountId));
  }
  const [one = ''] = secrets.keys();
  await rotateSecret(db, both, { accountId: one, purpose: 'callback', overlapSeconds: 3_600 });
  secrets.set(one, await ensureSigningSecrets(db, both, one));
  assert.equal(secrets.get(one)?.length, 2, 'the old one signs beside it');
  const [first, second] = await Promise.all([resealSecrets(db, both), resealSecrets(db, both)]);
  assert.ok(first.moved > 0 && first.unopened.length + second.unopened.length === 0);
  assert.deepEqual(await resealSecrets(db, both), { current: 206, moved: 0, unopened: [] });
  for (const [accountId, known] of secrets) assert.deepEqual(await ensureSigningSecrets(db, alone, accountId), known);
});

test('a secret that no VIDEOGEN_SECRET opens is named by its account, and the others are moved', async () => {
  const { db } = database;
  await db.run({ name: 'test-drop-secrets', text: 'delete from callback_secrets' });
  const [strange, known] = [await newAccount(), await newAccount()];
  await ensureSigningSecrets(db, createSecretBox('a stranger'), strange);
  await ensureSigningSecrets(db, createSecretBox('the old one'), known);
  const outcome = await resealSecrets(db, createSecretBox('the new one', ['the old one']));
  assert.deepEqual(outcome, { current: 0, moved: 1, unopened: [strange] });
});
