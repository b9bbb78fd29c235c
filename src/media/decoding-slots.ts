import pLimit from 'p-limit';

/** Images that are decoded at the same time in this process: each may need 300 MB at 6000 by 6000 px. */
const limited = pLimit(2);

/**
 * Runs the work when a slot is free; an abort ends the wait for one, not the work. Nothing that waits holds an image in memory;
 * the queue is bounded by the images that are being fetched (three for each generation), and each slot by the decoder's own time
 * limit.
 */
export async function withDecodingSlot<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    const begin = () => {
      signal.removeEventListener('abort', giveUp);
      // One that has given up still has its place in the queue.
      signal.throwIfAborted();
      return work();
    };
    limited(begin).then(resolve, reject);
  });
}
