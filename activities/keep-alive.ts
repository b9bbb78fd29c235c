import { Context } from '@temporalio/activity';

/** Well below every heartbeat timeout, so that only a worker that is gone misses one. */
const keepAliveMs = 5_000;

/** Sends heartbeats while `work` runs: a worker that died is missed within the heartbeat timeout, and a cancellation arrives. */
export async function withKeepAlive<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), keepAliveMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
