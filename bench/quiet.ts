import { setTimeout as delay } from 'node:timers/promises';
import { processorMs } from './child.ts';

const stepMs = 500;
const limitMs = 90_000;
/** A server of Temporal's uses some per cent of a core even when nothing happens. */
const quietShare = 0.15;

/** Waits until these processes do next to nothing: work behind earlier answers must not be measured with the next ones. */
export async function quiet(pids: readonly number[]): Promise<void> {
  let before = await processorMs(pids);
  for (const giveUpAt = Date.now() + limitMs; Date.now() < giveUpAt;) {
    await delay(stepMs);
    const now = await processorMs(pids);
    if ((now - before) / stepMs < quietShare) return;
    before = now;
  }
  throw new Error(`the service was still busy after ${limitMs} ms`);
}
