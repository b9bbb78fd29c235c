import type { Context } from '@temporalio/activity';
import type { z } from 'zod';
import { generationHeartbeatSchema } from '../src/catalogue/tasks/workflow-engine.ts';

/**
 * Well below every heartbeat timeout, so that only a dead worker misses one; a cancellation reaches the activity with its next
 * heartbeat. Each one is a write in Temporal: at every 2 s, 500 simultaneous generations delayed everything else there (bench/).
 */
export const ownMachineHeartbeatMs = 5_000;
/**
 * Thousands of generations may wait for their upstreams. They send a heartbeat after this part of their heartbeat timeout, so that
 * one heartbeat may be lost.
 */
const remoteKeepAliveShare = 0.45;
/** A shorter generation sends no heartbeat, which saves a write. */
const firstBeatMs = 250;

/** Sends progress by heartbeat. It never decreases: a new attempt continues from the last attempt's figure. */
export function startProgressHeartbeats(context: Context, isRemote: boolean) {
  let progress = generationHeartbeatSchema.safeParse(context.info.heartbeatDetails).data?.progress ?? 0;
  let isTime = false;
  const beat = () => context.heartbeat({ progress } satisfies z.output<typeof generationHeartbeatSchema>);
  const first = setTimeout(() => {
    isTime = true;
    beat();
  }, firstBeatMs);
  const { heartbeatTimeoutMs = 60_000 } = context.info;
  const timer = setInterval(beat, isRemote ? remoteKeepAliveShare * heartbeatTimeoutMs : ownMachineHeartbeatMs);
  return {
    report: (next: number) => {
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
