import { OutboundError } from './outbound-error.ts';

/**
 * Runs work under a signal that is aborted with an `OutboundError`: `timeout` after `timeoutMs`, `aborted` with one of `signals`.
 * `restart` restarts the time. It returns when the work does, so the work has to obey the signal. `AbortSignal.any` with
 * `AbortSignal.timeout` is no substitute: on Node 20 it never fires once the garbage collector has run.
 */
export async function runWithDeadline<T>(
  timeoutMs: number,
  signals: readonly AbortSignal[],
  work: (signal: AbortSignal, restart: () => void) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort(new OutboundError('aborted', 'canceled by us'));
  const onLate = () => controller.abort(new OutboundError('timeout', `not finished within ${timeoutMs} ms`));
  let timer = setTimeout(onLate, timeoutMs);
  const restart = () => {
    // The mocked clock of Node 20 has no `refresh`.
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
  /** Concurrent slots of one key. */
  readonly maxHeld: number;
  /** Callers that may wait for a slot of one key; more are refused. */
  readonly maxWaiting?: number;
  readonly maxWaitMs?: number;
  /** Makes the error of a caller that gets no slot; by default an `OutboundError` (`busy`). */
  readonly refusal?: (detail: string, cause?: unknown) => Error;
};

type Queue = { held: number; readonly waiting: Set<() => void> };

/** Limits concurrency per key: one slow host or account uses up its own slots, never those of another. */
export function createSlotsPerKey({ maxHeld, maxWaiting = 0, maxWaitMs = 0, refusal = busy }: SlotLimits) {
  const queues = new Map<string, Queue>();
  // The slot passes to the caller that has waited longest. Unused keys are deleted, because there are many.
  const release = (key: string, queue: Queue) => {
    const [next] = queue.waiting;
    if (next !== undefined) return next();
    queue.held -= 1;
    if (queue.held === 0) queues.delete(key);
  };
  return {
    /** Waits for a slot of the key and runs work in it. Throws the refusal, the signal's reason, or the work's error. */
    hold: async <T>(key: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> => {
      const queue = queues.get(key) ?? { held: 0, waiting: new Set() };
      queues.set(key, queue);
      if (queue.held < maxHeld) queue.held += 1;
      else if (queue.waiting.size >= maxWaiting) throw refusal(`no free slot for ${key}`);
      else
        await waitForSlot(queue, maxWaitMs, signal).catch((error: unknown) => {
          signal?.throwIfAborted();
          throw refusal(`no slot within ${maxWaitMs} ms`, error);
        });
      try {
        return await work();
      } finally {
        release(key, queue);
      }
    },
  };
}

function busy(detail: string, cause?: unknown): Error {
  return new OutboundError('busy', detail, cause);
}

async function waitForSlot({ waiting }: Queue, maxWaitMs: number, signal: AbortSignal | undefined): Promise<void> {
  const slot = (inner: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const settle = () => {
        waiting.delete(settle);
        if (inner.aborted) reject(inner.reason);
        else resolve();
      };
      waiting.add(settle);
      inner.addEventListener('abort', settle, { once: true });
    });
  await runWithDeadline(maxWaitMs, signal === undefined ? [] : [signal], slot);
}
