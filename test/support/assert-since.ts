import assert from 'node:assert/strict';

/** Checks that an instant, in Unix milliseconds, is not before `sinceMs` and not in the future, however long the machine took in between. */
export function assertSince(sinceMs: number, instantMs: number): void {
  const nowMs = Date.now();
  assert.ok(instantMs >= sinceMs && instantMs <= nowMs, `${instantMs} is not from ${sinceMs} to ${nowMs}`);
}
