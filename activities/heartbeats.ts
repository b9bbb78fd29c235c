import { Context } from '@temporalio/activity';

/** What a heartbeat of `generateVideo` carries: progress from 0 to 100, as `describe` shows it to recordInfo. */
export type GenerationHeartbeat = { readonly progress: number };

/**
 * Well below every heartbeat timeout, so that only a dead worker misses one; a cancellation reaches the activity with its next
 * heartbeat. Each one is a write in Temporal: at every 2 s, 500 simultaneous generations delayed everything else there (bench/).
 */
const keepAliveMs = 5_000;
/**
 * Of thousands of generations that only wait for their upstream, whose tasks' ends are looked up otherwise: this part of their
 * heartbeat timeout. One that is lost may be made up for by the next.
 */
const remoteKeepAliveShare = 0.45;

/** A generation that is done sooner sends no heartbeat, which saves a write. */
const firstBeatMs = 250;

/** Sends progress by heartbeat, never backwards, also over attempts: a new attempt continues from the last figure. */
export function heartbeatProgress(
  context: Context,
  isRemote: boolean,
): { report: (progress: number) => void; stop: () => void } {
  let progress = lastProgress(context.info.heartbeatDetails);
  let isTime = false;
  const beat = () => context.heartbeat({ progress } satisfies GenerationHeartbeat);
  const first = setTimeout(() => {
    isTime = true;
    beat();
  }, firstBeatMs);
  const { heartbeatTimeoutMs = 60_000 } = context.info;
  const timer = setInterval(beat, isRemote ? remoteKeepAliveShare * heartbeatTimeoutMs : keepAliveMs);
  return {
    report: (next) => {
      if (!(next > progress)) return;
      progress = next;
      if (isTime) beat();
    },
    stop: () => {
      clearTimeout(first);
      clearInterval(timer);
    },
  };
}

function lastProgress(details: unknown): number {
  if (typeof details !== 'object' || details === null || !('progress' in details)) return 0;
  return typeof details.progress === 'number' ? details.progress : 0;
}

/**
 * Sends heartbeats with `details` while `work` runs: a dead worker is noticed within the heartbeat timeout, and a cancellation
 * arrives. The next attempt receives the last details.
 */
export async function withKeepAlive<T>(details: () => unknown, work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(details()), keepAliveMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
