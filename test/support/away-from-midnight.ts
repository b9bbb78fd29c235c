import { setTimeout as delay } from 'node:timers/promises';

const dayMs = 86_400_000;
/** Far more than the tests that call it take. */
const marginMs = 60_000;

/** Waits for the next day (UTC) if this one ends within a minute: for tests that need two moments of one day. */
export async function awayFromMidnight(): Promise<void> {
  const leftMs = dayMs - (Date.now() % dayMs);
  if (leftMs < marginMs) await delay(leftMs + 1_000);
}
