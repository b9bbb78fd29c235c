import type { Logger } from 'pino';
import type { CatalogueModel } from '../src/models/catalogue/models.ts';
import type { Engine, ReferenceMedia } from '../src/tasks/ports.ts';
import type { ParsedTaskRequest } from '../src/tasks/task-request.ts';
import type { ResultStore } from '../src/media/result-store.ts';
import type { VideoInspector } from '../src/media/inspect-video.ts';
import type { VideoNormaliser } from '../src/media/normalize-video.ts';
import type { MediaFetch } from '../src/media/reference-media.ts';
import type { Events } from '../src/metrics/events.ts';
import type { CallbackAnswer, CallbackPost } from '../src/callbacks/post-callback.ts';
import type { PaymentProvider } from '../src/payments/contract.ts';
import type { Providers, TestProvider } from '../src/providers/registry.ts';
import type { Database } from '../src/platform/database/database.ts';
import type { Delivery } from '../src/callbacks/deliveries.ts';
import type { Attempts } from './attempts.ts';
import type { StartDeadline } from './deadline.ts';
import type { Switches } from './switches.ts';

/** A callback or event that is owed; its body and secrets are read when it is sent. */
export type OwedDelivery = Pick<Delivery, 'state' | 'redeliveries'> & Omit<CallbackPost, 'signal'>;

/** The dependencies of the activities; the worker wires them (src/main/worker-dependencies.ts). */
export type ActivityDeps = {
  readonly db: Database;
  readonly log: Logger;
  readonly models: ReadonlyMap<string, CatalogueModel>;
  readonly parseTaskRequest: (body: unknown) => ParsedTaskRequest;
  readonly providers: Providers;
  readonly testProvider: TestProvider;
  readonly attempts: Attempts;
  /** Starts the deadline of an attempt, and the grace time of a create in flight; tests end them. */
  readonly startDeadline: StartDeadline;
  readonly switches: Switches;
  /** Identifies an account to upstreams without naming it. */
  readonly hashAccount: (accountId: string) => string;
  readonly fetchMedia: (fetch: MediaFetch) => Promise<ReferenceMedia>;
  readonly media: Pick<
    ResultStore,
    'put' | 'fetchTo' | 'move' | 'sizeOf' | 'list' | 'delete' | 'deleteFolder' | 'link' | 'uploadLink'
  >;
  readonly normalizeVideo: VideoNormaliser;
  readonly inspectVideo: VideoInspector;
  /** Videos of upstreams are marked as made by a model. */
  readonly marksVideos: boolean;
  /** The name of the service, which marks of videos contain. */
  readonly serviceName: string;
  /** Returns undefined if none is owed: while the task runs, without `callBackUrl`, or for a closed account. */
  readonly findOwedDelivery: (deliveryId: string) => Promise<OwedDelivery | undefined>;
  readonly postCallback: (post: CallbackPost) => Promise<CallbackAnswer>;
  readonly engine: Omit<Engine, 'redeliver' | 'retryNow' | 'testProvider'>;
  /** Undefined while credits are not for sale. */
  readonly payments: PaymentProvider | undefined;
  readonly publicUrl: string;
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
  /** Returns why no attempt may begin on this worker now, such as a full disk. */
  readonly refusesWork?: () => string | undefined;
  readonly events: Events;
};
