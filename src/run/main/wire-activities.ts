import type { Engine } from '../../catalogue/tasks/workflow-engine.ts';
import type { Logger } from 'pino';
import type { RunningAttempts } from '../../../activities/running-attempts.ts';
import { createAuditBooks } from '../../../activities/maintenance/audit-books.ts';
import { createEmptyAccountPage, createFinishClosing, type SalesDeps } from '../../../activities/close-account.ts';
import { createConfirmCharge } from '../../../activities/confirm-charge.ts';
import type { StartDeadline } from '../../../activities/abort-timers.ts';
import { createCompleteTask, createRefundCredits } from '../../../activities/end-task.ts';
import { createGenerateVideo } from '../../../activities/generate-video.ts';
import type { GenerationDeps } from '../../../activities/generation/attempt.ts';
import { createHousekeep, type HousekeepDeps } from '../../../activities/maintenance/housekeeping.ts';
import type { CallbackActivities, GenerationActivities, MainActivities } from '../../../activities/index.ts';
import { createReconcilePayments } from '../../../activities/maintenance/reconcile-payments.ts';
import { createReconcileTasks } from '../../../activities/maintenance/reconcile-tasks.ts';
import { createSendCallback, type SendCallbackDeps } from '../../../activities/send-callback.ts';
import { createSettleProviderJobs } from '../../../activities/maintenance/settle-provider-jobs.ts';
import { createStartClosings, createStartOwedCallbacks } from '../../../activities/maintenance/start-owed-workflows.ts';
import { createStoreResult } from '../../../activities/store-result.ts';
import type { ProviderSwitches } from '../../../activities/watch-provider-switches.ts';
import { createTestProvider } from '../../../activities/test-provider.ts';
import type { VideoInspector } from '../../media/video/inspect-video.ts';
import type { VideoNormaliser } from '../../media/ffmpeg/normalize-video.ts';
import type { MediaFetch } from '../../media/references/reference-media.ts';
import type { ResultStore } from '../../media/store/result-store.ts';
import type { ServiceEvents } from '../metrics/service-event.ts';
import type { CatalogueModel } from '../../catalogue/file/catalogue-schema.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Providers, TestProvider } from '../../providers/registry.ts';
import type { ReferenceMedia } from '../../catalogue/media/media-by-role.ts';
import type { ParsedTaskRequest } from '../../tasks/accept/task-request.ts';

/** The parts of a worker process. An activity gets those that it declares. */
export type WorkerParts = {
  readonly db: Database;
  readonly log: Logger;
  readonly events: ServiceEvents;
  readonly engine: Omit<Engine, 'redeliver' | 'retryNow' | 'testProvider'>;
  readonly media: Pick<
    ResultStore,
    'put' | 'fetchTo' | 'move' | 'sizeOf' | 'list' | 'delete' | 'deleteFolder' | 'link' | 'uploadLink'
  >;
  /** The catalogue in force. */
  readonly catalogue: {
    readonly models: () => ReadonlyMap<string, CatalogueModel>;
    readonly parseTaskRequest: (body: unknown) => ParsedTaskRequest;
  };
  readonly providers: Providers & { readonly test: TestProvider };
  /** An attempt watches its deadline, the end of its task, the operators' switches, and its machine. */
  readonly watches: {
    readonly startDeadline: StartDeadline;
    readonly attempts: RunningAttempts;
    readonly switches: ProviderSwitches;
    readonly refusesWork: () => string | undefined;
  };
  readonly videoTools: {
    readonly fetchMedia: (fetch: MediaFetch) => Promise<ReferenceMedia>;
    readonly normalizeVideo: VideoNormaliser;
    readonly inspectVideo: VideoInspector;
  };
  readonly callbacks: Pick<SendCallbackDeps, 'box' | 'callbackFormatOf' | 'postCallback'>;
  readonly payments: SalesDeps | undefined;
  /** Needs nothing but settings. */
  readonly settings: {
    readonly workFolder: string;
    readonly marksVideos: boolean;
    readonly serviceName: string;
    readonly hashAccount: GenerationDeps['hashAccount'];
    readonly retention: HousekeepDeps['retention'];
    readonly stuckTaskMs: number;
  };
};

/** The activities of each kind of worker. */
export function wireActivities(parts: WorkerParts) {
  return { main: wireMain(parts), generation: wireGeneration(parts), callbacks: wireCallbacks(parts) };
}

function wireMain(parts: WorkerParts): MainActivities {
  const { db, log, events, engine, media, catalogue, providers, payments } = parts;
  const { models, parseTaskRequest } = catalogue;
  const { normalizeVideo, inspectVideo } = parts.videoTools;
  const { serviceName, hashAccount, retention, stuckTaskMs } = parts.settings;
  const { switches } = parts.watches;
  const rows = { db, log, events };
  const machine = machineOf(parts);
  return {
    chargeCredits: createConfirmCharge({ db, models, parseTaskRequest, events }),
    storeResult: createStoreResult({ db, media, normalizeVideo, inspectVideo, serviceName, machine, events }),
    completeTask: createCompleteTask({ ...rows, media }),
    refundCredits: createRefundCredits(rows),
    auditBooks: createAuditBooks(rows),
    housekeep: createHousekeep({ ...rows, media, engine, retention }),
    reconcilePayments: createReconcilePayments({ ...rows, payments }),
    testProvider: createTestProvider({ models, testProvider: providers.test }),
    reconcileTasks: createReconcileTasks({ ...rows, engine, stuckTaskMs }),
    settleProviderJobs: createSettleProviderJobs({ ...rows, engine, providers, hashAccount, switches }),
    startOwedCallbacks: createStartOwedCallbacks({ ...rows, engine }),
    startClosings: createStartClosings({ ...rows, engine }),
    emptyAccountPage: createEmptyAccountPage({ ...rows, media, engine, payments }),
    finishClosing: createFinishClosing({ db, log }),
  };
}

function wireGeneration(parts: WorkerParts): GenerationActivities {
  const { fetchMedia } = parts.videoTools;
  const { attempts } = parts.watches;
  const { marksVideos } = parts.settings;
  const machine = machineOf(parts);
  const deps = { ...generationDepsOf(parts), attempts, fetchMedia, marksVideos, machine };
  return { generateVideo: createGenerateVideo(deps) };
}

/** The dependencies of the steps of a job. */
export function generationDepsOf(parts: WorkerParts): GenerationDeps {
  const { db, log, events, media, providers } = parts;
  const { models } = parts.catalogue;
  const { startDeadline, switches } = parts.watches;
  const { hashAccount } = parts.settings;
  return { db, log, events, models, providers, switches, hashAccount, media, startDeadline };
}

function wireCallbacks({ db, events, media, catalogue, callbacks }: WorkerParts): CallbackActivities {
  return { sendCallback: createSendCallback({ db, events, media, models: catalogue.models, ...callbacks }) };
}

function machineOf({ settings: { workFolder }, watches: { refusesWork } }: WorkerParts) {
  return { workFolder, refusesWork };
}
