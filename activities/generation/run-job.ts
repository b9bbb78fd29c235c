import { CancelledFailure } from '@temporalio/activity';
import { TaskFault } from '../../src/domain/errors.ts';
import type { HeldEnd, HeldProvider, JobRequest } from '../../src/providers/contract.ts';
import { callOutcomeOf } from '../../src/providers/provider-events.ts';
import { recordUpstreamEnd } from '../../src/stores/provider-jobs.ts';
import { clearStrikes } from '../../src/stores/provider-pools.ts';
import {
  type Attempt,
  type Call,
  type CallEnd,
  deadlinePassed,
  failTask,
  type Pooled,
  unclear,
  providerFailures,
} from './attempt.ts';
import { givesWay, isCancelled, takeFailure } from './follow-job.ts';
import { recordDeclined } from './submit-job.ts';

// A job that lives in the attempt and ends with it: on this machine, or in a connection to the upstream.

export async function runJob(
  attempt: Attempt,
  call: Pooled,
  provider: HeldProvider,
  request: JobRequest,
): Promise<CallEnd> {
  const { deps } = attempt;
  const { taskId, ordinal, pool } = call;
  const end = await heldEnd(attempt, call, provider, request);
  if (pool !== undefined) deps.onProviderEvent(provider.name, { kind: 'call', outcome: callOutcomeOf(end) });
  switch (end.kind) {
    case 'video':
      if (pool === undefined) return end.video;
      await recordUpstreamEnd(deps.db, { taskId, ordinal, cost: end.cost });
      await clearStrikes(deps.db, pool);
      return end.video;
    case 'failed':
      await takeFailure(attempt, call, end);
      return undefined;
    case 'not_accepted':
    case 'refused':
      await recordDeclined(attempt, call, end);
      return undefined;
    case 'lost':
      break;
  }
  // The same job is run again by the next attempt, under the same name.
  throw unclear(end.detail);
}

/** Whatever ends the call ends the job, so nothing is left to be stopped. */
async function heldEnd(attempt: Attempt, call: Call, provider: HeldProvider, request: JobRequest): Promise<HeldEnd> {
  const { signal, report, workFolder } = attempt;
  const gone = { outcome: 'abandoned', isSettled: true } as const;
  try {
    signal.throwIfAborted();
    return await provider.run(request, report, { workFolder, signal });
  } catch (error) {
    if (signal.aborted && signal.reason === deadlinePassed)
      throw await failTask(attempt, call, providerFailures.timeout, gone);
    if (signal.aborted && !isCancelled(attempt)) throw givesWay();
    if (signal.aborted) {
      await failTask(attempt, call, providerFailures.cancelled, gone);
      throw new CancelledFailure('the task was cancelled');
    }
    if (!(error instanceof TaskFault) || error.retryable) throw error;
    await failTask(attempt, call, { failCode: error.failCode, failMsg: error.message }, { outcome: 'fail' });
    throw error;
  }
}
