import type { Context } from '@temporalio/activity';

/** What a heartbeat of `generateVideo` carries: progress from 0 to 100, as `describe` shows it to recordInfo. */
export type GenerationHeartbeat = { readonly progress: number };

/**
 * A cancellation reaches the activity with its next heartbeat; and a provider that reports nothing is not taken for a dead
 * worker. Each one is a write in Temporal: at every 2 s, 500 generations at once held up everything else there (bench/).
 */
const keepAliveMs = 5_000;

/** Nobody sees the progress of a generation that is done sooner, and it is spared the write. */
const firstBeatMs = 250;

/** Sends progress by heartbeat, never backwards, also over attempts: a new attempt goes on from the figure of the last. */
export function heartbeatProgress(context: Context): { report: (progress: number) => void; stop: () => void } {
  let progress = lastProgress(context.info.heartbeatDetails);
  let isTime = false;
  const beat = () => context.heartbeat({ progress } satisfies GenerationHeartbeat);
  const first = setTimeout(() => {
    isTime = true;
    beat();
  }, firstBeatMs);
  const timer = setInterval(beat, keepAliveMs);
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
