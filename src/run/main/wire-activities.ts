import type { WorkflowEngine } from '../../catalogue/tasks/workflow-engine.ts';
import type { Logger } from 'pino';
import type { RunningAttempts } from '../../../activities/running-attempts.ts';
import { createAuditBooksActivity } from '../../../activities/maintenance/audit-books.ts';
import {
  createEmptyAccountPageActivity,
  createFinishClosingActivity,
  type PaymentProviderAndServiceUrl,
} from '../../../activities/close-account.ts';
import { createConfirmOrChargeActivity } from '../../../activities/confirm-or-charge.ts';
import type { StartDeadline } from '../../../activities/abort-timers.ts';
import { createCheckAndEndTaskActivity, createFailAndRefundActivity } from '../../../activities/end-task.ts';
import { createGenerateVideoActivity } from '../../../activities/generate-video.ts';
import type { GenerationDeps } from '../../../activities/generation/attempt-at-generation.ts';
import { createHousekeepingStepActivity, type HousekeepDeps } from '../../../activities/maintenance/housekeeping.ts';
import type { CallbackActivities, GenerationActivities, MainActivities } from '../../../activities/index.ts';
import { createReconcilePaymentsActivity } from '../../../activities/maintenance/reconcile-payments.ts';
import { createReconcileTasksActivity } from '../../../activities/maintenance/reconcile-tasks.ts';
import { createSendCallbackActivity, type SendCallbackDeps } from '../../../activities/send-callback-or-event.ts';
import { createSettleJobsActivity } from '../../../activities/maintenance/settle-provider-jobs.ts';
import {
  createStartClosingsActivity,
  createStartCallbacksActivity,
} from '../../../activities/maintenance/start-owed-callbacks-and-closings.ts';
import { createStoreResultActivity } from '../../../activities/convert-and-store-video.ts';
import type { ProviderSwitches } from '../../../activities/watch-provider-switches.ts';
import { createProviderTestActivity } from '../../../activities/run-provider-test.ts';
import type { VideoInspector } from '../../media/video/inspect-and-make-poster.ts';
import type { VideoNormalizer } from '../../media/ffmpeg/convert-result-video.ts';
import type { ReferenceMediaRequest } from '../../media/references/fetch-reference-media.ts';
import type { ResultStore } from '../../media/store/result-store.ts';
import type { ServiceEvents } from '../metrics/service-event.ts';
import type { CatalogueModel } from '../../catalogue/file/catalogue-schema-and-types.ts';
import type { Database } from '../../platform/database/database.ts';
import type { OpenProviders, ProviderTester } from '../../providers/open-providers.ts';
import type { PreparedMediaByRole } from '../../catalogue/media/media-by-role.ts';
import type { TaskRequestParseResult } from '../../tasks/accept/parse-task-request.ts';

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
    readonly parseTaskRequest: (body: unknown) => TaskRequestParseResult;
  };
  readonly providers: OpenProviders & { readonly test: ProviderTester };
  /** An attempt watches its deadline, the end of its task, the operators' switches, and its machine. */
  readonly watches: {
    readonly startDeadline: StartDeadline;
    readonly attempts: RunningAttempts;
    readonly switches: ProviderSwitches;
    readonly refusesWork: () => string | undefined;
  };
  readonly videoTools: {
    readonly fetchMedia: (fetch: ReferenceMediaRequest) => Promise<PreparedMediaByRole>;
    readonly normalizeVideo: VideoNormalizer;
    readonly inspectVideo: VideoInspector;
  };
  readonly callbacks: Pick<SendCallbackDeps, 'box' | 'callbackFormatOf' | 'sender'>;
  readonly payments: PaymentProviderAndServiceUrl | undefined;
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
    chargeCredits: createConfirmOrChargeActivity(deps),
    storeResult: createStoreResultActivity(deps),
    completeTask: createCheckAndEndTaskActivity(deps),
    refundCredits: createFailAndRefundActivity(deps),
    auditBooks: createAuditBooksActivity(deps),
    housekeep: createHousekeepingStepActivity(deps),
    reconcilePayments: createReconcilePaymentsActivity(deps),
    testProvider: createProviderTestActivity(deps),
    reconcileTasks: createReconcileTasksActivity(deps),
    settleProviderJobs: createSettleJobsActivity(deps),
    startOwedCallbacks: createStartCallbacksActivity(deps),
    startClosings: createStartClosingsActivity(deps),
    emptyAccountPage: createEmptyAccountPageActivity(deps),
    finishClosing: createFinishClosingActivity(deps),
  };
  const generation: GenerationActivities = { generateVideo: createGenerateVideoActivity(deps) };
  const callbacks: CallbackActivities = { sendCallback: createSendCallbackActivity(deps) };
  return { main, generation, callbacks };
}

/** The dependencies of all activities, each under the name by which activities declare it. */
export function activityDepsOf(parts: WorkerParts) {
  const { catalogue, providers, watches, videoTools, callbacks, settings, ...others } = parts;
  const machine = { workFolder: settings.workFolder, refusesWork: watches.refusesWork };
  const deps = { ...others, ...catalogue, ...watches, ...videoTools, ...callbacks, ...settings };
  return { ...deps, machine, providers, testProvider: providers.test };
}
