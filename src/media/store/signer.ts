import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** Derives a key per purpose, so that no other use of the secret can forge a signature. Signatures of `previous` secrets stay valid. */
export function createSigner(secret: string, purpose: string, previous: readonly string[] = []) {
  const keyOf = (one: string) => Buffer.from(hkdfSync('sha256', one, '', purpose, 32));
  const signWith = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest('base64url');
  const key = keyOf(secret);
  const keys = [key, ...previous.map(keyOf)];
  return {
    sign: (text: string) => signWith(key, text),
    isSigned: (text: string, signature: string) => keys.some((one) => isSameText(signature, signWith(one, text))),
  };
}

/** Constant time. Compares text, because two base64url texts can decode to the same bytes. */
function isSameText(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
