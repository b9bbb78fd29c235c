/**
 * Returns a new `Idempotency-Key` of 128 random bits. `randomUUID` is not used,
 * because browsers offer it only to pages with https.
 */
export function newIdempotencyKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Returns the given key or a new one. Throws a TypeError for what the service would refuse. */
export function idempotencyKeyOf(given: string | undefined): string {
  const key = given ?? newIdempotencyKey();
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) throw new TypeError('an idempotency key is 1 to 255 visible ASCII characters');
  return key;
}
