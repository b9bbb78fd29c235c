import { randomBytes } from 'node:crypto';

const prefix = 'whsec_';
const keyBytes = 32;
const minKeyBytes = 24;
const maxKeyBytes = 64;

/** A fresh secret in the form of Standard Webhooks: `whsec_` and 32 random bytes in base64. */
export function newCallbackSecret(): string {
  return prefix + randomBytes(keyBytes).toString('base64');
}

/**
 * The signing key in a `whsec_…` secret. Throws when the secret is not one: strict base64 of 24 to 64 bytes (the
 * bounds of Standard Webhooks). The error shows nothing of the secret.
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
