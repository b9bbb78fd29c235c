import { setTimeout as delay } from 'node:timers/promises';
import { processorTimes } from './processor.ts';

const stepMs = 500;
const limitMs = 90_000;
/** An idle Temporal server uses a few per cent of a core. */
const quietShare = 0.15;

/**
 * Waits until these processes are almost idle, within a time limit, so that
 * work that earlier requests caused is not measured with the next ones.
 */
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
