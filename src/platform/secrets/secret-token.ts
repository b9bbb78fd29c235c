import { hash, randomBytes } from 'node:crypto';

/** The secret of a session, a link or a pending proof: 256 random bits. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

export function isToken(text: string): boolean {
  return /^[\w-]{43}$/.test(text);
}

/** Tokens are stored as this hash only. */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
