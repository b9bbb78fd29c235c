import { z } from 'zod';
import type { FrameSize } from '../media/frame-size.ts';
import type { Ratio, Resolution } from './input-bounds.ts';

// The interfaces between folders that must not import each other. Activities, providers and media need them; temporal and media
// implement them.

export type TaskToStart = { readonly taskId: string; readonly accountId: string; readonly model: string };

/** The id of a task's callback is that of the task. */
export type DeliveryToStart = { readonly deliveryId: string; readonly accountId: string };

/** Status of a task's workflow; `missing` was never started, or was deleted. */
export type WorkflowStatus = 'running' | 'missing' | 'completed' | 'failed' | 'cancelled' | 'terminated' | 'timed_out';

/** Our code failed at a workflow's last step, and has not continued since. Times are Unix milliseconds of Temporal's clock. */
export type CodeFailure = {
  /** When it failed first. */
  readonly since: number;
  /** When the current attempt began; undefined without one. */
  readonly retriedAt: number | undefined;
  readonly message: string;
};

export type WorkflowDescription = {
  readonly status: WorkflowStatus;
  /** Undefined also for a busy or absent worker. */
  readonly codeFailure: CodeFailure | undefined;
  /** Types of the activities that are scheduled or running. */
  readonly pendingActivities: readonly string[];
};

/** The outcomes of a test of a provider. */
export const testOutcomes = [
  /** It responded as its API does. */
  'ok',
  /** It responded with something else, such as a page of a proxy. */
  'responded',
  'key_rejected',
  /** Too many requests, or an error of its own. */
  'unavailable',
  'unreachable',
  /** No request was possible. */
  'not_tested',
  /** No worker of ours ran the test in time. */
  'no_worker',
] as const;
export type TestOutcome = (typeof testOutcomes)[number];

export type ProviderTest = {
  readonly outcome: TestOutcome;
  /** The HTTP status that the upstream returned. */
  readonly status?: number | undefined;
  readonly latencyMs?: number | undefined;
  /** Only operators read it. */
  readonly detail?: string | undefined;
};

/** Every call to Temporal is idempotent, and fails after a few seconds when Temporal is unavailable. */
export type Engine = {
  /** Starts the task's workflow. Returns false if one exists already, also one that has ended. */
  readonly startTask: (task: TaskToStart) => Promise<boolean>;
  readonly describeTask: (taskId: string) => Promise<WorkflowDescription>;
  /**
   * Cancels the task's workflow, which stops its generation. Callers refund the task first. Returns false when the workflow has ended or
   * was never started.
   */
  readonly cancelWorkflow: (taskId: string) => Promise<boolean>;
  /**
   * Ends the pause before the next attempt at a step of the task. Returns whether there was one. An attempt that runs is left alone, and
   * continues the job that an earlier one has made.
   */
  readonly retryNow: (taskId: string) => Promise<boolean>;
  /** Tests a provider on a worker, with a request that costs nothing. Rejects if no worker runs it in time. */
  readonly testProvider: (provider: string) => Promise<ProviderTest>;
  /** Ends a workflow that cannot end on its own; harmless when it has ended. */
  readonly terminateTask: (taskId: string, reason: string) => Promise<void>;
  /** Deletes the histories of a final task, its callback and its event. Returns false while the task's workflow still runs. */
  readonly forgetTask: (taskId: string) => Promise<boolean>;
  /** Starts the workflow that empties a closed account, unless it is running. */
  readonly startClosing: (accountId: string) => Promise<void>;
  /** Starts the delivery of a callback or event, unless one is running; one that has ended begins again. */
  readonly startDelivery: (delivery: DeliveryToStart) => Promise<void>;
  /**
   * Sends an overdue callback or event: like `startDelivery`, but a running
   * delivery that is in a pause sends immediately.
   */
  readonly wakeDelivery: (delivery: DeliveryToStart) => Promise<void>;
  /**
   * Sends a callback or an event now: its running workflow restarts the
   * schedule, or a new one starts.
   */
  readonly redeliver: (delivery: DeliveryToStart) => Promise<void>;
};

/** The heartbeat of `generateVideo`; the API reads it as the progress of the task, 0 to 100. */
export const generationHeartbeat = z.object({ progress: z.number() });

/** A reference image that was fetched, checked and re-encoded by us: an upright JPEG that no other program writes to. */
export type ReferenceImage = FrameSize & { readonly path: string };

/** A reference video (MP4 with H.264 and AAC) or reference audio (MP3) that was fetched, checked and re-encoded by us. */
export type ReferenceClip = { readonly path: string; readonly seconds: number };

/** The reference media of a task by role, each in the order of the request. */
export type MediaByRole<Image, Clip = Image> = {
  readonly images: readonly Image[];
  readonly firstFrame?: Image | undefined;
  readonly lastFrame?: Image | undefined;
  readonly videos: readonly Clip[];
  readonly audios: readonly Clip[];
};

export type MediaRole = keyof MediaByRole<never>;
export const mediaRoles = ['images', 'firstFrame', 'lastFrame', 'videos', 'audios'] as const satisfies MediaRole[];

export type ReferenceMedia = MediaByRole<ReferenceImage, ReferenceClip>;

/** Signed links to copies in our store. */
export type MediaLinks = MediaByRole<string>;

export const noMedia = { images: [], videos: [], audios: [] } as const satisfies ReferenceMedia;

/** The stored video has this form, which the upstream's may need to be converted to. Part of workflow histories. */
export type VideoForm = {
  /** False removes the sound. A silent video stays silent. */
  readonly audio: boolean;
  /** `convert` scales the picture and cuts it at two sides, to the size of resolution and ratio. */
  readonly fit: 'keep' | 'convert';
  readonly resolution: Resolution;
  /** `adaptive` is the ratio nearest to that of the video. */
  readonly ratio: Ratio;
  /** True if the last frame is stored beside the video. */
  readonly lastFrame: boolean;
  /** Set for a video that is marked as made by a model, which has this name. */
  readonly mark?: { readonly model: string };
};

/** One run of ffmpeg. There is no shell: `args` reach it one by one, as they are. */
export type FfmpegRun = {
  /** All but the global options, which the runner adds. */
  readonly args: readonly string[];
  /** Relative paths in `args` start here. */
  readonly cwd: string;
  /** Aborting kills the child; the run then rejects with the signal's reason, after the child has ended. */
  readonly signal: AbortSignal;
  /** The longest time without another frame; a child that stalls is killed. */
  readonly stallMs?: number;
  /** The longest time of the whole run; unlimited by default. */
  readonly limitMs?: number;
  /** Takes the number of frames written so far, about twice a second. */
  readonly onFrame?: (frames: number) => void;
};

/** Runs ffmpeg to its end. Rejects with `FfmpegError` when it fails, and with the signal's reason when aborted. */
export type Ffmpeg = (run: FfmpegRun) => Promise<void>;

/**
 * The stages of a task: its acceptance; its wait, from the acceptance until its generation begins; the generation, over all attempts;
 * the check and storing of the video; and the statement that ends the task.
 */
export type TaskStage = 'accept' | 'queue_wait' | 'generation' | 'store' | 'end';
