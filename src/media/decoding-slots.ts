/** Images that are decoded at the same time in this process: each may need 300 MB at 6000 by 6000 px. */
const maxDecoding = 2;

let decoding = 0;
const waiting = new Set<() => void>();

/**
 * Runs the work when a slot is free. Nothing that waits holds an image in memory; the queue is bounded by the images that are
 * being fetched (three for each generation), and each slot by the decoder's own time limit.
 */
export async function withDecodingSlot<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  if (decoding < maxDecoding) decoding += 1;
  else await freeSlot(signal);
  try {
    return await work();
  } finally {
    passOn();
  }
}

/** The slot goes directly to the next in the queue. */
function passOn(): void {
  const [next] = waiting;
  if (next === undefined) decoding -= 1;
  else next();
}

async function freeSlot(signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const leave = () => {
      waiting.delete(begin);
      signal.removeEventListener('abort', giveUp);
    };
    const begin = () => (leave(), resolve());
    const giveUp = () => (leave(), reject(signal.reason));
    signal.addEventListener('abort', giveUp, { once: true });
    waiting.add(begin);
  });
}
