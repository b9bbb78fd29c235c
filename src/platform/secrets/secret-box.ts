import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** A sealed secret that is damaged, of another owner, or of another VIDEOGEN_SECRET; there is no way to distinguish them. */
export class SecretBoxError extends Error {
  override readonly name = 'SecretBoxError';
}

export type SecretBox = ReturnType<typeof createSecretBox>;

const version = 'v1.';
/** Separates this use of VIDEOGEN_SECRET from all others, such as the signing of links. */
const callbackSecrets = 'videogen/callback-secret/v1';
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Encrypts secrets for the database and binds them to their owner (AES-256-GCM, key by HKDF-SHA256): callback secrets to their account by
 * default. Each other `purpose` has a key of its own.
 */
export function createSecretBox(videogenSecret: string, previous: readonly string[] = [], purpose = callbackSecrets) {
  if (videogenSecret === '') throw new Error('VIDEOGEN_SECRET is empty');
  const keyOf = (secret: string) => Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
  const key = keyOf(videogenSecret);
  const keys = [key, ...previous.map(keyOf)];
  return {
    /** Text for the database: `v1.` and base64url of nonce, tag and ciphertext. Different at each call. */
    seal: (secret: string, ownerId: string): string => {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(ownerId));
      const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return version + Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString('base64url');
    },
    /** Returns the secret, which was sealed with the current VIDEOGEN_SECRET or a previous one. Throws `SecretBoxError`. */
    open: (sealed: string, ownerId: string): string => {
      const opened = keys.map((one) => tryOpen(one, sealed, ownerId));
      const found = opened.find((one) => typeof one === 'string');
      if (found === undefined) throw opened[0];
      return found;
    },
    /** True if it was sealed with the current VIDEOGEN_SECRET. */
    isCurrent: (sealed: string, ownerId: string): boolean => typeof tryOpen(key, sealed, ownerId) === 'string',
  };
}

function tryOpen(key: Buffer, sealed: string, ownerId: string): string | SecretBoxError {
  const bytes = Buffer.from(sealed.slice(version.length), 'base64url');
  if (!sealed.startsWith(version) || bytes.length < nonceBytes + tagBytes)
    return new SecretBoxError('not a sealed secret');
  const nonce = bytes.subarray(0, nonceBytes);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
    .setAAD(Buffer.from(ownerId))
    .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
  try {
    return decipher.update(bytes.subarray(nonceBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8');
  } catch (error) {
    return new SecretBoxError('the sealed secret cannot be opened', { cause: error });
  }
}
