import type { Logger } from 'pino';
import type { Dialect } from '../src/domain/dialect.ts';
import type { ModelCatalogue } from '../src/domain/models.ts';
import type { ParsedTaskRequest } from '../src/domain/task-request.ts';
import type { TaskRecord } from '../src/domain/task-record.ts';
import type { TaskResult } from '../src/domain/task.ts';
import type { CallbackAnswer, CallbackPost } from '../src/outbound/post-callback.ts';
import type { Provider, ReferenceImage } from '../src/providers/provider.ts';
import type { Database } from '../src/stores/database.ts';

/** How a workflow stands in the engine; `missing` was never started, or was deleted. */
export type WorkflowStatus = 'running' | 'missing' | 'completed' | 'failed' | 'cancelled' | 'terminated' | 'timed_out';

/** What one look at a task's workflow tells. */
export type WorkflowLook = {
  readonly status: WorkflowStatus;
  /** How often in a row its current workflow task was tried: more than one or two means that it cannot go on. */
  readonly workflowTaskAttempts: number;
  /** Types of the activities that are scheduled or running. */
  readonly pendingActivities: readonly string[];
};

/** What activities ask of Temporal; every call is idempotent and bounded in time. */
export type Engine = {
  /** Answers false when the task's workflow exists already, also one that has ended. */
  startTask(task: { taskId: string; accountId: string; model: string }): Promise<boolean>;
  lookAt(taskId: string): Promise<WorkflowLook>;
  /** Harmless for a workflow that is gone. */
  cancelTask(taskId: string): Promise<void>;
  terminateTask(taskId: string, reason: string): Promise<void>;
  startDelivery(delivery: { taskId: string; accountId: string }): Promise<void>;
};

/** Fetches, checks and re-encodes the images of a request into `folder`; throws a `TaskFault`. */
export type FetchImages = (job: {
  readonly urls: readonly string[];
  readonly folder: string;
  readonly signal: AbortSignal;
}) => Promise<readonly ReferenceImage[]>;

/** Keeps media by key; the same key may be written again. */
export type MediaStore = {
  put(key: string, filePath: string, contentType: string): Promise<void>;
  /** Copies a stored file to `filePath`; answers false when there is none. */
  fetchTo(key: string, filePath: string): Promise<boolean>;
  delete(key: string): Promise<void>;
};

/** Measures a video and makes its poster; throws a `TaskFault` with `result_invalid` when it does not play. */
export type InspectVideo = (
  videoPath: string,
  posterPath: string,
  signal: AbortSignal,
) => Promise<Omit<TaskResult, 'videoKey' | 'posterKey'>>;

/** Everything that the activities need of the world; the worker's front door puts it together. */
export type ActivityDeps = {
  readonly db: Database;
  readonly log: Logger;
  readonly models: ModelCatalogue;
  readonly parseTaskRequest: (body: unknown) => ParsedTaskRequest;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly fetchImages: FetchImages;
  readonly media: MediaStore;
  readonly inspectVideo: InspectVideo;
  readonly postCallback: (post: CallbackPost) => Promise<CallbackAnswer>;
  /** The record of a final task, with fresh links. */
  readonly recordOf: (taskId: string) => Promise<TaskRecord>;
  /** The text of the callback about a final task. */
  readonly callbackBody: (record: TaskRecord, dialect: Dialect) => string;
  readonly engine: Engine;
  /** A folder on a local disk for files that live as long as one attempt. */
  readonly workFolder: string;
  /** How long media is kept after success; the record stays. */
  readonly retentionMs: number;
  /** Counts what `reconcile` did about a task without a workflow. */
  readonly onSettled: (outcome: 'started' | 'refunded') => void;
};
