import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  authenticationOptions,
  registrationOptions,
  relyingParty,
  requireRelyingParty,
  verifyAndReturnUseCounter,
  verifyRegistration,
} from '../../../src/api/sign-in/passkey-ceremony.ts';
import { DatabaseUnavailableError } from '../../../src/platform/database/database.ts';
import { softwareAuthenticator } from '../../support/console/software-authenticator.ts';

const party = { id: 'video.example', origin: 'https://video.example:8443' };
const challenge = Buffer.from('a challenge of our own').toString('base64url');
const known = { credentialId: 'AAAA', publicKey: Buffer.from(''), counter: 0, transports: ['usb', 'nfc'] };
const accept = () => Promise.resolve(true);

const newOptions = () =>
  registrationOptions(party, { service: 'Studio', email: 'a@b.example', challenge, known: [known] });

/** A passkey of this party and its credential. */
async function newPasskey() {
  const authenticator = softwareAuthenticator(party.origin);
  const answer = authenticator.create(await newOptions());
  return { authenticator, answer, credential: await verifyRegistration(party, answer, accept) };
}

const refused = { code: 'sign_in_failed' };

test('the party is the host name of the service, with the origin of its pages', () => {
  assert.deepEqual(relyingParty('https://video.example:8443/'), party);
  assert.deepEqual(relyingParty('http://localhost:3000'), { id: 'localhost', origin: 'http://localhost:3000' });
  assert.deepEqual(requireRelyingParty('https://video.example:8443'), party);
  assert.throws(() => requireRelyingParty('http://video.example'), { code: 'passkeys_unavailable' });
});

test('a new passkey is discoverable, verifies its user, and is not one that the person has', async () => {
  const { rp, user, challenge: shown, excludeCredentials, authenticatorSelection } = await newOptions();
  assert.deepEqual([rp, user.name, shown], [{ name: 'Studio', id: 'video.example' }, 'a@b.example', challenge]);
  assert.deepEqual(
    excludeCredentials?.map(({ id, transports }) => [id, transports]),
    [['AAAA', ['usb', 'nfc']]],
  );
  assert.deepEqual(
    [authenticatorSelection?.residentKey, authenticatorSelection?.userVerification],
    ['required', 'required'],
  );
});

test('a sign-in verifies the user, by any passkey of the party', async () => {
  const options = await authenticationOptions(party, challenge);
  assert.deepEqual(
    [options.rpId, options.challenge, options.userVerification, options.allowCredentials],
    ['video.example', challenge, 'required', undefined],
  );
});

test('a registration and a sign-in consume their challenge, and are those of the party', async () => {
  const { authenticator, answer, credential } = await newPasskey();
  const { credentialId, counter, transports } = credential;
  assert.deepEqual([credentialId, counter, transports], [answer.id, 0, ['internal']]);
  const proof = authenticator.get(await authenticationOptions(party, challenge));
  const consumed: string[] = [];
  const consume = (one: string) => Promise.resolve(consumed.push(one) > 0);
  assert.equal(await verifyAndReturnUseCounter(party, proof, credential, consume), 0);
  await verifyRegistration(party, answer, consume);
  assert.deepEqual(consumed, [challenge, challenge]);
  for (const other of [
    { ...party, id: 'other.example' },
    { ...party, origin: 'https://video.example' },
  ]) {
    await assert.rejects(verifyRegistration(other, answer, accept), refused);
    await assert.rejects(verifyAndReturnUseCounter(other, proof, credential, accept), refused);
  }
  const unknown = () => Promise.resolve(false);
  await assert.rejects(verifyRegistration(party, answer, unknown), refused);
  await assert.rejects(verifyAndReturnUseCounter(party, proof, credential, unknown), refused);
  // A copy of the passkey was used in the meantime.
  await assert.rejects(verifyAndReturnUseCounter(party, proof, { ...credential, counter: 5 }, accept), refused);
  const { credential: another } = await newPasskey();
  await assert.rejects(verifyAndReturnUseCounter(party, proof, another, accept), refused);
});

test('an outage of the database stays one; another error is a refusal', async () => {
  const { authenticator, answer, credential } = await newPasskey();
  const proof = authenticator.get(await authenticationOptions(party, challenge));
  const outage = new DatabaseUnavailableError(false, new Error('unreachable'));
  for (const verify of [
    (consume: () => Promise<boolean>) => verifyRegistration(party, answer, consume),
    (consume: () => Promise<boolean>) => verifyAndReturnUseCounter(party, proof, credential, consume),
  ]) {
    await assert.rejects(
      verify(() => Promise.reject(outage)),
      outage,
    );
    await assert.rejects(
      verify(() => Promise.reject(new TypeError('a bug of the library'))),
      refused,
    );
  }
});
