import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** A fresh secret in the form of Standard Webhooks: `whsec_` and 32 random bytes in base64. */
export function newCallbackSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
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
