import type { Logger } from 'pino';
import type { CatalogueModel } from '../src/domain/catalogue/models.ts';
import type { Engine, ReferenceImage, TaskEvents } from '../src/domain/ports.ts';
import type { ParsedTaskRequest } from '../src/domain/task-request.ts';
import type { ResultStore } from '../src/media/result-store.ts';
import type { VideoInspector } from '../src/media/inspect-video.ts';
import type { VideoNormaliser } from '../src/media/normalise-video.ts';
import type { ImageFetch } from '../src/media/reference-image.ts';
import type { CallbackAnswer, CallbackPost } from '../src/outbound/webhook.ts';
import type { OnProviderEvent } from '../src/providers/provider-events.ts';
import type { Providers } from '../src/providers/registry.ts';
import type { Database } from '../src/stores/database.ts';
import type { Delivery } from '../src/stores/deliveries.ts';
import type { EndedCall } from '../src/stores/provider-jobs.ts';
import type { Attempts } from './attempts.ts';
import type { StartDeadline } from './deadline.ts';
import type { Switches } from './switches.ts';

/** The callback owed for a task; its body and secrets are read when it is sent. */
export type OwedCallback = Pick<Delivery, 'state' | 'round'> & Omit<CallbackPost, 'signal'>;

/** Counted repairs of `reconcile` beside those of tasks; `failed`: the next run repeats it. */
export const findings = [
  'callback_owed',
  'workflow_left',
  'provider_job_left',
  'media_expired',
  'upload_expired',
  'ledger_violation',
  'failed',
] as const;
export type Finding = (typeof findings)[number];

/** The dependencies of the activities; the worker wires them (src/main/worker-dependencies.ts). */
export type ActivityDeps = {
  readonly db: Database;
  readonly log: Logger;
  readonly models: ReadonlyMap<string, CatalogueModel>;
  readonly parseTaskRequest: (body: unknown) => ParsedTaskRequest;
  readonly providers: Providers;
  readonly attempts: Attempts;
  /** Starts the deadline of an attempt; tests end it. */
  readonly startDeadline: StartDeadline;
  readonly switches: Switches;
  /** Identifies an account to upstreams without naming it. */
  readonly hashAccount: (accountId: string) => string;
  readonly fetchImages: (fetch: ImageFetch) => Promise<readonly ReferenceImage[]>;
  readonly media: Pick<
    ResultStore,
    'put' | 'fetchTo' | 'move' | 'sizeOf' | 'delete' | 'deleteFolder' | 'link' | 'uploadLink'
  >;
  readonly normalizeVideo: VideoNormaliser;
  readonly inspectVideo: VideoInspector;
  /** Returns undefined while the task runs, or when it was created without a callback. */
  readonly findCallback: (taskId: string) => Promise<OwedCallback | undefined>;
  readonly postCallback: (post: CallbackPost) => Promise<CallbackAnswer>;
  readonly engine: Omit<Engine, 'redeliver'>;
  /** A folder on a local disk for files that live as long as one attempt. */
  readonly workFolder: string;
  readonly retention: {
    /** Counts from the success of a task; the record stays. */
    readonly mediaMs: number;
    readonly eventsMs: number;
    /** Counts from the loss of a user's last account. */
    readonly usersMs: number;
    /** Undefined stores prompts as long as their task. */
    readonly promptsMs: number | undefined;
  };
  /** A task whose workflow's code fails is refunded after this time, so that an operator can roll a bad release back. */
  readonly stuckTaskMs: number;
  /** Counts repaired tasks without a workflow. */
  readonly onSettled: (outcome: 'started' | 'refunded') => void;
  readonly onFinding: (finding: Finding) => void;
  readonly taskEvents: TaskEvents;
  readonly onProviderEvent: OnProviderEvent;
  readonly onCallEnded: (ended: EndedCall) => void;
};
