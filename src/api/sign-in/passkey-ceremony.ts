import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { isIP } from 'node:net';
import { z } from 'zod';
import type { Credential } from '../../accounts/sign-in/passkey-rows.ts';
import { HttpError } from '../core/http-error.ts';

// WebAuthn by SimpleWebAuthn, which is loaded at the first use.

/** Undefined where browsers allow no passkeys: at an IP address, and over plain http to another machine. */
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

/** The library passes these hints of the browser on as they are. */
const transportsSchema = z
  .array(z.enum(['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb']))
  .max(10)
  .catch([]);

type Party = ReturnType<typeof requireRelyingParty>;

/** The browser's response, which the library validates. */
export const browserAnswerField = z
  .looseObject(
    { id: z.string().max(1400), response: z.looseObject({}) },
    { error: 'must be the response of the browser' },
  )
  .meta({ description: 'The result of `@simplewebauthn/browser`.' });
type BrowserAnswer = z.output<typeof browserAnswerField>;

export const browserOptionsSchema = z
  .record(z.string(), z.unknown())
  .meta({ description: 'WebAuthn options for `@simplewebauthn/browser`.' });

type Registering = {
  readonly service: string;
  readonly email: string;
  readonly challenge: string;
  readonly known: readonly Credential[];
};

/** Requires a discoverable passkey that verifies its user, so that it replaces the e-mail, a password and a second factor. */
export async function registrationOptions({ id: rpID }: Party, { service, email, challenge, known }: Registering) {
  const { generateRegistrationOptions } = await import('@simplewebauthn/server');
  const options = await generateRegistrationOptions({
    rpName: service,
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
  const required = { rpID, challenge: Buffer.from(challenge, 'base64url'), userVerification: 'required' } as const;
  return { ...(await generateAuthenticationOptions(required)) };
}

/** Consumes the challenge of a response; false if it is not one of ours. */
type ConsumeChallenge = (challenge: string) => Promise<boolean>;

/** The credential of a new passkey; throws if the response is invalid. */
export async function verifyRegistration(
  { id, origin }: Party,
  answer: BrowserAnswer,
  consumeChallenge: ConsumeChallenge,
): Promise<Credential> {
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
  const verified = await verifyOrRefuse(() =>
    verifyRegistrationResponse({
      // The library validates it.
      response: answer as unknown as RegistrationResponseJSON,
      expectedChallenge: consumeChallenge,
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: true,
    }),
  );
  if (!verified.verified) throw new HttpError('sign_in_failed');
  const { id: credentialId, publicKey, counter, transports } = verified.registrationInfo.credential;
  return { credentialId, publicKey: Buffer.from(publicKey), counter, transports: transportsSchema.parse(transports) };
}

/** The authenticator's counter of uses; throws if the response is invalid. */
export async function verifyAndReturnUseCounter(
  { id, origin }: Party,
  answer: BrowserAnswer,
  credential: Credential,
  consumeChallenge: ConsumeChallenge,
): Promise<number> {
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
  const { credentialId, publicKey, counter, transports } = credential;
  const { verified, authenticationInfo } = await verifyOrRefuse(() =>
    verifyAuthenticationResponse({
      // The library validates it.
      response: answer as unknown as AuthenticationResponseJSON,
      expectedChallenge: consumeChallenge,
      expectedOrigin: origin,
      expectedRPID: id,
      credential: { id: credentialId, publicKey: new Uint8Array(publicKey), counter, transports: [...transports] },
      requireUserVerification: true,
    }),
  );
  if (!verified) throw new HttpError('sign_in_failed');
  return authenticationInfo.newCounter;
}

/** The library throws for every invalid response. Outages of the database stay outages. */
async function verifyOrRefuse<T>(verify: () => Promise<T>): Promise<T> {
  try {
    return await verify();
  } catch (cause) {
    if (cause instanceof Error && cause.name.startsWith('Database')) throw cause;
    throw new HttpError('sign_in_failed', { msg: 'the passkey could not be verified' });
  }
}
