/**
 * Runs the work while these processes are stopped, so that their idle work is
 * not measured.
 */
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
