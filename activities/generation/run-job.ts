import { CancelledFailure } from '@temporalio/activity';
import { TaskFault } from '../../src/domain/errors.ts';
import type { HeldEnd, HeldProvider, JobRequest } from '../../src/providers/contract.ts';
import { callOutcomeOf } from '../../src/providers/provider-events.ts';
import { recordLostRun, recordUpstreamEnd } from '../../src/stores/provider-jobs.ts';
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
import { recordDeclined, strike } from './submit-job.ts';

// A job that lives in the attempt and ends with it: on this machine, or in a connection to the upstream.

export async function runJob(
  attempt: Attempt,
  call: Pooled,
  provider: HeldProvider,
  request: JobRequest,
): Promise<CallEnd> {
  const { deps } = attempt;
  const { taskId, ordinal, pool } = call;
  if (provider.runs === 'here') await attempt.markGenerating();
  const begunAt = performance.now();
  const end = await heldEnd(attempt, call, provider, request);
  if (pool !== undefined)
    deps.events.emit({ kind: 'provider_call', provider: provider.name, outcome: callOutcomeOf(end) });
  switch (end.kind) {
    case 'video':
      await attempt.markGenerating(performance.now() - begunAt);
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
  if (pool !== undefined) await strike(deps, call, { reason: 'unknown' });
  if ((await recordLostRun(deps.db, call)) < maxLostRuns) {
    // The same job is run again by the next attempt, under the same name.
    throw unclear(end.detail);
  }
  throw await failTask(attempt, call, providerFailures.unavailable, { ...ended, detail: end.detail, cost: 'unknown' });
}

/** Each lost run may have used the upstream's machine to its end. */
const maxLostRuns = 3;

/** The job has ended with its call, so nothing is left to be stopped. */
const ended = { outcome: 'abandoned', isSettled: true } as const;

async function heldEnd(attempt: Attempt, call: Call, provider: HeldProvider, request: JobRequest): Promise<HeldEnd> {
  const { deps, signal, report, workFolder, markGenerating } = attempt;
  const onRunning = () => {
    markGenerating(acceptedAfterMs).catch((err: unknown) =>
      deps.log.warn({ taskId: call.taskId, err }, 'task not marked as generating'),
    );
  };
  const accepted = setTimeout(onRunning, acceptedAfterMs);
  try {
    signal.throwIfAborted();
    return await provider.run(request, report, { workFolder, signal });
  } catch (error) {
    if (signal.aborted && signal.reason === deadlinePassed)
      throw await failTask(attempt, call, providerFailures.timeout, ended);
    if (signal.aborted && !isCancelled(attempt)) throw givesWay();
    if (signal.aborted) {
      await failTask(attempt, call, providerFailures.cancelled, ended);
      throw new CancelledFailure('the task was cancelled');
    }
    if (!(error instanceof TaskFault) || error.retryable) throw error;
    await failTask(attempt, call, { failCode: error.failCode, failMsg: error.message }, { outcome: 'fail' });
    throw error;
  } finally {
    clearTimeout(accepted);
  }
}

/** A held call says only at its end that it was accepted; an upstream that is busy or unreachable says so sooner than this. */
const acceptedAfterMs = 10_000;
