import { setTimeout as delay } from 'node:timers/promises';
import { processorTimes } from './processor.ts';

const stepMs = 500;
const limitMs = 90_000;
/** A server of Temporal's uses some per cent of a core even when nothing happens. */
const quietShare = 0.15;

/** Waits until these processes do next to nothing, a while at most: work behind earlier answers must not be measured with the next ones. */
export async function quiet(pids: readonly number[]): Promise<void> {
  const used = async () => {
    const { treeMs } = await processorTimes();
    return pids.reduce((sum, pid) => sum + treeMs(pid), 0);
  };
  let before = await used();
  for (const giveUpAt = Date.now() + limitMs; Date.now() < giveUpAt;) {
    await delay(stepMs);
    const now = await used();
    if ((now - before) / stepMs < quietShare) return;
    before = now;
  }
}
