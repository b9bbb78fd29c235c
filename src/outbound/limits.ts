import { OutboundError } from './outbound-error.ts';

/**
 * Runs work under a signal of its own, which is aborted with an `OutboundError`: `timeout` after `timeoutMs`, `aborted` as
 * soon as one of `signals` is. `restart` begins the time anew. Answers when the work does, so the work has to obey the signal. Timer
 * and listeners are gone afterwards, also from signals that live as long as the process. `AbortSignal.any` with
 * `AbortSignal.timeout` is no substitute: on Node 20 it never fires once the garbage collector has run.
 */
export async function withDeadline<T>(
  timeoutMs: number,
  signals: readonly AbortSignal[],
  work: (signal: AbortSignal, restart: () => void) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort(new OutboundError('aborted', 'given up by us'));
  const onLate = () => controller.abort(new OutboundError('timeout', `not finished within ${timeoutMs} ms`));
  let timer = setTimeout(onLate, timeoutMs);
  // Set anew instead of `refresh`, which the mocked clock of Node 20 does not know.
  const restart = () => {
    clearTimeout(timer);
    timer = setTimeout(onLate, timeoutMs);
  };
  signals.forEach((signal) => signal.addEventListener('abort', abort, { once: true }));
  if (signals.some((signal) => signal.aborted)) abort();
  try {
    controller.signal.throwIfAborted();
    return await work(controller.signal, restart);
  } finally {
    clearTimeout(timer);
    signals.forEach((signal) => signal.removeEventListener('abort', abort));
  }
}

export type SlotLimits = {
  /** Slots of one key that may be held at the same time. */
  readonly maxHeld: number;
  /** Callers that may wait for a slot of one key; the next one is refused as `busy`. */
  readonly maxWaiting?: number;
  /** How long one caller waits before it is `busy`. */
  readonly maxWaitMs?: number;
};

export type Slots = ReturnType<typeof createSlots>;

type Queue = { held: number; readonly waiting: Set<() => void> };

/** One slow host or account may use up its own slots, never those of another. */
export function createSlots({ maxHeld, maxWaiting = 0, maxWaitMs = 0 }: SlotLimits) {
  const queues = new Map<string, Queue>();
  // The slot passes straight to the caller that waited longest. Keys without callers are forgotten, for there are many.
  const release = (key: string, queue: Queue) => {
    const [next] = queue.waiting;
    if (next !== undefined) return next();
    queue.held -= 1;
    if (queue.held === 0) queues.delete(key);
  };
  return {
    /** Waits for a slot of the key and runs work in it. Throws `OutboundError` (`busy`), the signal's reason, or what work does. */
    hold: async <T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
      const queue = queues.get(key) ?? { held: 0, waiting: new Set() };
      queues.set(key, queue);
      if (queue.held < maxHeld) queue.held += 1;
      else if (queue.waiting.size < maxWaiting) await waitForTurn(queue, maxWaitMs, signal);
      else throw new OutboundError('busy', `no free slot for ${key}`);
      return await work().finally(() => release(key, queue));
    },
  };
}

async function waitForTurn({ waiting }: Queue, maxWaitMs: number, signal: AbortSignal): Promise<void> {
  const turn = (inner: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const settle = () => {
        waiting.delete(settle);
        if (inner.aborted) reject(inner.reason);
        else resolve();
      };
      waiting.add(settle);
      inner.addEventListener('abort', settle, { once: true });
    });
  await withDeadline(maxWaitMs, [signal], turn).catch((error: unknown) => {
    signal.throwIfAborted();
    throw new OutboundError('busy', `no slot within ${maxWaitMs} ms`, error);
  });
}
