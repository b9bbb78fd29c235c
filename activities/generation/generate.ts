import { DatabaseUnavailable } from '../../src/platform/database/database.ts';
import { listProviderJobs } from '../../src/tasks/jobs/provider-jobs.ts';
import { type Attempt, hasDeadlinePassed, interrupted, type Outcome } from './attempt.ts';
import { fetchVideo } from './fetch-video.ts';
import { followJob } from './follow-job.ts';
import type { Job, Stop } from '../../src/tasks/jobs/attempt-job.ts';
import { recoverJob, readOpenJob } from './recover-job.ts';
import { openOrReserveJob, type NextJob } from '../../src/tasks/jobs/next-job.ts';
import { runJobInRequest } from './run-in-request.ts';
import { submitJob } from './submit-job.ts';

// A task's jobs, one after the other, until one has led to the video. `openOrReserveJob` (src/tasks/jobs/next-job.ts) selects each job; then its
// state selects the step. src/tasks/jobs/job-states.ts declares the states and what they lead to.
//
// Every step commits its result, or ends the task or this attempt (src/tasks/jobs/decide-job-end.ts). The next attempt, also after a crash,
// resumes the job from its row: `openOrReserveJob` finds the row, and `readOpenJob` (resume-job.ts) returns its state.

/** The state machine of a job. */
function step(attempt: Attempt, job: Job): Promise<Outcome> {
  switch (job.state) {
    case 'reserved':
      return untilDeadline(attempt, () => submitJob(attempt, job));
    case 'in_request':
      return runJobInRequest(attempt, job);
    case 'unanswered':
      return untilDeadline(attempt, () => recoverJob(attempt, job));
    case 'running':
      return followJob(attempt, job);
    case 'succeeded':
      break;
  }
  return fetchVideo(attempt, job);
}

/** `first`: the job that was found or reserved before the attempt began. */
export async function generate(
  attempt: Attempt,
  first: NextJob | undefined,
): Promise<Extract<Outcome, { kind: 'video' }> | Stop> {
  const { deps, task } = attempt;
  let outcome: Outcome | NextJob = first ?? { kind: 'next' };
  for (;;) {
    if (outcome.kind === 'next')
      outcome = await openOrReserveJob(deps, task, await listProviderJobs(deps.db, task.taskId));
    else if (outcome.kind === 'resumed') outcome = await readOpenJob(attempt, outcome);
    else if (outcome.kind === 'job') outcome = await step(attempt, outcome.job);
    // A task whose deadline has passed waits for no further job.
    else return outcome.kind === 'waits' && hasDeadlinePassed(attempt) ? interrupted(attempt) : outcome;
  }
}

/** After the deadline no job is created or searched for. An unavailable database is retried, so that the job is checked once more. */
async function untilDeadline(attempt: Attempt, work: () => Promise<Outcome>): Promise<Outcome> {
  if (attempt.signal.aborted) return interrupted(attempt);
  try {
    const outcome = await work();
    const isDecided = outcome.kind !== 'waits' && outcome.kind !== 'undecided';
    return isDecided || !hasDeadlinePassed(attempt) ? outcome : interrupted(attempt);
  } catch (error) {
    if (error instanceof DatabaseUnavailable || !attempt.signal.aborted) throw error;
    return interrupted(attempt);
  }
}
