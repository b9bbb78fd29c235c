import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { isIP } from 'node:net';
import { z } from 'zod';
import type { Credential } from '../../stores/passkeys.ts';
import { HttpError } from '../errors.ts';

// What passkeys and this service tell each other, by SimpleWebAuthn, which is loaded at the first use.

/** Undefined where browsers allow no passkeys: at an address of numbers, and over plain http to another machine. */
export function relyingParty(publicUrl: string): { readonly id: string; readonly origin: string } | undefined {
  const { protocol, hostname, origin } = new URL(publicUrl);
  const isSecure = protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost');
  return isSecure && isIP(hostname.replaceAll(/[[\]]/g, '')) === 0 ? { id: hostname, origin } : undefined;
}

export function requireRelyingParty(publicUrl: string) {
  const party = relyingParty(publicUrl);
  if (party === undefined) throw new HttpError('passkeys_unavailable');
  return party;
}

type Party = ReturnType<typeof requireRelyingParty>;

/** What a browser answers: the library reads it, and refuses what is not as it should be. */
export const browserAnswerField = z
  .looseObject(
    { id: z.string().max(1400), response: z.looseObject({}) },
    { error: 'must be the answer of the browser' },
  )
  .meta({ description: "As SimpleWebAuthn's browser part gives it." });
type BrowserAnswer = z.output<typeof browserAnswerField>;

export const browserOptions = z
  .record(z.string(), z.unknown())
  .meta({ description: "For SimpleWebAuthn's browser part, as WebAuthn has them." });

type Registering = { readonly email: string; readonly challenge: string; readonly known: readonly Credential[] };

/** Asks for a key that stays on the device and checks its user: it stands for a password and a second factor. */
export async function registrationOptions({ id: rpID }: Party, { email, challenge, known }: Registering) {
  const { generateRegistrationOptions } = await import('@simplewebauthn/server');
  const options = await generateRegistrationOptions({
    rpName: 'Videogen',
    rpID,
    userName: email,
    challenge: Buffer.from(challenge, 'base64url'),
    excludeCredentials: known.map(({ credentialId, transports }) => ({
      id: credentialId,
      transports: [...transports],
    })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  return { ...options };
}

export async function authenticationOptions({ id: rpID }: Party, challenge: string) {
  const { generateAuthenticationOptions } = await import('@simplewebauthn/server');
  const wanted = { rpID, challenge: Buffer.from(challenge, 'base64url'), userVerification: 'required' } as const;
  return { ...(await generateAuthenticationOptions(wanted)) };
}

/** Whether the challenge in an answer is one that we gave; it is taken. */
type TakeChallenge = (challenge: string) => Promise<boolean>;

/** The credential of a new passkey; throws when the answer proves none. */
export async function registeredCredential(
  { id, origin }: Party,
  answer: BrowserAnswer,
  takeChallenge: TakeChallenge,
): Promise<Credential> {
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
  const verified = await proven(() =>
    verifyRegistrationResponse({
      // The library checks its form.
      response: answer as unknown as RegistrationResponseJSON,
      expectedChallenge: takeChallenge,
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: true,
    }),
  );
  if (!verified.verified) throw new HttpError('sign_in_failed');
  const { id: credentialId, publicKey, counter, transports = [] } = verified.registrationInfo.credential;
  return { credentialId, publicKey: Buffer.from(publicKey), counter, transports };
}

/** The authenticator's count of its uses, once it has proved that it has the key; throws when it has not. */
export async function verifiedCounter(
  { id, origin }: Party,
  answer: BrowserAnswer,
  credential: Credential,
  takeChallenge: TakeChallenge,
): Promise<number> {
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
  const { credentialId, publicKey, counter, transports } = credential;
  const { verified, authenticationInfo } = await proven(() =>
    verifyAuthenticationResponse({
      // The library checks its form.
      response: answer as unknown as AuthenticationResponseJSON,
      expectedChallenge: takeChallenge,
      expectedOrigin: origin,
      expectedRPID: id,
      credential: { id: credentialId, publicKey: new Uint8Array(publicKey), counter, transports: [...transports] },
      requireUserVerification: true,
    }),
  );
  if (!verified) throw new HttpError('sign_in_failed');
  return authenticationInfo.newCounter;
}

/** The library throws for whatever is wrong with an answer; outages of ours stay what they are. */
async function proven<T>(verify: () => Promise<T>): Promise<T> {
  try {
    return await verify();
  } catch (cause) {
    if (cause instanceof Error && cause.name.startsWith('Database')) throw cause;
    throw new HttpError('sign_in_failed', { msg: 'the passkey could not be verified' });
  }
}
