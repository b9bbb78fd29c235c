import assert from 'node:assert/strict';

/** Checks that an instant, in Unix milliseconds, is not before `sinceMs` and not in the future, however long the machine took in between. */
export function assertSince(sinceMs: number, instantMs: number): void {
  const nowMs = Date.now();
  assert.ok(instantMs >= sinceMs && instantMs <= nowMs, `${instantMs} is not from ${sinceMs} to ${nowMs}`);
}

/** Checks that a duration, in milliseconds, was measured within a call that began at `startedAt` of the monotonic clock and has ended. */
export function assertMeasured(startedAt: number, durationMs: number): void {
  const elapsedMs = performance.now() - startedAt;
  assert.ok(durationMs >= 0 && durationMs <= elapsedMs, `${durationMs} ms is not from 0 to ${elapsedMs}`);
}
