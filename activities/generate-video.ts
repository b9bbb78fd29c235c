import type { ReferenceMedia } from '../src/catalogue/media/media-by-role.ts';
import { Context } from '@temporalio/activity';
import { TaskError } from '../src/catalogue/tasks/task-error.ts';
import type { VideoForm } from '../src/catalogue/media/stored-video-form.ts';
import { mediaUrlsOf } from '../src/catalogue/input/task-input.ts';
import { listProviderJobs } from '../src/tasks/jobs/provider-jobs.ts';
import { isFinal } from '../src/catalogue/tasks/task.ts';
import { findTask, type GeneratingTask, pauseGeneration, beginGeneration } from '../src/tasks/task-rows.ts';
import type { MediaFetch } from '../src/media/references/reference-media.ts';
import { withRetryRecorded } from './activity-failure.ts';
import type { RunningAttempts } from './running-attempts.ts';
import type { Attempt, GenerationDeps } from './generation/attempt.ts';
import { errorOf } from './generation/failures.ts';
import { generate } from './generation/generate.ts';
import { openOrReserveJob, type NextJob, ownMachinePause } from '../src/tasks/jobs/next-job.ts';
import { heartbeatProgress } from './heartbeats.ts';
import type { StagedVideo } from './store-result.ts';
import { referenceFolderOf } from './task-file-keys.ts';
import { withWorkFolder } from './generation/work-folder.ts';
import { type Machine, requireWorkingMachine } from './require-working-machine.ts';

export type GenerateVideoDeps = GenerationDeps & {
  readonly attempts: RunningAttempts;
  readonly fetchMedia: (fetch: MediaFetch) => Promise<ReferenceMedia>;
  /** Videos of upstreams are marked as made by a model. */
  readonly marksVideos: boolean;
  readonly machine: Machine;
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
export function createGenerateVideo(deps: GenerateVideoDeps) {
  return ({ taskId, isRemote = false }: GenerationOrder): Promise<StagedVideo> =>
    withRetryRecorded(deps.db, taskId, () => generateOnce(deps, taskId, isRemote));
}

async function generateOnce(deps: GenerateVideoDeps, taskId: string, isRemote: boolean): Promise<StagedVideo> {
  const first = await admit(deps, taskId, isRemote);
  const task = await beginGeneration(deps.db, taskId, isRemote);
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
 * Throws if the task must wait for a slot or for our own machine. The task then
 * stays `queuing`, and its deadline does not run, because its attempt has not
 * begun.
 */
async function admit(deps: GenerateVideoDeps, taskId: string, isRemote: boolean): Promise<NextJob | undefined> {
  requireWorkingMachine(deps.machine);
  if (!isRemote) {
    const stop = await ownMachinePause(deps);
    if (stop !== undefined) throw errorOf(stop);
    return undefined;
  }
  const task = await findTask(deps.db, taskId);
  if (task === undefined || isFinal(task.state)) throw hasEnded();
  const next = await openOrReserveJob(deps, task, await listProviderJobs(deps.db, taskId));
  if (next.kind === 'job' || next.kind === 'resumed') return next;
  throw errorOf(next);
}

function hasEnded(): TaskError {
  return new TaskError('internal', 'The task has already ended.');
}

async function runAttempt(deps: GenerateVideoDeps, task: GeneratingTask, start: AttemptStart): Promise<StagedVideo> {
  const context = Context.current();
  const { workFolder, isRemote, first } = start;
  const { taskId } = task;
  const { input } = task.param;
  const hasMedia = mediaUrlsOf(input).length > 0;
  const deadline = deps.startDeadline(task.leftMs);
  const alive = deps.attempts.begin(taskId);
  const progress = heartbeatProgress(context, isRemote);
  const signalWithoutDeadline = AbortSignal.any([context.cancellationSignal, alive.signal]);
  const signal = AbortSignal.any([signalWithoutDeadline, deadline.signal]);
  const started: Attempt['started'] = { at: task.generationStartedAt };
  let fetched: Promise<ReferenceMedia> | undefined;
  const bounds = deps.models().get(task.param.model)?.input;
  const media = () => (fetched ??= deps.fetchMedia({ input, bounds, folder: workFolder, signal }));
  const form = formOf(deps, task, isRemote);
  const signals = { signal, signalWithoutDeadline };
  try {
    const attempt = { deps, task, started, form, workFolder, ...signals, media, report: progress.report };
    const outcome = await generate(attempt, first);
    if (outcome.kind === 'waits') await pauseGeneration(deps.db, taskId);
    if (outcome.kind !== 'video') throw errorOf(outcome);
    // The start may come from another machine's clock, so the stage is only as exact as the clocks agree.
    if (started.at !== undefined)
      deps.events.emit({ kind: 'stage_ended', stage: 'generation', durationMs: Date.now() - started.at });
    // The upstream has fetched the copies of the reference media.
    // `housekeeping` deletes those that a failed task or a crash leaves behind.
    if (hasMedia) await deps.media.deleteFolder(referenceFolderOf(taskId));
    return outcome.staged;
  } finally {
    deadline.stop();
    alive.stop();
    progress.stop();
  }
}

/** An upstream's video is converted or refused if it does not fit, and marked; the preview delivers exactly the ordered video. */
function formOf(
  { models, marksVideos }: Pick<GenerateVideoDeps, 'models' | 'marksVideos'>,
  { param }: GeneratingTask,
  isRemote: boolean,
): VideoForm | undefined {
  const { generateAudio: audio, resolution, ratio } = param.input;
  const model = models().get(param.model);
  const { fit = 'keep', lastFrame = false } = model ?? {};
  const isOfUpstream = isRemote || model?.isRemote === true;
  if (!isOfUpstream && !lastFrame) return undefined;
  const mark = isOfUpstream && marksVideos ? { mark: { model: param.model } } : {};
  return { audio, fit, resolution, ratio, lastFrame, ...mark };
}
