import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

// GitHub's layout: a prefix, by which scanners find leaked keys, entropy in base62, and a CRC32 in the last six characters, which detects
// typos without a query.
const prefixes = { client: 'vg_', operator: 'vgop_' } as const;
export type KeyKind = keyof typeof prefixes;
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 30 characters of base62 carry 178 bits. */
const entropyLength = 30;
const checksumLength = 6;
const shape = new RegExp(`^[0-9A-Za-z]{${entropyLength + checksumLength}}$`);

export function generateApiKey(kind: KeyKind = 'client'): string {
  const entropy = Array.from({ length: entropyLength }, () => alphabet.charAt(randomInt(alphabet.length))).join('');
  return prefixes[kind] + entropy + checksum(entropy);
}

export function isWellFormedKey(key: string, kind: KeyKind = 'client'): boolean {
  const secret = key.slice(prefixes[kind].length);
  if (!key.startsWith(prefixes[kind]) || !shape.test(secret)) return false;
  return secret.endsWith(checksum(secret.slice(0, -checksumLength)));
}

/** Keys are stored as SHA-256 only: with 178 random bits no slow hash is needed. */
export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** A part of the key that identifies it in lists. */
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
