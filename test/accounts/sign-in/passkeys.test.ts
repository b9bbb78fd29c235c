import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { relyingParty } from '../../../src/api/sign-in/passkey-ceremony.ts';
import { addPasskey, findPasskey, listPasskeys, removePasskey } from '../../../src/accounts/sign-in/passkey-rows.ts';
import { listAllSecurityEvents } from '../../../src/accounts/people/security-events.ts';
import type { Answer } from '../../support/service/http-client.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { fromConsole, newPerson, origin, type Person } from '../../support/service/person.ts';
import { type SoftwareAuthenticator, softwareAuthenticator } from '../../support/console/software-authenticator.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService({
    console: {
      // Passkeys belong to a name, never to an address of numbers.
      get publicUrl() {
        return service.url.replace('127.0.0.1', 'localhost');
      },
      passwordSignIn: true,
    },
  });
});
after(() => service.close());

const passkeys = '/api/console/v1/passkeys';

const manyPasskeys = `
insert into passkeys (id, user_id, credential_id, public_key, counter, transports, name)
select gen_random_uuid(), $1, gen_random_uuid(), '', 0, '{}', 'a' from generate_series(1, 20)`;

type Device = { readonly person: Person; readonly authenticator: SoftwareAuthenticator };

/** A signed-in person with an authenticator of their own; `ask` calls an endpoint of passkeys. */
async function newDevice(): Promise<
  Device & { readonly ask: (what: string, body?: unknown) => Promise<Answer['json']> }
> {
  const person = await newPerson(service);
  const authenticator = softwareAuthenticator(service.deps.console.publicUrl);
  const ask = async (what: string, body: unknown = {}) =>
    (await person.ask('POST', `${passkeys}/${what}`, { body })).json;
  return { person, authenticator, ask };
}

test('a passkey is added, signs in without a password, authenticates again, and is removed', async () => {
  const { person, authenticator, ask } = await newDevice();
  const response = authenticator.create((await ask('register-options')).data);
  const added = await ask('register', { name: 'laptop', response });
  assert.equal(added.code, 200, JSON.stringify(added));
  assert.equal((await ask('register', { name: 'laptop', response })).error, 'sign_in_failed', 'once');
  await person.ask('POST', '/api/console/v1/sign-out');
  assert.equal((await person.ask('GET', passkeys)).json.error, 'not_signed_in');

  const proof = authenticator.get((await ask('sign-in-options')).data);
  const signedIn = await ask('sign-in', { response: proof });
  assert.equal(signedIn.code, 200, JSON.stringify(signedIn));
  assert.deepEqual((signedIn.data['user'] as { email: string }).email, person.email);
  assert.equal((await ask('sign-in', { response: proof })).error, 'sign_in_failed', 'not twice');
  const other = authenticator.get((await ask('sign-in-options')).data);
  assert.equal((await ask('sign-in', { response: { ...other, id: 'AAAA', rawId: 'AAAA' } })).error, 'sign_in_failed');

  const { passkeyId } = added.data;
  const listed = (await person.ask('GET', passkeys)).json.data['passkeys'] as {
    name: string;
    lastUseTime: number | null;
  }[];
  assert.deepEqual(
    listed.map(({ name, lastUseTime }) => [name, lastUseTime !== null]),
    [['laptop', true]],
  );
  const text = `update sessions set authenticated_at = now() - interval '1 hour'`;
  await service.database.db.run({ name: 'test-age-all', text });
  assert.equal((await ask('remove', { passkeyId })).error, 'reauthentication_required');
  const again = authenticator.get((await ask('sign-in-options')).data);
  assert.equal((await ask('sign-in', { response: again })).code, 200, 'which authenticates again');
  assert.equal((await ask('remove', { passkeyId })).code, 200);
  assert.equal((await ask('remove', { passkeyId })).error, 'passkey_not_found');
  const late = authenticator.get((await ask('sign-in-options')).data);
  assert.equal((await ask('sign-in', { response: late })).error, 'sign_in_failed');
});

test('a passkey of another page, of an unverified user, or with another key is refused', async () => {
  const { authenticator, ask } = await newDevice();
  const register = async (by: SoftwareAuthenticator) =>
    ask('register', { name: 'a', response: by.create((await ask('register-options')).data) });
  assert.equal((await register(authenticator)).code, 200);
  const elsewhere = softwareAuthenticator('http://localhost:1');
  assert.equal((await register(elsewhere)).error, 'sign_in_failed', 'another page');
  const withoutPin = softwareAuthenticator(service.deps.console.publicUrl, false);
  assert.equal((await register(withoutPin)).error, 'sign_in_failed', 'an unverified user');
  const options = (await ask('sign-in-options')).data;
  const [proof, other] = [authenticator.get(options), elsewhere.get(options)];
  const response = { ...proof, response: { ...proof.response, signature: other.response['signature'] } };
  assert.equal((await ask('sign-in', { response })).error, 'sign_in_failed', 'another key');
});

test('the ways to reach an authenticator are kept as WebAuthn names them; a browser with a new one is not refused', async () => {
  const known = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];
  for (const [transports, kept] of [
    [known, known],
    [['internal', 'of-tomorrow'], []],
  ] as const) {
    const { authenticator, ask } = await newDevice();
    const made = authenticator.create((await ask('register-options')).data);
    const response = { ...made, response: { ...made.response, transports } };
    assert.equal((await ask('register', { name: 'a', response })).code, 200);
    const { excludeCredentials } = (await ask('register-options')).data as unknown as {
      excludeCredentials: { transports: readonly string[] }[]; // the options of WebAuthn
    };
    assert.deepEqual(
      excludeCredentials.map((one) => one.transports),
      [kept],
    );
  }
});

test('a disabled person does not sign in with a passkey, as if it were unknown', async () => {
  const { person, authenticator, ask } = await newDevice();
  const made = authenticator.create((await ask('register-options')).data);
  assert.equal((await ask('register', { name: 'a', response: made })).code, 200);
  const disable = { name: 'test-disable', text: 'update users set disabled_at = now() where id = $1' };
  await service.database.db.run(disable, [person.userId]);
  const response = authenticator.get((await ask('sign-in-options')).data);
  const refused = await ask('sign-in', { response });
  const unknown = await ask('sign-in', { response: { ...response, id: 'AAAA' } });
  assert.deepEqual([refused.error, refused.msg], ['sign_in_failed', unknown.msg]);
});

test('a challenge of one person registers nothing for another', async () => {
  const [victim, thief] = [await newDevice(), await newDevice()];
  const response = victim.authenticator.create((await victim.ask('register-options')).data);
  assert.equal((await thief.ask('register', { name: 'thief', response })).error, 'sign_in_failed');
  assert.deepEqual((await thief.person.ask('GET', passkeys)).json.data['passkeys'], []);
});

test('a known passkey, and one more than twenty, are refused also at the end of a registration', async () => {
  const [{ person, authenticator, ask }, other] = [await newDevice(), await newPerson(service)];
  const { db } = service.database;
  const begin = async () => authenticator.create((await ask('register-options')).data);
  const register = (response: { id: string }) => ask('register', { name: 'a', response });
  const known = await begin();
  const taken = { credentialId: known.id, publicKey: Buffer.from('key'), counter: 0, transports: [] };
  await addPasskey(db, other, { name: 'a', credential: taken, origin });
  const again = await register(known);
  assert.deepEqual([again.code, again.error], [401, 'sign_in_failed']);
  const last = await begin();
  await db.run({ name: 'test-twenty-passkeys', text: manyPasskeys }, [person.userId]);
  const { code, error, data } = await register(last);
  assert.deepEqual([code, error, data], [409, 'too_many_passkeys', { limit: 20 }]);
});

test('a person removes one passkey of their own, and no other', async () => {
  const { db } = service.database;
  const [person, other] = [await newPerson(service), await newPerson(service)];
  const namesOf = async ({ userId }: Person) => (await listPasskeys(db, userId)).map(({ name }) => name);
  for (const [one, name] of [
    [person, 'first'],
    [person, 'second'],
    [other, 'third'],
  ] as const) {
    const credential = { credentialId: randomUUID(), publicKey: Buffer.from('key'), counter: 0, transports: [] };
    await addPasskey(db, one, { name, credential, origin });
  }
  const [first] = await listPasskeys(db, person.userId);
  const passkeyId = first?.passkeyId ?? assert.fail();
  assert.equal(await removePasskey(db, other, passkeyId, origin), false);
  assert.deepEqual([await namesOf(person), await namesOf(other)], [['first', 'second'], ['third']]);
  assert.equal(await removePasskey(db, person, passkeyId, origin), true);
  assert.deepEqual([await namesOf(person), await namesOf(other)], [['second'], ['third']]);
  const [event] = await listAllSecurityEvents(db, { limit: 1 });
  assert.deepEqual(
    [event?.kind, event?.userId, event?.email, event?.address, event?.details],
    ['passkey_removed', person.userId, person.email, origin.address, { name: 'first' }],
  );
});

test('of passkeys that are added concurrently twenty are accepted', async () => {
  const { db } = service.database;
  const person = await newPerson(service);
  const add = (credentialId: string) => {
    const made = { credentialId, publicKey: Buffer.from('key'), counter: 0, transports: [] };
    return addPasskey(db, person, { name: 'a', credential: made, origin });
  };
  const added = await Promise.all(Array.from({ length: 25 }, () => add(randomUUID())));
  assert.equal(added.filter((one) => one === 'too_many_passkeys').length, 5);
  const { json } = await person.ask('GET', passkeys);
  assert.equal((json.data['passkeys'] as unknown[]).length, 20);
});

test('made-up answers and ids are refused, and a person has twenty passkeys at most', async () => {
  const person = await newPerson(service);
  const ask = (what: string, body: unknown) => person.ask('POST', `${passkeys}/${what}`, { body });
  const response = { id: 'AAAA', rawId: 'AAAA', type: 'public-key', response: { clientDataJSON: 'e30' } };
  assert.equal((await ask('register', { name: 'a', response })).json.error, 'sign_in_failed');
  assert.equal((await ask('sign-in', { response })).json.error, 'sign_in_failed');
  for (const passkeyId of ['x', randomUUID()]) {
    assert.equal((await ask('remove', { passkeyId })).json.error, 'passkey_not_found');
  }
  await service.database.db.run({ name: 'test-many-passkeys', text: manyPasskeys }, [person.userId]);
  const { json } = await ask('register-options', {});
  assert.deepEqual([json.error, json.data], ['too_many_passkeys', { limit: 20 }]);
});

test('while ten thousand sign-ins are pending no other begins, and a person may still add a passkey', async () => {
  const person = await newPerson(service);
  const text = `
insert into pending_proofs (hash, kind, details, expires_at)
select sha256(gen_random_uuid()::text::bytea), 'oidc', '{}', now() + interval '1 minute' from generate_series(1, 10000)`;
  await service.database.db.run({ name: 'test-many-proofs', text });
  const ask = (what: string) => person.ask('POST', `${passkeys}/${what}`);
  assert.equal((await ask('sign-in-options')).json.error, 'too_many_sign_ins');
  for (let begun = 0; begun < 20; begun += 1) assert.equal((await ask('register-options')).status, 200);
  assert.equal((await ask('register-options')).json.error, 'too_many_sign_ins', 'twenty of one person wait');
  assert.equal((await (await newPerson(service)).ask('POST', `${passkeys}/register-options`)).status, 200);
  await service.database.db.run({ name: 'test-expire-proofs', text: 'update pending_proofs set expires_at = now()' });
  for (const what of ['sign-in-options', 'register-options']) assert.equal((await ask(what)).status, 200);
});

test('passkeys need a name, behind https or on this machine; elsewhere they are not offered', async () => {
  const usable = ['https://video.example.com', 'http://localhost:3000', 'http://a.localhost'].map(relyingParty);
  assert.deepEqual(
    usable.map((party) => party?.id),
    ['video.example.com', 'localhost', 'a.localhost'],
  );
  for (const url of ['http://127.0.0.1:3000', 'http://[::1]', 'https://10.0.0.1', 'http://video.lan']) {
    assert.equal(relyingParty(url), undefined, url);
  }
  const numbered = await startHttpService({ database: service.database });
  try {
    const browser = await newPerson(numbered);
    const response = { id: 'AAAA', response: {} };
    for (const [what, body] of [
      ['register-options', {}],
      ['register', { name: 'a', response }],
      ['sign-in-options', {}],
      ['sign-in', { response }],
    ] as const) {
      const { json } = await browser.askAs('POST', `${passkeys}/${what}`, fromConsole, body);
      assert.equal(json.error, 'passkeys_unavailable', what);
    }
    assert.equal((await browser.ask('GET', '/api/console/v1/options')).json.data['passkeys'], false);
  } finally {
    await numbered.close();
  }
});

test('a passkey is found by the id of its credential, with its person, whether they are disabled or not', async () => {
  const { db } = service.database;
  const [person, other] = [await newPerson(service), await newPerson(service)];
  const credential = { publicKey: Buffer.from('key'), counter: 7, transports: ['internal', 'usb'] };
  const insert = `
insert into passkeys (id, user_id, credential_id, public_key, counter, transports, name)
values ($1, $2, $3, $4, $5, $6, 'a')`;
  const rows = [];
  for (const { userId, email } of [person, other]) {
    const row = { ...credential, passkeyId: randomUUID(), userId, email, credentialId: randomUUID() };
    const values = [row.passkeyId, userId, row.credentialId, row.publicKey, row.counter, row.transports];
    await db.run({ name: 'test-passkey', text: insert }, values);
    rows.push(row);
  }
  const disable = { name: 'test-disable', text: 'update users set disabled_at = now() where id = $1' };
  await db.run(disable, [other.userId]);
  const found = await Promise.all(rows.map(({ credentialId }) => findPasskey(db, credentialId)));
  assert.deepEqual(
    found,
    rows.map((row, index) => ({ ...row, isDisabled: index === 1 })),
  );
  assert.equal(await findPasskey(db, 'unknown'), undefined);
});
