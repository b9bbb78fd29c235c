/** Does the work while these processes stand still, so that not even what they do when nobody asks them anything is measured. */
export async function whileFrozen<T>(pids: readonly number[], work: () => Promise<T>): Promise<T> {
  const all = (signal: 'SIGSTOP' | 'SIGCONT') => {
    for (const pid of pids) process.kill(pid, signal);
  };
  all('SIGSTOP');
  try {
    return await work();
  } finally {
    all('SIGCONT');
  }
}
