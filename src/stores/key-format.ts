import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

// GitHub's layout: a prefix by which scanners find leaked keys, entropy in base62, and a CRC32 in the last six
// characters by which a typo is told from a key without asking the database.
const prefixes = { client: 'vg_', operator: 'vgop_' } as const;
/** Whose key it is: a client's, for the API of its account, or an operator's. */
export type KeyKind = keyof typeof prefixes;
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 30 characters of base62 carry 178 bits. */
const entropyLength = 30;
const checksumLength = 6;
const shape = new RegExp(`^[0-9A-Za-z]{${entropyLength + checksumLength}}$`);

/** A new secret key, to be shown once. */
export function newApiKey(kind: KeyKind = 'client'): string {
  const entropy = Array.from({ length: entropyLength }, () => alphabet.charAt(randomInt(alphabet.length))).join('');
  return prefixes[kind] + entropy + checksum(entropy);
}

/** True for a string that this service could have made as a key of this kind; says nothing about whether it did. */
export function looksLikeApiKey(key: string, kind: KeyKind = 'client'): boolean {
  const secret = key.slice(prefixes[kind].length);
  if (!key.startsWith(prefixes[kind]) || !shape.test(secret)) return false;
  return secret.endsWith(checksum(secret.slice(0, -checksumLength)));
}

/** SHA-256, the only form in which a key is stored: with 178 random bits no slow hash is needed. */
export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** What may be shown of a key later on, to tell it from its siblings. */
export function apiKeyHint(key: string): string {
  return `${key.slice(0, key.indexOf('_') + 5)}…${key.slice(-4)}`;
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
