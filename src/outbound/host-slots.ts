import { OutboundError } from './outbound-error.ts';

export type HostSlotLimits = {
  /** Exchanges with one host at the same time. */
  readonly maxPerHost: number;
  /** Callers that may wait for one host; the next one is `busy` at once. */
  readonly maxWaitingPerHost: number;
  /** How long one caller waits before it is `busy`. */
  readonly maxWaitMs: number;
};

export type HostSlots = {
  /** Waits for a slot and answers how to give it back, once. Throws `OutboundError` (`busy`, or the signal's). */
  take(host: string, signal: AbortSignal): Promise<() => void>;
};

type Queue = { active: number; readonly waiting: Set<() => void> };

/** One slow host may use up its own slots, never those of another. */
export function createHostSlots(limits: HostSlotLimits): HostSlots {
  const queues = new Map<string, Queue>();
  return {
    take: async (host, signal) => {
      const queue = queues.get(host) ?? { active: 0, waiting: new Set() };
      queues.set(host, queue);
      if (queue.active < limits.maxPerHost) queue.active += 1;
      else await waitForTurn(queue, host, limits, signal);
      return () => giveBack(queues, host, queue);
    },
  };
}

/** The slot passes straight to whoever waited longest; hosts without callers are forgotten, for there are many. */
function giveBack(queues: Map<string, Queue>, host: string, queue: Queue): void {
  const [next] = queue.waiting;
  if (next !== undefined) return next();
  queue.active -= 1;
  if (queue.active === 0) queues.delete(host);
}

async function waitForTurn(queue: Queue, host: string, limits: HostSlotLimits, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (queue.waiting.size >= limits.maxWaitingPerHost) throw new OutboundError('busy', `too many callers for ${host}`);
  await new Promise<void>((resolve, reject) => {
    const settle = (finish: () => void) => {
      queue.waiting.delete(turn);
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      finish();
    };
    const turn = () => settle(resolve);
    const onAbort = () => settle(() => reject(signal.reason));
    const onLate = () =>
      settle(() => reject(new OutboundError('busy', `no slot for ${host} in ${limits.maxWaitMs} ms`)));
    const timer = setTimeout(onLate, limits.maxWaitMs);
    signal.addEventListener('abort', onAbort, { once: true });
    queue.waiting.add(turn);
  });
}
