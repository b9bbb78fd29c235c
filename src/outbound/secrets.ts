import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const prefix = 'whsec_';
const keyBytes = 32;
const minKeyBytes = 24;
const maxKeyBytes = 64;

/** A fresh secret in the form of Standard Webhooks: `whsec_` and 32 random bytes in base64. */
export function newCallbackSecret(): string {
  return prefix + randomBytes(keyBytes).toString('base64');
}

/**
 * The signing key in a `whsec_…` secret. Throws when the secret is not one: strict base64 of 24 to 64 bytes (the bounds of
 * Standard Webhooks). The error shows nothing of the secret.
 */
export function callbackKey(secret: string): Buffer {
  const encoded = secret.slice(prefix.length);
  const key = Buffer.from(encoded, 'base64');
  const isWellFormed = secret.startsWith(prefix) && key.toString('base64') === encoded;
  if (!isWellFormed || key.length < minKeyBytes || key.length > maxKeyBytes) {
    throw new Error(`a callback secret must be ${prefix} and base64 of ${minKeyBytes} to ${maxKeyBytes} bytes`);
  }
  return key;
}

/** A sealed secret that is damaged, of another account, or of another VIDEOGEN_SECRET: which of them cannot be told. */
export class SecretBoxError extends Error {
  override readonly name = 'SecretBoxError';
}

export type SecretBox = ReturnType<typeof createSecretBox>;

const version = 'v1.';
/** Separates this use of VIDEOGEN_SECRET from all others, such as the signing of links. */
const purpose = 'videogen/callback-secret/v1';
const nonceBytes = 12;
const tagBytes = 16;

/** Keeps callback secrets unreadable in the database and bound to their account (AES-256-GCM, key by HKDF-SHA256). */
export function createSecretBox(videogenSecret: string) {
  if (videogenSecret === '') throw new Error('VIDEOGEN_SECRET is empty');
  const key = Buffer.from(hkdfSync('sha256', videogenSecret, '', purpose, 32));
  return {
    /** Text for the database: `v1.` and base64url of nonce, tag and ciphertext. Different at each call. */
    seal: (secret: string, accountId: string): string => {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(accountId));
      const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return version + Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString('base64url');
    },
    /** The secret again. Throws `SecretBoxError`. */
    open: (sealed: string, accountId: string): string => open(key, sealed, accountId),
  };
}

function open(key: Buffer, sealed: string, accountId: string): string {
  const bytes = Buffer.from(sealed.slice(version.length), 'base64url');
  if (!sealed.startsWith(version) || bytes.length < nonceBytes + tagBytes)
    throw new SecretBoxError('not a sealed secret');
  const nonce = bytes.subarray(0, nonceBytes);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
    .setAAD(Buffer.from(accountId))
    .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
  try {
    return decipher.update(bytes.subarray(nonceBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8');
  } catch (error) {
    throw new SecretBoxError('the sealed secret cannot be opened', { cause: error });
  }
}
