import { endedPollMs } from '../../activities/running-attempts.ts';
import { jobCreateGraceMs } from '../../activities/generation/attempt-at-generation.ts';
import { maxLostCreateLookUpMs } from '../../activities/generation/resume-or-look-up-job.ts';
import { finalRequestLimitMs } from '../../activities/generation/end-declined-or-stop-cancelled-job.ts';
import { failedTaskMediaRetentionMs } from '../../activities/maintenance/housekeeping.ts';
import { deadlineGraceMs, startGraceMs } from '../../activities/maintenance/reconcile-tasks.ts';
import { stopGraceMs } from '../../activities/maintenance/settle-provider-jobs.ts';
import { callbackGraceMs } from '../../activities/maintenance/start-owed-callbacks-and-closings.ts';
import { defaultDeadlineMs } from '../catalogue/models/model-type-and-name-lookup.ts';
import {
  createAttemptRetentionMs,
  attemptAndEventRetentionMs,
  oneTimeLinkRetentionMs,
  loggedRequestRetentionMs,
} from '../library/operations/fixed-retention-periods.ts';
import { callerCacheMs } from '../api/core/authentication.ts';
import { resultLinkLifeMs, keepPreviousSecretMs } from '../media/store/signed-link.ts';
import { uploadGraceMs } from '../media/references/upload-limits-and-addresses.ts';
import { visibleWithinMs } from '../providers/jobs/pick-job-of-lost-create.ts';
import { dayMs, hourMs, minuteMs, secondMs } from '../platform/timing/milliseconds-per-unit.ts';
import { defaultRepeatWindowMs } from '../tasks/accept/answer-repeated-creates.ts';
import { maxAcceptRetryMs } from '../tasks/accept/accept-with-retry.ts';
import { conclusiveAfterMs } from '../tasks/accept/refund-uncertain-creates.ts';
import { callbackPausesMs, callbackTimeoutMs, pauseObeyingRetryAfter } from '../tasks/callbacks/callback-schedule.ts';
import { lateCreateWindowMs } from '../tasks/jobs/job-creates.ts';
import { cancelGraceMs } from '../tasks/end/end-task-statements.ts';
import { maxQueueMs } from '../temporal/connection/queue-names-and-workflow-ids.ts';
import { processDrainMs } from './main/run-until-signal.ts';
import { apiDrainMs } from './main/start-api.ts';
import { workerForceMs, workerGraceMs } from './main/worker-options.ts';

/** The times after which something ends that has no setting. docs/lifecycle.md lists them; `npm run reference` writes it from here. */
const limits: Readonly<Record<string, number>> = {
  'The commit of a create is retried after a lost connection': maxAcceptRetryMs,
  'A create whose commit stays uncertain is looked for, before it counts as never made': conclusiveAfterMs,
  'A create that an SDK counts as a retry repeats the one before it, if that is no older': defaultRepeatWindowMs,
  '`reconcile` starts the workflow of a task that has none': startGraceMs,
  'A task waits in all, for workers, slots and the store of its video, and is then refunded by `reconcile`': maxQueueMs,
  'The deadline of a model that declares none; it counts while an attempt is alive or a job runs upstream':
    defaultDeadlineMs,
  '`reconcile` refunds a task that is past its limits by this, when neither workflow nor worker did': deadlineGraceMs,
  'An attempt notices that its task has ended': endedPollMs,
  'A create in flight may still answer after a cancellation, a deadline or the stop of its worker': jobCreateGraceMs,
  'An upstream may take to answer that it has stopped a job': finalRequestLimitMs,
  '“No such job” of an upstream counts, at the earliest': lateCreateWindowMs,
  'A lost create is looked up in a list of jobs that can be read, before `onLostJob` decides': visibleWithinMs,
  'A lost create is looked up while answers cannot be read, before `onLostJob` decides': maxLostCreateLookUpMs,
  '`reconcile` stops a job that no task waits for': stopGraceMs,
  '`reconcile` terminates the workflow of a canceled task that still runs': cancelGraceMs,
  'A receiver may take to answer a callback': callbackTimeoutMs,
  'All attempts at a callback take, to a receiver without `Retry-After`': wholeHours(callbackPausesMs),
  'All attempts at a callback take, at most, to a receiver that sends `Retry-After`': wholeHours(
    callbackPausesMs.map((pause) => (pause === 0 ? 0 : pauseObeyingRetryAfter(pause, Infinity))),
  ),
  '`reconcile` sends a callback that is overdue': callbackGraceMs,
  'A stopping API finishes its requests, and then the starts of their workflows, each': apiDrainMs,
  'A stopping worker lets its activities end, before it cancels them': workerGraceMs,
  'A stopping worker ends, also with activities that hang': workerForceMs,
  'A stopping process exits, drained or not': processDrainMs,
  'A link to a video or poster is valid': resultLinkLifeMs,
  'A previous `VIDEOGEN_SECRET` is needed, because links that it signed may still be valid': keepPreviousSecretMs,
  'A create may use a cached API key; the accept statement checks it again': callerCacheMs,
  'Media of a failed task is deleted': failedTaskMediaRetentionMs,
  'The file of an expired upload is deleted': uploadGraceMs,
  'Requests of the request log are deleted': loggedRequestRetentionMs,
  'Records of attempts at creates are deleted': createAttemptRetentionMs,
  'One-time links that have expired are deleted': oneTimeLinkRetentionMs,
  'Attempts at callbacks, and events about no task, are deleted': attemptAndEventRetentionMs,
};

function wholeHours(pausesMs: readonly number[]): number {
  return Math.round(pausesMs.reduce((sum, pause) => sum + pause, 0) / hourMs) * hourMs;
}

const units = [
  ['day', dayMs],
  ['hour', hourMs],
  ['minute', minuteMs],
  ['second', secondMs],
] as const;

function duration(ms: number): string {
  const [unit, unitMs] = units.find(([, one]) => ms % one === 0) ?? (['second', secondMs] as const);
  const count = ms / unitMs;
  return `${count} ${count === 1 ? unit : `${unit}s`}`;
}

/** The rows of the table: what happens, and after how long. */
export const timeLimitRows: readonly (readonly [what: string, after: string])[] = Object.entries(limits).map(
  ([what, ms]) => [what, duration(ms)],
);
