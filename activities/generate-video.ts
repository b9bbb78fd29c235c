import type { PreparedMediaByRole } from '../src/catalogue/media/media-by-role.ts';
import { Context } from '@temporalio/activity';
import { DatabaseUnavailableError } from '../src/platform/database/database.ts';
import { TaskError } from '../src/catalogue/tasks/task-error.ts';
import type { ConversionBeforeStorage } from '../src/catalogue/media/conversion-before-storage.ts';
import { mediaUrlsOf } from '../src/catalogue/input/task-input.ts';
import { listProviderJobs } from '../src/tasks/jobs/provider-jobs.ts';
import { isFinalState } from '../src/catalogue/tasks/task.ts';
import { findTask, type GeneratingTask, pauseDeadlineClock, beginGenerationAttempt } from '../src/tasks/task-rows.ts';
import type { ReferenceMediaRequest } from '../src/media/references/fetch-reference-media.ts';
import { withErrorsConvertedAndRetrySaved } from './convert-errors-and-save-retry-time.ts';
import type { RunningAttempts } from './running-attempts.ts';
import type { OpenJob, AttemptEndWithoutVideo } from '../src/tasks/jobs/job-of-attempt-types.ts';
import {
  type GenerationAttempt,
  type GenerationDeps,
  hasDeadlinePassed,
  attemptEndAfterAbort,
  type StepOutcome,
} from './generation/attempt-at-generation.ts';
import { errorOfAttemptEnd } from './generation/attempt-end-to-error.ts';
import { fetchVideoAndEndJob } from './generation/fetch-and-stage-video.ts';
import { followJob } from './generation/follow-job.ts';
import { resumeJobFromRow, recoverJobOfLostCreate } from './generation/resume-or-look-up-job.ts';
import { runJobInRequest } from './generation/run-in-request.ts';
import { submitJob } from './generation/submit-job.ts';
import { findOpenOrReserveJob, type NextJob, findDisabledMachinePause } from '../src/tasks/jobs/next-job.ts';
import { startProgressHeartbeats } from './heartbeats.ts';
import type { ConversionOrStoredResult } from './convert-and-store-video.ts';
import { referenceFolderOf } from './task-file-keys-and-deletion.ts';
import { withWorkFolder } from './generation/work-folder.ts';
import { type WorkFolderAndReadiness, requireWorkingMachine } from './require-working-machine.ts';

export type GenerateVideoDeps = GenerationDeps & {
  readonly attempts: RunningAttempts;
  readonly fetchMedia: (fetch: ReferenceMediaRequest) => Promise<PreparedMediaByRole>;
  /** Videos of upstreams are marked as made by a model. */
  readonly marksVideos: boolean;
  readonly machine: WorkFolderAndReadiness;
};

type GenerationOrder = {
  readonly taskId: string;
  /** Set for generation by upstreams: the task may wait for a slot before its generation begins. */
  readonly isRemote?: boolean;
};

type AttemptStart = { readonly workFolder: string; readonly isRemote: boolean; readonly first: NextJob | undefined };

/**
 * Runs the generation to its end, or resumes the provider's job that an earlier attempt began. Reports progress by heartbeat. The
 * task's own deadline limits the time it runs, over all attempts, without the pauses between them.
 */
export function createGenerateVideoActivity(deps: GenerateVideoDeps) {
  return ({ taskId, isRemote = false }: GenerationOrder): Promise<ConversionOrStoredResult> =>
    withErrorsConvertedAndRetrySaved(deps.db, taskId, () => generateOnce(deps, taskId, isRemote));
}

async function generateOnce(
  deps: GenerateVideoDeps,
  taskId: string,
  isRemote: boolean,
): Promise<ConversionOrStoredResult> {
  const first = await admit(deps, taskId, isRemote);
  const task = await beginGenerationAttempt(deps.db, taskId, isRemote);
  if (task === undefined) throw hasEnded();
  if (task.isFirst) {
    const { createdAt, generationStartedAt = createdAt } = task;
    deps.events.emit({ kind: 'stage_ended', stage: 'queue_wait', durationMs: generationStartedAt - createdAt });
  }
  return await withWorkFolder(deps.machine.workFolder, taskId, (workFolder) =>
    runAttempt(deps, task, { workFolder, isRemote, first }),
  );
}

/**
 * Throws if the task must wait for a slot or for our own machine. The task then stays `queuing`, and its deadline does not run, because its
 * attempt has not begun.
 */
async function admit(deps: GenerateVideoDeps, taskId: string, isRemote: boolean): Promise<NextJob | undefined> {
  requireWorkingMachine(deps.machine);
  if (!isRemote) {
    const stop = await findDisabledMachinePause(deps);
    if (stop !== undefined) throw errorOfAttemptEnd(stop);
    return undefined;
  }
  const task = await findTask(deps.db, taskId);
  if (task === undefined || isFinalState(task.state)) throw hasEnded();
  const next = await findOpenOrReserveJob(deps, task, await listProviderJobs(deps.db, taskId));
  if (next.kind === 'job' || next.kind === 'resumed') return next;
  throw errorOfAttemptEnd(next);
}

function hasEnded(): TaskError {
  return new TaskError('internal', 'The task has already ended.');
}

async function runAttempt(
  deps: GenerateVideoDeps,
  task: GeneratingTask,
  start: AttemptStart,
): Promise<ConversionOrStoredResult> {
  const context = Context.current();
  const { workFolder, isRemote, first } = start;
  const { taskId } = task;
  const { input } = task.param;
  const hasMedia = mediaUrlsOf(input).length > 0;
  const deadline = deps.startDeadline(task.leftMs);
  const alive = deps.attempts.begin(taskId);
  const progress = startProgressHeartbeats(context, isRemote);
  const signalWithoutDeadline = AbortSignal.any([context.cancellationSignal, alive.signal]);
  const signal = AbortSignal.any([signalWithoutDeadline, deadline.signal]);
  const started: GenerationAttempt['started'] = { at: task.generationStartedAt };
  let fetched: Promise<PreparedMediaByRole> | undefined;
  const bounds = deps.models().get(task.param.model)?.input;
  const media = () => (fetched ??= deps.fetchMedia({ input, bounds, folder: workFolder, signal }));
  const form = formOf(deps, task, isRemote);
  const signals = { signal, signalWithoutDeadline };
  try {
    const attempt = { deps, task, started, form, workFolder, ...signals, media, report: progress.report };
    const outcome = await runJobs(attempt, first);
    if (outcome.kind === 'waits') await pauseDeadlineClock(deps.db, taskId);
    if (outcome.kind !== 'video') throw errorOfAttemptEnd(outcome);
    // The start may come from another machine's clock, so the stage is only as exact as the clocks agree.
    if (started.at !== undefined)
      deps.events.emit({ kind: 'stage_ended', stage: 'generation', durationMs: Date.now() - started.at });
    // The upstream has fetched the copies of the reference media. `housekeeping` deletes those that a failed task or a crash leaves behind.
    if (hasMedia) await deps.media.deleteFolder(referenceFolderOf(taskId));
    return outcome.staged;
  } finally {
    deadline.stop();
    alive.stop();
    progress.stop();
  }
}

/**
 * Runs a task's jobs, one after the other, until one has led to the video. `findOpenOrReserveJob` selects each job; then its state selects the
 * step. `first` is the job that was selected before the attempt began.
 *
 * Every step commits its result, or ends the task or this attempt (src/tasks/jobs/end-job-and-decide-next.ts); that a job has succeeded is committed
 * first of all by the step that fetches its video. The next attempt, also after a crash, resumes the job from its row:
 * `findOpenOrReserveJob` finds the row, and `resumeJobFromRow` returns its state.
 */
async function runJobs(
  attempt: GenerationAttempt,
  first: NextJob | undefined,
): Promise<Extract<StepOutcome, { kind: 'video' }> | AttemptEndWithoutVideo> {
  const { deps, task } = attempt;
  let outcome: StepOutcome | NextJob = first ?? { kind: 'next' };
  for (;;) {
    if (outcome.kind === 'next')
      outcome = await findOpenOrReserveJob(deps, task, await listProviderJobs(deps.db, task.taskId));
    else if (outcome.kind === 'resumed') outcome = await resumeJobFromRow(attempt, outcome);
    else if (outcome.kind === 'job') outcome = await step(attempt, outcome.job);
    // A task whose deadline has passed waits for no further job.
    else return outcome.kind === 'waits' && hasDeadlinePassed(attempt) ? attemptEndAfterAbort(attempt) : outcome;
  }
}

/** The state machine of a job; src/tasks/jobs/job-states.ts declares the states and what they lead to. */
function step(attempt: GenerationAttempt, job: OpenJob): Promise<StepOutcome> {
  switch (job.state) {
    case 'reserved':
      return untilDeadline(attempt, () => submitJob(attempt, job));
    case 'in_request':
      return runJobInRequest(attempt, job);
    case 'unanswered':
      return untilDeadline(attempt, () => recoverJobOfLostCreate(attempt, job));
    case 'running':
      return followJob(attempt, job);
    case 'succeeded':
      break;
  }
  return fetchVideoAndEndJob(attempt, job);
}

/** After the deadline no job is created or searched for. An unavailable database is retried, so that the job is checked once more. */
async function untilDeadline(attempt: GenerationAttempt, work: () => Promise<StepOutcome>): Promise<StepOutcome> {
  if (attempt.signal.aborted) return attemptEndAfterAbort(attempt);
  try {
    const outcome = await work();
    const isDecided = outcome.kind !== 'waits' && outcome.kind !== 'undecided';
    return isDecided || !hasDeadlinePassed(attempt) ? outcome : attemptEndAfterAbort(attempt);
  } catch (error) {
    if (error instanceof DatabaseUnavailableError || !attempt.signal.aborted) throw error;
    return attemptEndAfterAbort(attempt);
  }
}

/** An upstream's video is converted or refused if it does not fit, and marked; the preview delivers exactly the ordered video. */
function formOf(
  { models, marksVideos }: Pick<GenerateVideoDeps, 'models' | 'marksVideos'>,
  { param }: GeneratingTask,
  isRemote: boolean,
): ConversionBeforeStorage | undefined {
  const { generateAudio: audio, resolution, ratio } = param.input;
  const model = models().get(param.model);
  const { fit = 'keep', lastFrame = false } = model ?? {};
  const isOfUpstream = isRemote || model?.isRemote === true;
  if (!isOfUpstream && !lastFrame) return undefined;
  const mark = isOfUpstream && marksVideos ? { mark: { model: param.model } } : {};
  return { audio, fit, resolution, ratio, lastFrame, ...mark };
}
