import { hash, randomBytes } from 'node:crypto';

/** A secret of 256 random bits: of a session, a link or a proof that is waited for. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

export function looksLikeToken(text: string): boolean {
  return /^[\w-]{43}$/.test(text);
}

/** The only form in which a token is stored. */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
