import { z } from 'zod';
import { isFinal, type Task } from '../../catalogue/tasks/task.ts';
import type { ProviderJob } from '../../tasks/jobs/provider-jobs.ts';
import { unixMs } from '../core/request-fields.ts';

const stepNames = [
  'accepted',
  'waited',
  'generating',
  'stored',
  'succeeded',
  'failed',
  'refunded',
  'partially_refunded',
  'callback',
] as const;

export const stepSchema = z.strictObject({
  step: z.enum(stepNames),
  startTime: unixMs,
  endTime: unixMs.nullable().meta({ description: 'Null while the step runs; equal to `startTime` for an instant.' }),
});

type Step = z.output<typeof stepSchema>;

export function stepOf(step: Step['step'], startTime: number, endTime: number | null | undefined): Step {
  return { step, startTime, endTime: endTime ?? null };
}

/** The steps of a task until its end. They name no provider. */
export function stepsOf(task: Task, providerJobs: readonly ProviderJob[]): readonly Step[] {
  const { createdAt, generationStartedAt, completedAt, state } = task;
  const instant = (step: Step['step'], at: number) => stepOf(step, at, at);
  const steps = [instant('accepted', createdAt), stepOf('waited', createdAt, generationStartedAt ?? completedAt)];
  // The successful job ends when the video is available; storing it follows.
  const madeAt = providerJobs.find(({ outcome }) => outcome === 'success')?.endedAt;
  if (generationStartedAt !== undefined) {
    steps.push(stepOf('generating', generationStartedAt, madeAt ?? completedAt));
    if (madeAt !== undefined) steps.push(stepOf('stored', madeAt, completedAt));
  }
  if (completedAt === undefined || !isFinal(state)) return steps;
  return [...steps, ...endsOf(task).map((step) => instant(step, completedAt))];
}

/** The end of a task and its refund are one statement. */
function endsOf({ state, creditsRefunded }: Task): readonly Step['step'][] {
  if (state === 'fail') return ['failed', 'refunded'];
  return creditsRefunded > 0 ? ['succeeded', 'partially_refunded'] : ['succeeded'];
}
