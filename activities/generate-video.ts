import { Context } from '@temporalio/activity';
import { TaskError } from '../src/domain/errors.ts';
import type { ReferenceImage, VideoWants } from '../src/domain/ports.ts';
import { listProviderJobs } from '../src/stores/provider-jobs.ts';
import {
  findGeneration,
  type GeneratingTask,
  pauseGeneration,
  recordGenerating,
  startGeneration,
} from '../src/stores/tasks.ts';
import { withActivityFailures } from './activity-failure.ts';
import type { ActivityDeps } from './deps.ts';
import { errorOf } from './generation/failures.ts';
import { generate } from './generation/generate.ts';
import { nextJob, type NextJob, ownMachineStop } from './generation/reserve.ts';
import { heartbeatProgress } from './heartbeats.ts';
import type { StagedVideo } from './store-result.ts';
import { imageFolderOf, withWorkFolder } from './task-files.ts';

export type GenerationOrder = {
  readonly taskId: string;
  /** Whether upstreams generate it: then the task may wait for a slot before its generation begins. */
  readonly isRemote?: boolean;
};

/**
 * Runs the generation to its end, or resumes the provider's job that an earlier attempt began. Reports progress by heartbeat. The
 * task's own deadline limits the time it runs, over all attempts, without the pauses between them.
 */
export function createGenerateVideo(deps: ActivityDeps) {
  return ({ taskId, isRemote = false }: GenerationOrder): Promise<StagedVideo> =>
    withActivityFailures(async () => {
      const first = isRemote ? await firstJob(deps, taskId) : await requireOwnMachine(deps);
      const task = await startGeneration(deps.db, taskId, { waitsForJob: isRemote });
      if (task === undefined) throw hasEnded();
      const { createdAt, generationStartedAt = createdAt, isFirst } = task;
      if (isFirst) deps.taskEvents.stage('queue_wait', generationStartedAt - createdAt);
      return await withWorkFolder(deps.workFolder, taskId, (workFolder) =>
        runAttempt(deps, task, { workFolder, isRemote, first: first ?? undefined }),
      );
    });
}

/** Before the attempt begins, so that the task stays `queuing`, and its deadline does not run, while it waits for a slot. */
async function firstJob(deps: ActivityDeps, taskId: string): Promise<NextJob> {
  const task = await findGeneration(deps.db, taskId);
  if (task === undefined) throw hasEnded();
  const next = await nextJob(deps, task, await listProviderJobs(deps.db, taskId));
  if (next.kind === 'job' || next.kind === 'resumed') return next;
  throw errorOf(next);
}

async function requireOwnMachine(deps: ActivityDeps): Promise<void> {
  const stop = await ownMachineStop(deps);
  if (stop !== undefined) throw errorOf(stop);
}

function hasEnded(): TaskError {
  return new TaskError('internal', 'The task has already ended.');
}

type Start = { readonly workFolder: string; readonly isRemote: boolean; readonly first: NextJob | undefined };

async function runAttempt(deps: ActivityDeps, task: GeneratingTask, start: Start): Promise<StagedVideo> {
  const context = Context.current();
  const { workFolder, isRemote, first } = start;
  const { taskId } = task;
  const { imageUrls: urls } = task.param.input;
  const deadline = deps.startDeadline(task.leftMs);
  const alive = deps.attempts.begin(taskId);
  const progress = heartbeatProgress(context, isRemote);
  const patientSignal = AbortSignal.any([context.cancellationSignal, alive.signal]);
  const signal = AbortSignal.any([patientSignal, deadline.signal]);
  const started = trackStart(deps, task);
  let fetched: Promise<readonly ReferenceImage[]> | undefined;
  const images = () => (fetched ??= deps.fetchImages({ urls, folder: workFolder, signal }));
  const { report } = progress;
  const { markGenerating } = started;
  const wants = wantsOf(deps, task, isRemote);
  try {
    const attempt = { deps, task, wants, workFolder, signal, patientSignal, images, report, markGenerating };
    const outcome = await generate(attempt, first);
    if (outcome.kind === 'waits') await pauseGeneration(deps.db, taskId);
    if (outcome.kind !== 'video') throw errorOf(outcome);
    started.end();
    // The upstream needs them no more. What a failed task or a crash leaves is found by `reconcile`.
    if (urls.length > 0) await deps.media.deleteFolder(imageFolderOf(taskId));
    return outcome.staged;
  } finally {
    deadline.stop();
    alive.stop();
    progress.stop();
  }
}

/** Records when the task has its job, and measures the stages of its generation. */
function trackStart({ db, taskEvents }: ActivityDeps, { taskId, createdAt, generationStartedAt }: GeneratingTask) {
  let startedAt = generationStartedAt;
  return {
    markGenerating: async (sinceMs = 0) => {
      if (startedAt !== undefined) return;
      startedAt = (await recordGenerating(db, taskId, sinceMs))?.generationStartedAt;
      if (startedAt !== undefined) taskEvents.stage('queue_wait', startedAt - createdAt);
    },
    /** The start may come from another machine's clock, so the stage is only as exact as the clocks agree. */
    end: () => {
      if (startedAt !== undefined) taskEvents.stage('generation', Date.now() - startedAt);
    },
  };
}

/** What an upstream delivers is made to fit; the preview delivers exactly what was ordered. */
function wantsOf({ models }: ActivityDeps, { param }: GeneratingTask, isRemote: boolean): VideoWants | undefined {
  const { generateAudio: audio, ratio } = param.input;
  const model = models.get(param.model);
  return isRemote || model?.isRemote === true ? { audio, fit: model?.fit ?? 'keep', ratio } : undefined;
}
