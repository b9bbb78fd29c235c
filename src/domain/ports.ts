import type { FrameSize } from './frame-size.ts';
import type { TaskResult } from './task.ts';

// The interfaces between the rooms: activities, HTTP and providers need them; temporal and media implement them.

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
  /** Starts a delivery of the task's callback; one that is running is left alone, one that has ended begins again. */
  readonly startDelivery: (delivery: DeliveryToStart) => Promise<void>;
  /** For a callback that is overdue: as `startDelivery`, but one that runs and only pauses sends now, as with `redeliver`. */
  readonly wakeDelivery: (delivery: DeliveryToStart) => Promise<void>;
  /** Has the callback sent now: by its running workflow, which begins its schedule anew, or by a new one. */
  readonly redeliver: (delivery: DeliveryToStart) => Promise<void>;
};

/** A link to the media route, as the client sent it. */
export type PresentedLink = { readonly key: string; readonly expires: string; readonly signature: string };

/** A file that a good link leads to: `path` lies in `root` and has `/` between its segments. */
export type LinkedFile = {
  readonly root: string;
  readonly path: string;
  readonly contentType: string;
  /** A name for the browser's "save as": letters, digits, dots, dashes and underscores. */
  readonly downloadName: string;
  /** Unix milliseconds. */
  readonly linkExpiresAt: number;
};

/** Two keys with the same ending. */
export type Move = { readonly from: string; readonly to: string };

/**
 * Where results are kept, by key: at most eight path segments of a strict charset with a known ending
 * (`results/<taskId>/video.mp4`). A method throws for what is no key, and for faults of the disk or the network.
 */
export type MediaStore = {
  /** Stores a copy of a file, all of it or nothing. The same key may be written again; readers see the old or the new file. */
  put(key: string, filePath: string, contentType: string): Promise<void>;
  /**
   * Makes a stored file readable at `filePath`, where no file may exist; answers false when there is none. It stays readable
   * when the key is deleted, and may share its bytes with the store, so it must not be written to.
   */
  fetchTo(key: string, filePath: string): Promise<boolean>;
  /**
   * Moves each file from `from` to `to`, each atomically, over an existing one. When there is nothing under a `from` it was
   * moved before, so moves may be repeated.
   */
  move(moves: readonly Move[]): Promise<void>;
  /** Deletes a stored file; harmless when there is none. */
  delete(key: string): Promise<void>;
};

/** The store as clients see it, by signed links. */
export type ResultStore = MediaStore & {
  /** An absolute URL that anybody may read for a limited time, signed for this call. Does not check whether the file exists. */
  link(key: string): Promise<string> | string;
  /**
   * For a store whose links lead back to this service: the file behind a link, or undefined for one that is altered or
   * expired. A store that serves its links itself has no such method.
   */
  readonly open?: (link: PresentedLink) => LinkedFile | undefined;
};

/** A reference image that was fetched, checked and re-encoded by us: an upright JPEG that no other program writes to. */
export type ReferenceImage = FrameSize & { readonly path: string };

export type ImageFetch = {
  readonly urls: readonly string[];
  /** An existing folder of this attempt, which takes the images. */
  readonly folder: string;
  readonly signal: AbortSignal;
};

/** Fetches, checks and re-encodes the images of a request, in the order of `urls`; throws a `TaskFault` for a bad one. */
export type FetchImages = (fetch: ImageFetch) => Promise<readonly ReferenceImage[]>;

/** One run of ffmpeg. There is no shell: `args` reach it one by one, as they are. */
export type FfmpegRun = {
  /** All but the global options, which the runner adds. */
  readonly args: readonly string[];
  /** Relative paths in `args` start here. */
  readonly cwd: string;
  /** Aborting kills the child; the run then rejects with the signal's reason, after the child has ended. */
  readonly signal: AbortSignal;
  /** The longest time without another frame; a child that stalls is killed. The signal limits the whole run. */
  readonly stallMs?: number;
  /** Takes the number of frames written so far, about twice a second. */
  readonly onFrame?: (frames: number) => void;
};

/** Runs ffmpeg to its end. Rejects with `FfmpegError` when it fails, and with the signal's reason when aborted. */
export type Ffmpeg = (run: FfmpegRun) => Promise<void>;

export type VideoInspection = {
  readonly videoPath: string;
  /** The poster that came with the video, if one did; it may turn out to be invalid. */
  readonly deliveredPoster: string | undefined;
  /** Where a poster is written when one has to be made. */
  readonly posterPath: string;
  readonly signal: AbortSignal;
};

export type InspectedVideo = {
  readonly measured: Omit<TaskResult, 'videoKey' | 'posterKey'>;
  /** False when the delivered one is good; then nothing was written. */
  readonly isPosterMade: boolean;
};

/** Measures a video and makes its poster if it has none; throws a `TaskFault` with `result_invalid` when it does not play. */
export type InspectVideo = (inspection: VideoInspection) => Promise<InspectedVideo>;
