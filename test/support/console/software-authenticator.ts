import { isoCBOR } from '@simplewebauthn/server/helpers';
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/**
 * A fake of what a browser and a platform authenticator do together: it creates discoverable passkeys with keys of its own and signs with
 * them, without a prompt, as the Web Authentication specification (level 3, sections 6 and 7) describes. A real browser does the same in
 * `test/console/people/ways-in.full.test.ts`.
 */
export type SoftwareAuthenticator = {
  /** `navigator.credentials.create`, from JSON to JSON. */
  create(options: unknown): PublicKeyCredentialJson;
  /** `navigator.credentials.get` with the newest passkey of the relying party, from JSON to JSON. */
  get(options: unknown): PublicKeyCredentialJson;
};

export type PublicKeyCredentialJson = {
  readonly id: string;
  readonly rawId: string;
  readonly type: 'public-key';
  readonly clientExtensionResults: object;
  readonly response: Readonly<Record<string, string | readonly string[]>>;
};

type StoredPasskey = {
  readonly id: Buffer;
  readonly rpId: string;
  readonly privateKey: KeyObject;
  readonly userHandle: string;
};

/** Flags of the authenticator data: the user is present and verified; credential data follow. */
const present = 0x01;
const verified = 0x04;
const withCredential = 0x40;

/** `origin` is the one of the page that starts the ceremonies. `isUserVerified` is false for a device without PIN and fingerprint. */
export function softwareAuthenticator(origin: string, isUserVerified = true): SoftwareAuthenticator {
  const stored: StoredPasskey[] = [];
  const user = present | (isUserVerified ? verified : 0);
  const clientData = (type: string, challenge: string) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  const credential = (id: Buffer, response: PublicKeyCredentialJson['response']): PublicKeyCredentialJson => {
    const name = id.toString('base64url');
    return { id: name, rawId: name, type: 'public-key', clientExtensionResults: {}, response };
  };
  return {
    create(options) {
      // The options that the service has made.
      const given = options as { rp: { id: string }; user: { id: string }; challenge: string };
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const passkey = { id: randomBytes(16), rpId: given.rp.id, privateKey, userHandle: given.user.id };
      stored.push(passkey);
      const length = Buffer.alloc(2);
      length.writeUInt16BE(passkey.id.length);
      const attested = Buffer.concat([Buffer.alloc(16), length, passkey.id, coseKey(publicKey)]);
      const authData = authenticatorData(given.rp.id, user | withCredential, attested);
      const attestation = new Map<string, string | Map<string, string> | Uint8Array>([
        ['fmt', 'none'],
        ['attStmt', new Map<string, string>()],
        ['authData', new Uint8Array(authData)],
      ]);
      return credential(passkey.id, {
        clientDataJSON: clientData('webauthn.create', given.challenge).toString('base64url'),
        attestationObject: Buffer.from(isoCBOR.encode(attestation)).toString('base64url'),
        transports: ['internal'],
      });
    },
    get(options) {
      const { rpId, challenge } = options as { rpId: string; challenge: string };
      const passkey = stored.findLast((one) => one.rpId === rpId);
      if (passkey === undefined) throw new Error(`no passkey of ${rpId}`);
      const authData = authenticatorData(rpId, user);
      const clientDataJson = clientData('webauthn.get', challenge);
      const signed = Buffer.concat([authData, createHash('sha256').update(clientDataJson).digest()]);
      return credential(passkey.id, {
        clientDataJSON: clientDataJson.toString('base64url'),
        authenticatorData: authData.toString('base64url'),
        signature: sign('sha256', signed, passkey.privateKey).toString('base64url'),
        userHandle: passkey.userHandle,
      });
    },
  };
}

/** The counter stays 0, as that of passkeys which are synchronized between devices. */
function authenticatorData(rpId: string, flags: number, rest: Buffer = Buffer.alloc(0)): Buffer {
  const rpIdHash = createHash('sha256').update(rpId).digest();
  return Buffer.concat([rpIdHash, Buffer.from([flags, 0, 0, 0, 0]), rest]);
}

/** An ES256 key as COSE (RFC 9052, section 7): key type EC2, algorithm ES256, curve P-256, and both coordinates. */
function coseKey(publicKey: KeyObject): Uint8Array {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const coordinate = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));
  return isoCBOR.encode(
    new Map<number, number | Uint8Array>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, coordinate(x)],
      [-3, coordinate(y)],
    ]),
  );
}
