/** The result of `work`, unless the signal is aborted before: it rejects with the signal's reason then. The work itself is not stopped. */
export async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const listening = new AbortController();
  const aborted = new Promise<never>((_resolve, reject) => {
    const end = () => reject(signal.reason as Error); // a reason of ours is an error
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { signal: listening.signal });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    listening.abort();
  }
}
