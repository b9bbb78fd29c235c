import type { FrameSize } from './frame-size.ts';
import type { Ratio } from './task-input.ts';

// The interfaces between folders that must not import each other. Activities, providers and media need them; temporal and media
// implement them.

/** The task, as far as Temporal knows it. */
export type TaskToStart = { readonly taskId: string; readonly accountId: string; readonly model: string };

export type DeliveryToStart = { readonly taskId: string; readonly accountId: string };

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

/** What Videogen asks of Temporal. Every call is idempotent, and fails after a few seconds when Temporal is unavailable. */
export type Engine = {
  /** Starts the task's workflow; answers false when one exists already, also one that has ended, and leaves it alone. */
  readonly startTask: (task: TaskToStart) => Promise<boolean>;
  readonly describeTask: (taskId: string) => Promise<WorkflowDescription>;
  /** Asks the task's workflow to end, which stops its generation; answers false when it has ended or was never started. */
  readonly cancelTask: (taskId: string) => Promise<boolean>;
  /** Ends a workflow that cannot end by itself; harmless when it has ended. */
  readonly terminateTask: (taskId: string, reason: string) => Promise<void>;
  /** Deletes what was recorded of a final task and its callback; answers false while the task's workflow still runs. */
  readonly forgetTask: (taskId: string) => Promise<boolean>;
  /** Starts the workflow that empties a closed account; one that is running is left alone. */
  readonly startClosing: (accountId: string) => Promise<void>;
  /** Starts a delivery of the task's callback; one that is running is left alone, one that has ended begins again. */
  readonly startDelivery: (delivery: DeliveryToStart) => Promise<void>;
  /** For a callback that is overdue: as `startDelivery`, but one that runs and only pauses sends now, as with `redeliver`. */
  readonly wakeDelivery: (delivery: DeliveryToStart) => Promise<void>;
  /** Has the callback sent now: by its running workflow, which begins its schedule anew, or by a new one. */
  readonly redeliver: (delivery: DeliveryToStart) => Promise<void>;
};

/** A reference image that was fetched, checked and re-encoded by us: an upright JPEG that no other program writes to. */
export type ReferenceImage = FrameSize & { readonly path: string };

/** What the stored video must be, whatever the upstream delivers. Part of workflow histories. */
export type VideoWants = {
  /** Without it sound is removed. A video that came without sound stays silent. */
  readonly audio: boolean;
  /** `720p` scales the picture and cuts it at two sides, to the size of the ratio. */
  readonly fit: 'keep' | '720p';
  /** `adaptive` is the ratio nearest to that of the video. */
  readonly ratio: Ratio;
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
export type TaskStage = 'accept' | 'queue_wait' | 'generation' | 'store' | 'settle';
