import { DatabaseUnavailable } from '../../src/platform/database/database.ts';
import { listProviderJobs } from '../../src/providers/provider-jobs.ts';
import { type Attempt, hasDeadlinePassed, interrupted } from './attempt.ts';
import { fetchVideo, findStaged } from './fetch.ts';
import { followJob, waitForProvider } from './follow.ts';
import { type Job, type Outcome, runningJob, type Stop } from './job.ts';
import { recoverJob } from './recover.ts';
import { countLost, jobKeyOf, nextJob, type NextJob } from './reserve.ts';
import { runJob } from './run.ts';
import { submitJob } from './submit.ts';

// A task's jobs, one after the other, until one has led to the video.
//
// | state of the job | step    | leads to                                                           |
// | ---------------- | ------- | ------------------------------------------------------------------ |
// | reserved         | submit  | held, running, unanswered, or the next job                         |
// | held             | run     | the video, or the next job                                         |
// | unanswered       | recover | running, or the next job                                           |
// | running          | follow  | succeeded, or the next job                                         |
// | succeeded        | fetch   | the video                                                          |
//
// A held job lives in the request that creates it, and an unanswered one is a create whose response was lost. Every step commits its
// result, or ends the task or this attempt. The next attempt, also after a crash, resumes the job from its row (`resumeJob`).

/** The state machine of a job. */
function step(attempt: Attempt, job: Job): Promise<Outcome> {
  switch (job.state) {
    case 'reserved':
      return untilDeadline(attempt, () => submitJob(attempt, job));
    case 'held':
      return runJob(attempt, job);
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
  // A task that is generated here has no rows before its first attempt, which therefore reads none.
  let outcome: Outcome | NextJob = first ?? (task.isFirst ? await nextJob(deps, task, []) : { kind: 'next' });
  for (;;) {
    if (outcome.kind === 'next') outcome = await nextJob(deps, task, await listProviderJobs(deps.db, task.taskId));
    else if (outcome.kind === 'resumed') outcome = (await findStaged(attempt)) ?? (await resumeJob(attempt, outcome));
    else if (outcome.kind === 'job') outcome = await step(attempt, outcome.job);
    else return outcome;
  }
}

/** Reads the state of a job whose intent was committed before, by an earlier attempt or by this one. */
async function resumeJob(attempt: Attempt, { row, earlier }: Extract<NextJob, { kind: 'resumed' }>): Promise<Outcome> {
  const { deps, task } = attempt;
  const open = await waitForProvider(attempt, row, () => deps.providers.ofJob(row));
  if ('kind' in open) return open;
  const { provider } = open;
  const { ordinal, pool, jobId: id, handle, intendedAt, ageMs, submittedAt, upstreamEndedAt } = row;
  const jobKey = jobKeyOf(task.taskId, row.provider, earlier);
  const job = { taskId: task.taskId, ordinal, jobKey, pool, open, resubmissions: countLost(earlier) };
  if (provider.runs !== 'upstream') return { kind: 'job', job: { ...job, state: 'held', provider } };
  if (id === undefined) return { kind: 'job', job: { ...job, state: 'unanswered', provider, intendedAt, ageMs } };
  // The attempt that recorded the job may have died before this.
  await attempt.markGenerating();
  return { kind: 'job', job: runningJob(task, job, { provider, id, handle, submittedAt, upstreamEndedAt }) };
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
