/**
 * The result of `work`, or of `onLate` when it takes longer than `limitMs`. The work itself is not stopped; when it fails after
 * the limit, nothing hears of it. Where the work takes a signal, `AbortSignal.timeout` is better: it stops the work.
 */
export async function withinMs<T, L>(limitMs: number, work: Promise<T>, onLate: () => L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => (timer = setTimeout(() => resolve('late'), limitMs)));
  try {
    const first = await Promise.race([work.then((result) => ({ result })), late]);
    return first === 'late' ? onLate() : first.result;
  } finally {
    clearTimeout(timer);
  }
}
