/** Images that are decoded at the same time in this process: each may need 300 MB at 6000 by 6000 px. */
const maxDecoding = 2;

let decoding = 0;
const waiting = new Set<() => void>();

/**
 * Runs the work when it is its turn. Whoever waits holds no image in memory; the queue is as long as images are
 * being fetched (three for each generation), and each turn is bounded by the decoder's own limit of time.
 */
export async function inTurn<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  if (decoding < maxDecoding) decoding += 1;
  else await turn(signal);
  try {
    return await work();
  } finally {
    passOn();
  }
}

/** The turn goes straight to the next one, so that nobody can slip in between. */
function passOn(): void {
  const [next] = waiting;
  if (next === undefined) decoding -= 1;
  else next();
}

async function turn(signal: AbortSignal): Promise<void> {
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
