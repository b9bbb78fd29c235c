import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

// GitHub's layout: a prefix by which scanners find leaked keys, entropy in base62, and a CRC32 in the last six
// characters by which a typo is told from a key without asking the database.
const prefix = 'vg_';
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 30 characters of base62 carry 178 bits; the design asks for 160 at least. */
const entropyLength = 30;
const checksumLength = 6;
const shape = new RegExp(`^${prefix}[0-9A-Za-z]{${entropyLength + checksumLength}}$`);

/** A new secret key, to be shown once. */
export function newApiKey(): string {
  const entropy = Array.from({ length: entropyLength }, () => alphabet.charAt(randomInt(alphabet.length))).join('');
  return prefix + entropy + checksum(entropy);
}

/** True for a string that this service could have made; says nothing about whether it did. */
export function looksLikeApiKey(key: string): boolean {
  if (!shape.test(key)) return false;
  const entropy = key.slice(prefix.length, -checksumLength);
  return key.endsWith(checksum(entropy));
}

/** SHA-256, the only form in which a key is stored: with 178 random bits no slow hash is needed. */
export function hashApiKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** What may be shown of a key later on, to tell it from its siblings. */
export function apiKeyHint(key: string): string {
  return `${key.slice(0, prefix.length + 4)}…${key.slice(-4)}`;
}

function checksum(entropy: string): string {
  let rest = crc32(entropy);
  let digits = '';
  for (let i = 0; i < checksumLength; i += 1) {
    digits = alphabet.charAt(rest % alphabet.length) + digits;
    rest = Math.floor(rest / alphabet.length);
  }
  return digits;
}
