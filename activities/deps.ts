import type { Logger } from 'pino';
import type { ModelCatalogue } from '../src/domain/models.ts';
import type { ParsedTaskRequest } from '../src/domain/task-request.ts';
import type { InspectedVideo, InspectionOrder } from '../src/media/inspect-video.ts';
import type { CallbackAnswer, CallbackPost } from '../src/outbound/webhook.ts';
import type { Provider, ReferenceImage } from '../src/providers/provider.ts';
import type { Database } from '../src/stores/database.ts';
import type { Delivery } from '../src/stores/deliveries.ts';
import type { MadeAttempt } from '../src/stores/delivery-attempts.ts';

/** How a workflow stands in the engine; `missing` was never started, or was deleted. */
export type WorkflowStatus = 'running' | 'missing' | 'completed' | 'failed' | 'cancelled' | 'terminated' | 'timed_out';

/** Times are Unix milliseconds of the engine's clock. */
export type CodeFailure = {
  /** When it failed first. */
  readonly since: number;
  /** When the try that runs now was begun; undefined while none does. */
  readonly retriedAt: number | undefined;
  readonly message: string;
};

/** What one look at a task's workflow tells. */
export type WorkflowLook = {
  readonly status: WorkflowStatus;
  /** Our code failed at its last step, and has got no further since; a busy or absent worker is no such failure. */
  readonly codeFailure: CodeFailure | undefined;
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

/** The callback owed for a task, as it stands; its body and secrets are made when they are asked for. */
export type OwedCallback = Pick<Delivery, 'state' | 'round'> & Omit<CallbackPost, 'signal'>;

/** Keeps media by key; the same key may be written again. */
export type MediaStore = {
  put(key: string, filePath: string, contentType: string): Promise<void>;
  /** Makes a stored file readable at `filePath`, where nothing lies; answers false when there is none. It must not be written to. */
  fetchTo(key: string, filePath: string): Promise<boolean>;
  /** Puts what lies under `from` under `to` instead, over what lay there. Nothing under `from` was moved before: it may be repeated. */
  move(moves: readonly { readonly from: string; readonly to: string }[]): Promise<void>;
  delete(key: string): Promise<void>;
};

/** Measures a video and sees to its poster; throws a `TaskFault` with `result_invalid` when it does not play. */
export type InspectVideo = (order: InspectionOrder) => Promise<InspectedVideo>;

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
  /** Undefined while the task runs, or when it was created without a callback. */
  readonly findCallback: (taskId: string) => Promise<OwedCallback | undefined>;
  readonly postCallback: (post: CallbackPost) => Promise<CallbackAnswer>;
  readonly recordAttempt: (made: MadeAttempt) => Promise<void>;
  readonly engine: Engine;
  /** A folder on a local disk for files that live as long as one attempt. */
  readonly workFolder: string;
  /** How long media is kept after success; the record stays. */
  readonly retentionMs: number;
  /** A task whose workflow's code fails is refunded after so long, so that a bad release can be rolled back before. */
  readonly stuckTaskMs: number;
  /** Counts what `reconcile` did about a task without a workflow. */
  readonly onSettled: (outcome: 'started' | 'refunded') => void;
};
