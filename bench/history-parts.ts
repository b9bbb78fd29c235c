import type { WorkflowHandle } from '@temporalio/client';
import { showMs } from './row.ts';
import { median } from './statistics.ts';

type Event = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number];

/** Milliseconds of one workflow, by what they went to. */
export type HistoryParts = {
  readonly whole: number;
  /** A step of the workflow was ready, and waited for a worker. */
  readonly stepsWait: number;
  /** Steps of the workflow ran, with their local activities. */
  readonly stepsRun: number;
  readonly activitiesWait: number;
  readonly activitiesRun: number;
};

/** Adds up the times of a history, whose parts follow each other. The rest of `whole` is Temporal's own. */
export function historyParts(events: readonly Event[]): HistoryParts {
  const at = new Map(events.map((event) => [String(event.eventId), msOf(event)]));
  const between = (from: unknown, to: unknown) =>
    (at.get(String(to)) ?? Number.NaN) - (at.get(String(from)) ?? Number.NaN);
  const sum = (lengths: readonly number[]) => lengths.reduce((one, other) => one + other, 0);
  const steps = events.flatMap(({ workflowTaskCompletedEventAttributes: step, eventId }) =>
    step ? [{ ...step, endedEventId: eventId }] : [],
  );
  const activities = events.flatMap(({ activityTaskCompletedEventAttributes: activity, eventId }) =>
    activity ? [{ ...activity, endedEventId: eventId }] : [],
  );
  return {
    whole: between(events.at(0)?.eventId, events.at(-1)?.eventId),
    stepsWait: sum(steps.map((step) => between(step.scheduledEventId, step.startedEventId))),
    stepsRun: sum(steps.map((step) => between(step.startedEventId, step.endedEventId))),
    activitiesWait: sum(activities.map((one) => between(one.scheduledEventId, one.startedEventId))),
    activitiesRun: sum(activities.map((one) => between(one.startedEventId, one.endedEventId))),
  };
}

/** Shows the median of each part. */
export function showParts(all: readonly HistoryParts[]): string {
  const of = (name: keyof HistoryParts) => showMs(median(all.map((parts) => parts[name])));
  return `p50 ${of('whole')}: steps wait ${of('stepsWait')}, run ${of('stepsRun')}; activities wait ${of('activitiesWait')}, run ${of('activitiesRun')}`;
}

function msOf({ eventTime }: Event): number {
  return Number(eventTime?.seconds ?? 0) * 1000 + (eventTime?.nanos ?? 0) / 1e6;
}
