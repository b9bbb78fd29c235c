import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/**
 * Signs texts of one purpose. The key is derived from the installation's secret for it, so that no other use of the secret can forge
 * a signature.
 */
export function createSigner(secret: string, purpose: string) {
  const key = Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
  const sign = (text: string) => createHmac('sha256', key).update(text).digest('base64url');
  return { sign, isSigned: (text: string, signature: string) => isSameText(signature, sign(text)) };
}

/** Compares in constant time, and as text: decoding base64url would let two spellings of one signature pass. */
function isSameText(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
