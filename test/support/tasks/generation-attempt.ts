import type { GenerationAttempt } from '../../../activities/generation/attempt-at-generation.ts';
import { activityDepsOf, type WorkerParts } from '../../../src/run/main/wire-activities.ts';
import { noMedia } from '../../../src/catalogue/media/media-by-role.ts';
import type { Task } from '../../../src/catalogue/tasks/task.ts';

/** An attempt at the generation of a task, without its timers. */
export function attemptAt(parts: WorkerParts, task: Task, workFolder: string): GenerationAttempt {
  const deadlineMs = 60_000;
  const { signal } = new AbortController();
  return {
    deps: activityDepsOf(parts),
    task: { ...task, isFirst: false, leftMs: deadlineMs, deadlineMs },
    started: { at: 0 },
    form: undefined,
    workFolder,
    signal,
    signalWithoutDeadline: signal,
    media: () => Promise.resolve(noMedia),
    report: () => {},
  };
}
