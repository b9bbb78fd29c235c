import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createSecretBox, SecretBoxError } from '../../../src/platform/secrets/secret-box.ts';
import {
  ensureSigningSecrets,
  resealSecrets,
  revealSecretOnce,
  rotateSecret,
} from '../../../src/tasks/callbacks/signing-secrets.ts';
import {
  defaultSecretOverlapSeconds,
  insertFirstSigningSecret,
  insertNextSigningSecret,
  listSealedSecretsPage,
  listSigningSecrets,
  maxSecretOverlapSeconds,
  replaceSealedSecret,
  scheduleSigningSecretExpiry,
  takeUnshownSecret,
} from '../../../src/tasks/callbacks/signing-secret-rows.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { ago, insertRow, rolledBack } from '../../support/database/rolled-back.ts';
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

test('a former secret signs for a day after a rotation, or for up to 30 days', () => {
  assert.deepEqual([defaultSecretOverlapSeconds, maxSecretOverlapSeconds], [86_400, 2_592_000]);
});

test('a secret signs until its expiry, and a rotation gives the current one its overlap and drops what has expired', async () => {
  const [accountId, other] = [await newAccount(), await newAccount()];
  await rolledBack(database.db, async (db) => {
    const at = async (ms: number) =>
      (
        await db.run<{ at: number }>({ name: 'test-at', text: `select now() + $1 * interval '1 millisecond' as at` }, [
          ms,
        ])
      )[0]?.at;
    const add = (purpose: string, sealed: string, expiresInMs: number) =>
      insertRow(db, 'callback_secrets', { account_id: accountId, purpose, sealed, expires_at: ago(-expiresInMs) });
    await add('callback', 'older', 1);
    await add('callback', 'gone', 0);
    await add('event', 'gone, for events', 0);
    for (const purpose of ['callback', 'event'] as const)
      await insertFirstSigningSecret(db, accountId, purpose, purpose);
    await insertFirstSigningSecret(db, accountId, 'callback', 'second');
    await insertFirstSigningSecret(db, other, 'callback', 'theirs');
    const current = { sealed: 'callback', expiresAt: undefined };
    const older = { sealed: 'older', expiresAt: await at(1) };
    assert.deepEqual(await listSigningSecrets(db, accountId, 'callback'), [current, older]);
    await scheduleSigningSecretExpiry(db, accountId, 'callback', 60);
    await insertNextSigningSecret(db, accountId, 'callback', 'next');
    assert.deepEqual(await listSigningSecrets(db, accountId, 'callback'), [
      { sealed: 'next', expiresAt: undefined },
      { sealed: 'callback', expiresAt: await at(60_000) },
      older,
    ]);
    assert.deepEqual(await listSigningSecrets(db, accountId, 'event'), [{ sealed: 'event', expiresAt: undefined }]);
    assert.deepEqual(await listSigningSecrets(db, other, 'callback'), [{ sealed: 'theirs', expiresAt: undefined }]);
    assert.equal(await takeUnshownSecret(db, accountId, 'callback'), undefined);
    assert.deepEqual(await takeUnshownSecret(db, accountId, 'event'), { sealed: 'event' });
    assert.deepEqual(await takeUnshownSecret(db, other, 'callback'), { sealed: 'theirs' });
    const stored = (await listSealedSecretsPage(db, 0, 100)).filter((row) =>
      [accountId, other].includes(row.accountId),
    );
    assert.deepEqual(
      stored.map((row) => [row.accountId, row.sealed]),
      [
        [accountId, 'older'],
        [accountId, 'gone, for events'],
        [accountId, 'callback'],
        [accountId, 'event'],
        [other, 'theirs'],
        [accountId, 'next'],
      ],
    );
    const [first, second, ...others] = stored;
    assert.ok(first !== undefined && second !== undefined);
    assert.deepEqual(await listSealedSecretsPage(db, first.secretId, 1), [second]);
    assert.equal(await replaceSealedSecret(db, first.secretId, 'another', 'moved'), undefined);
    const { secretId } = first;
    assert.deepEqual(await replaceSealedSecret(db, secretId, 'older', 'moved'), { secretId });
    assert.deepEqual(await listSealedSecretsPage(db, secretId - 1, 100), [
      { ...first, sealed: 'moved' },
      second,
      ...others,
    ]);
  });
});
