/** An Idempotency-Key. `crypto.randomUUID` exists for https and loopback only. */
export function randomIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
