import { ApplicationFailure } from '@temporalio/activity';
import { TaskFault } from '../../src/domain/errors.ts';
import type { TierEntry } from '../../src/domain/catalogue/models.ts';
import type { TaskFailure } from '../../src/domain/task.ts';
import type { Fault, GeneratedVideo, JobRequest } from '../../src/providers/contract.ts';
import type { OpenProvider } from '../../src/providers/registry.ts';
import { endProviderJob, listProviderJobs, type ProviderJobEnd } from '../../src/stores/provider-jobs.ts';
import type { GeneratingTask } from '../../src/stores/tasks.ts';
import type { ActivityDeps } from '../deps.ts';

// One attempt at the generation of a task, and the ways in which it can end.

/** What a client reads when a provider could not make its video. No word of an upstream is in it. */
export const providerFailures = {
  image: { failCode: 'image_invalid', failMsg: 'A reference image was rejected by the video provider.' },
  rejected: { failCode: 'provider_rejected', failMsg: 'The video provider does not accept this request.' },
  failed: { failCode: 'provider_rejected', failMsg: 'The video model failed while it made this video.' },
  unavailable: { failCode: 'provider_unavailable', failMsg: 'The video provider is not available at the moment.' },
  tooLarge: { failCode: 'result_invalid', failMsg: 'The generated video is too large to be stored.' },
  timeout: { failCode: 'timeout', failMsg: 'The video was not finished within the time allowed for this model.' },
  cancelled: { failCode: 'cancelled', failMsg: 'The task was cancelled.' },
} as const satisfies Readonly<Record<string, TaskFailure>>;

const rejectedByPolicy = {
  prompt: 'The prompt was rejected by the content policy.',
  image: 'A reference image was rejected by the content policy.',
  output: 'The generated video was rejected by the content policy.',
  unknown: 'The request was rejected by the content policy.',
} as const;

/** The failure of a task that no other provider is asked to make; undefined for a fault that is only this provider's. */
export function failureFor({ kind, about }: Fault): TaskFailure | undefined {
  if (kind === 'content') return { failCode: 'content_rejected', failMsg: rejectedByPolicy[about ?? 'unknown'] };
  return kind === 'image' ? providerFailures.image : undefined;
}

/** With this reason the signal of a generation aborts when the task's deadline passes. */
export const deadlinePassed = faultOf(providerFailures.timeout);

export type Attempt = {
  readonly deps: ActivityDeps;
  readonly task: GeneratingTask;
  readonly deadlineMs: number;
  /** Empty, of this attempt alone, and deleted after it. */
  readonly workFolder: string;
  /** Aborts when the attempt is to end, the deadline included. */
  readonly signal: AbortSignal;
  /** The same without the deadline, for a video that is paid for. */
  readonly patientSignal: AbortSignal;
  /** The reference images, fetched once in an attempt. */
  readonly images: JobRequest['images'];
  readonly report: (progress: number) => void;
  /** The task has a job, since so many milliseconds: from now on it is `generating`. May be called again. */
  readonly markGenerating: (sinceMs?: number) => Promise<void>;
};

/** A call for a job at a provider: one that is to be made, or one that an earlier attempt has made. */
export type Call = {
  readonly taskId: string;
  readonly ordinal: number;
  readonly jobKey: string;
  readonly open: OpenProvider;
};

/** `pool` is undefined where there are no places: on our own machine. */
export type Pooled = Call & { readonly pool: string | undefined };

/** A call that may be made now. */
export type NewCall = Pooled & { readonly entry: TierEntry };

/** The video, or undefined when this call has led to none and another one may. */
export type CallEnd = GeneratedVideo | StagedByUpstream | undefined;

/** The upstream wrote the video into our store, where it lies under its staging key now. */
export type StagedByUpstream = { readonly isStaged: true };

/**
 * Commits the call's end together with its reason, so that every attempt comes to the same end; answers the fault to throw. Two attempts
 * may be alive, and the later one may have seen what the earlier one did to the job: what was committed first counts.
 */
export async function failTask(
  { deps }: Pick<Attempt, 'deps'>,
  { taskId, ordinal }: Pick<Call, 'taskId' | 'ordinal'>,
  failure: TaskFailure,
  end: Omit<ProviderJobEnd, 'taskId' | 'ordinal' | 'failure'>,
): Promise<TaskFault> {
  if (await endCall(deps, { taskId, ordinal, failure, ...end })) return faultOf(failure, end.detail);
  const call = (await listProviderJobs(deps.db, taskId)).find((row) => row.ordinal === ordinal);
  return call?.failure === undefined ? unclear('another attempt has ended this call') : faultOf(call.failure);
}

/** Commits how the call ended; the first end stays, and is counted. Answers whether it is this one. */
export async function endCall({ db, events }: ActivityDeps, end: ProviderJobEnd): Promise<boolean> {
  const job = await endProviderJob(db, end);
  if (job !== undefined) events.emit({ kind: 'job_ended', job });
  return job !== undefined;
}

/** `detail` is for the log. */
export function faultOf({ failCode, failMsg }: TaskFailure, detail?: string): TaskFault {
  return new TaskFault(failCode, failMsg, detail === undefined ? {} : { cause: new Error(detail) });
}

/** Nothing was decided; the next attempt goes on. */
export function unclear(detail: string): TaskFault {
  const { failCode, failMsg } = providerFailures.unavailable;
  return new TaskFault(failCode, failMsg, { retryable: true, cause: new Error(detail) });
}

const maxPauseMs = 120_000;

/** Ends the attempt, and has Temporal begin the next one after a pause that costs nothing. */
export function waits(why: string, pauseMs: number): ApplicationFailure {
  const nextRetryDelay = Math.min(maxPauseMs, Math.max(1_000, Math.ceil(pauseMs)));
  return ApplicationFailure.create({ message: why, type: waitingType, nextRetryDelay });
}

const waitingType = 'waiting';

export function isWaiting(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.type === waitingType;
}
