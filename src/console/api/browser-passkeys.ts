import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser';
import { type Body, send } from './call.ts';
import type { Me } from './contract.ts';
import { ApiProblem } from './api-problem-and-words.ts';

// The browser's part of passkeys; its library is loaded with the first ceremony.

type Response = Body<'/api/console/v1/passkeys/sign-in'>['response'];

const own = { account: undefined };

/** Signs in, or confirms the identity of a signed-in person. */
export async function signInWithPasskey(): Promise<Me> {
  const options = await send('/api/console/v1/passkeys/sign-in-options', {}, own);
  const { startAuthentication } = await import('@simplewebauthn/browser');
  // Both sides of the service use one library, whose shapes these are.
  const proof = await startAuthentication({
    optionsJSON: options as unknown as PublicKeyCredentialRequestOptionsJSON,
  }).catch(refused);
  return send('/api/console/v1/passkeys/sign-in', { response: proof as unknown as Response }, own);
}

/** Creates a passkey on the device; the service stores it under a name. */
export async function createPasskeyOnDevice(): Promise<Response> {
  const options = await send('/api/console/v1/passkeys/register-options', {}, own);
  const { startRegistration } = await import('@simplewebauthn/browser');
  // The same holds here.
  return (await startRegistration({ optionsJSON: options as unknown as PublicKeyCredentialCreationOptionsJSON }).catch(
    refused,
  )) as unknown as Response;
}

/** The person closed the device's dialog, or the device has no matching passkey. */
function refused(): never {
  const message = 'no passkey was used: the device had none for this site, or its dialog was closed';
  throw new ApiProblem({ status: 400, error: 'passkey_refused', message, data: {}, requestId: undefined });
}
