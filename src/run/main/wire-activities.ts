import type { WorkflowEngine } from '../../catalogue/tasks/workflow-engine.ts';
import type { Logger } from 'pino';
import type { RunningAttempts } from '../../../activities/running-attempts.ts';
import { createAuditBooks } from '../../../activities/maintenance/audit-books.ts';
import {
  createEmptyAccountPage,
  createFinishClosing,
  type PaymentProviderAndUrl,
} from '../../../activities/close-account.ts';
import { createConfirmCharge } from '../../../activities/confirm-charge.ts';
import type { StartDeadline } from '../../../activities/abort-timers.ts';
import { createCompleteTask, createRefundCredits } from '../../../activities/end-task.ts';
import { createGenerateVideo } from '../../../activities/generate-video.ts';
import type { GenerationDeps } from '../../../activities/generation/attempt-at-generation.ts';
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
import type { VideoInspector } from '../../media/video/inspect-and-make-poster.ts';
import type { VideoNormalizer } from '../../media/ffmpeg/normalize-video.ts';
import type { ReferenceMediaRequest } from '../../media/references/reference-media.ts';
import type { ResultStore } from '../../media/store/result-store.ts';
import type { ServiceEvents } from '../metrics/service-event.ts';
import type { CatalogueModel } from '../../catalogue/file/catalogue-schema.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Providers, ProviderTester } from '../../providers/open-providers.ts';
import type { ReferenceMedia } from '../../catalogue/media/media-by-role.ts';
import type { ParsedTaskRequest } from '../../tasks/accept/parse-task-request.ts';

/** The parts of a worker process. An activity uses those that it declares. */
export type WorkerParts = {
  readonly db: Database;
  readonly log: Logger;
  readonly events: ServiceEvents;
  readonly engine: Omit<WorkflowEngine, 'redeliver' | 'retryNow' | 'testProvider'>;
  readonly media: Pick<
    ResultStore,
    'put' | 'fetchTo' | 'move' | 'sizeOf' | 'list' | 'delete' | 'deleteFolder' | 'link' | 'uploadLink'
  >;
  readonly catalogue: {
    readonly models: () => ReadonlyMap<string, CatalogueModel>;
    readonly parseTaskRequest: (body: unknown) => ParsedTaskRequest;
  };
  readonly providers: Providers & { readonly test: ProviderTester };
  /** An attempt watches its deadline, the end of its task, the operators' switches, and its machine. */
  readonly watches: {
    readonly startDeadline: StartDeadline;
    readonly attempts: RunningAttempts;
    readonly switches: ProviderSwitches;
    readonly refusesWork: () => string | undefined;
  };
  readonly videoTools: {
    readonly fetchMedia: (fetch: ReferenceMediaRequest) => Promise<ReferenceMedia>;
    readonly normalizeVideo: VideoNormalizer;
    readonly inspectVideo: VideoInspector;
  };
  readonly callbacks: Pick<SendCallbackDeps, 'box' | 'callbackFormatOf' | 'sender'>;
  readonly payments: PaymentProviderAndUrl | undefined;
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

export function wireActivities(parts: WorkerParts) {
  const deps = activityDepsOf(parts);
  const main: MainActivities = {
    chargeCredits: createConfirmCharge(deps),
    storeResult: createStoreResult(deps),
    completeTask: createCompleteTask(deps),
    refundCredits: createRefundCredits(deps),
    auditBooks: createAuditBooks(deps),
    housekeep: createHousekeep(deps),
    reconcilePayments: createReconcilePayments(deps),
    testProvider: createTestProvider(deps),
    reconcileTasks: createReconcileTasks(deps),
    settleProviderJobs: createSettleProviderJobs(deps),
    startOwedCallbacks: createStartOwedCallbacks(deps),
    startClosings: createStartClosings(deps),
    emptyAccountPage: createEmptyAccountPage(deps),
    finishClosing: createFinishClosing(deps),
  };
  const generation: GenerationActivities = { generateVideo: createGenerateVideo(deps) };
  const callbacks: CallbackActivities = { sendCallback: createSendCallback(deps) };
  return { main, generation, callbacks };
}

/** The dependencies of all activities, each under the name by which activities declare it. */
export function activityDepsOf(parts: WorkerParts) {
  const { catalogue, providers, watches, videoTools, callbacks, settings, ...others } = parts;
  const machine = { workFolder: settings.workFolder, refusesWork: watches.refusesWork };
  const deps = { ...others, ...catalogue, ...watches, ...videoTools, ...callbacks, ...settings };
  return { ...deps, machine, providers, testProvider: providers.test };
}
