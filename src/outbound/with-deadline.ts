import { OutboundError } from './outbound-error.ts';

/**
 * Runs work under a signal of its own, which is aborted with an `OutboundError`: `timeout` after `timeoutMs`, `aborted`
 * as soon as one of `signals` is. Answers when the work does, so the work has to obey the signal. Timer and listeners
 * are gone afterwards, also from signals that live as long as the process.
 */
export async function withDeadline<T>(
  timeoutMs: number,
  signals: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort(new OutboundError('aborted', 'given up by us'));
  const timer = setTimeout(
    () => controller.abort(new OutboundError('timeout', `not finished within ${timeoutMs} ms`)),
    timeoutMs,
  );
  signals.forEach((signal) => signal.addEventListener('abort', abort, { once: true }));
  if (signals.some((signal) => signal.aborted)) abort();
  try {
    controller.signal.throwIfAborted();
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    signals.forEach((signal) => signal.removeEventListener('abort', abort));
  }
}
