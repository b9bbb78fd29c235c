/** The longest time of a timer; Node ends longer ones immediately. */
const longestTimerMs = 2 ** 31 - 1;

/**
 * Runs `work` with a signal that is aborted after `limitMs` (its reason is then a TimeoutError) or together with the
 * caller's own. AbortSignal.timeout and AbortSignal.any would leave a timer and a listener behind for each call.
 */
export async function withDeadline<T>(
  { limitMs, signal }: { readonly limitMs: number; readonly signal?: AbortSignal | undefined },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const follow = () => controller.abort(signal?.reason);
  const expire = () => controller.abort(new DOMException(`not done within ${limitMs} ms`, 'TimeoutError'));
  const timer = setTimeout(expire, Math.min(limitMs, longestTimerMs));
  signal?.addEventListener('abort', follow, { once: true });
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', follow);
  }
}

export function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError';
}
