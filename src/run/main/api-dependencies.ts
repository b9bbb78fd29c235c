import { dirname } from 'node:path';
import { createTestCallbackSender } from '../../tasks/callbacks/send-test-callback.ts';
import { catalogueSecretReader } from '../config/config.ts';
import {
  defaultModerationHook,
  ownServerAddresses,
  type CompleteSettings,
} from '../config/complete-settings-and-derived-values.ts';
import type { AppNeeds } from '../../api/app.ts';
import { HttpError } from '../../api/core/http-error.ts';
import { createBadKeyLimiter, createRateLimiter, createFixedRateLimiters } from '../../api/core/limits/rate-limits.ts';
import { callbackFormatOf } from '../../api/dialects/shapes.ts';
import { createMailQueue, mailKeyPurpose } from '../../platform/mail/mail-queue.ts';
import { createStoreUpload, type StoreUpload } from '../../media/references/store-upload.ts';
import type { ResultStore } from '../../media/store/result-store.ts';
import type { SecretReader } from '../../catalogue/file/provider-schema.ts';
import { openStore } from '../../media/store/open-store.ts';
import { originsOfStore } from '../../media/store/store-location.ts';
import { uploadFromUrl, uploadKey } from '../../media/references/upload-limits-and-addresses.ts';
import { installationSources } from '../metrics/scrape-sources.ts';
import type { Metrics } from '../metrics/create-metrics-registry.ts';
import { exportScrapedGauges } from '../metrics/export-scraped-gauges.ts';
import { watchSoldModels } from '../../catalogue/models/report-and-watch-models.ts';
import { createModerator } from '../../providers/moderation/moderator.ts';
import { isInNetworks } from '../../platform/outbound/guard/allow-list.ts';
import { urlRefusal } from '../../platform/outbound/guard/guard.ts';
import { createSecretBox, type SecretBox } from '../../platform/secrets/secret-box.ts';
import { createPaymentProvider } from '../../credits/payments/create-payment-provider.ts';
import { createIdentityProvider } from '../../accounts/sign-in/identity-provider.ts';
import { oidcCallbackPath } from '../../api/sign-in/oidc-routes.ts';
import { withResponseTimeLimit } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log/log.ts';
import { createRequestLog } from '../../library/request-log/request-log-buffer.ts';
import { createKeyTouches } from '../../accounts/keys/key-touches.ts';
import type { OrderTaskDeps } from '../../tasks/accept/order-task.ts';
import type { TakeOrderDeps } from '../../api/tasks/create-task-routes.ts';
import { createReadTaskRecorder } from '../../tasks/list/record-tasks-seen.ts';
import { createTaskAcceptor } from '../../tasks/accept/accept-in-batches.ts';
import { createTaskWaiters } from '../../tasks/task-waiters.ts';
import { createLiveRequestParser } from '../../tasks/accept/parse-task-request.ts';
import { createUncertainCreateRefunder } from '../../tasks/accept/refund-uncertain-creates.ts';
import { createBackgroundEngineCalls } from '../../temporal/engine/background-calls.ts';
import { createWorkflowEngine } from '../../temporal/engine/create-workflow-engine.ts';
import { createTaskProgressReader } from '../../temporal/engine/task-progress.ts';
import { taskQueuesOf } from '../../temporal/connection/queue-names-and-workflow-ids.ts';
import { type SharedDependencies, openSharedDependencies } from './shared-dependencies.ts';
import { currentTracing } from './monitoring/tracing.ts';

/** Prometheus discards the whole scrape after ten seconds. */
const scrapeLimitMs = 3_000;

/** A moderation hook reads an uploaded image immediately. */
export const moderationLinkMs = 10 * 60_000;

/** The state of the process; both functions return immediately. */
type ProcessState = { readonly reasons: () => readonly string[] } & Pick<AppNeeds, 'diskProblem'>;

/** Wires the dependencies of the HTTP layer. Connects to Temporal lazily. */
export async function openApiDependencies(
  settings: CompleteSettings,
  log: Log,
  metrics: Metrics,
  { reasons, diskProblem }: ProcessState,
) {
  const resultStore = await openStore(settings, log, { writes: true });
  const readHookSecret = catalogueSecretReader(dirname(settings.catalogueFile ?? ''));
  const core = openSharedDependencies(settings, log, metrics, { part: 'api', readHookSecret, retries: false });
  const { db, catalogue, events, box } = core;
  const given = needsFromSettings(settings);
  const sellsCredits = given.payments !== undefined;
  exportScrapedGauges(
    metrics.registry,
    installationSources(withResponseTimeLimit(db, scrapeLimitMs), catalogue.current, { sellsCredits }),
  );
  const engineCalls = createBackgroundEngineCalls(
    createWorkflowEngine(core.temporal.client, taskQueuesOf(settings.taskQueue)),
    log,
  );
  const sales = await watchSoldModels({ db, catalogue: catalogue.current, log });
  const moderator = openModerator(core, resultStore, readHookSecret);
  // Workers send all other callbacks.
  const tests = createTestCallbackSender({
    db,
    box,
    log,
    models: () => catalogue.current().models,
    callbackFormatOf,
    serviceName: settings.brand.name,
    allow: settings.callbackAllow,
    own: ownServerAddresses(settings),
  });
  const uncertainCreates = createUncertainCreateRefunder({ db, log, events });
  const orders = orderDepsOf(core, {
    isSold: sales.isSold,
    diskProblem,
    moderator,
    refundUncertain: uncertainCreates.add,
    startTask: engineCalls.calls.startTask,
  });
  const needs: AppNeeds = {
    ...orders,
    ...given,
    ...engineCalls.calls,
    ...createFixedRateLimiters(),
    events,
    testCallback: tests.send,
    box,
    resultStore,
    taskWaiters: createTaskWaiters(db),
    seenTasks: createReadTaskRecorder(db, log),
    keyTouches: createKeyTouches(db),
    now: Date.now,
    catalogueState: catalogue.state,
    storeUpload: unlessDiskFull(createStoreUpload({ ...settings, db, resultStore }), diskProblem),
    progressOf: createTaskProgressReader(core.temporal.client),
    requestLog: createRequestLog({ db, log, events }),
    // With a separate port, metrics are not served on the public one.
    metrics: settings.metricsPort === undefined ? metrics.registry : undefined,
    readiness: () => Promise.resolve(reasons()),
  };
  return {
    needs,
    events,
    /** Completes what responses left to do after them; call it once no request is running. */
    drain: async (limitMs: number): Promise<void> => {
      await Promise.all([uncertainCreates, engineCalls].map((part) => part.drain(limitMs)));
      await needs.keyTouches.drain();
      await needs.requestLog.drain();
    },
    close: async (): Promise<void> =>
      void (await Promise.allSettled([moderator, tests, sales, core].map((part) => part.close()))),
  };
}

type OtherOrderDeps = Pick<OrderTaskDeps, 'isSold' | 'diskProblem' | 'moderator' | 'refundUncertain' | 'startTask'>;

function orderDepsOf(
  { db, log, events, settings, catalogue }: SharedDependencies,
  others: OtherOrderDeps,
): TakeOrderDeps {
  return {
    db,
    log,
    events,
    publicUrl: settings.publicUrl,
    createRate: settings.createRate,
    catalogue: catalogue.current,
    parseTaskRequest: createLiveRequestParser(settings, catalogue.current),
    acceptCreate: createTaskAcceptor(db),
    ...others,
  };
}

/** The space that is left is for tasks that were accepted. */
function unlessDiskFull(store: StoreUpload, diskProblem: OrderTaskDeps['diskProblem']): StoreUpload {
  return async (...upload) => {
    if (diskProblem() !== undefined) throw new HttpError('disk_full');
    return await store(...upload);
  };
}

/** The check of content before the charge. Hooks read images of ours by links. */
function openModerator(
  { settings, catalogue, events, log }: SharedDependencies,
  store: ResultStore,
  readSecret: SecretReader,
) {
  const linkTo = (url: string) => {
    const upload = uploadFromUrl(settings.publicUrl, url);
    return upload === undefined ? url : store.link(uploadKey(upload), moderationLinkMs);
  };
  const hooks = { installation: defaultModerationHook(settings), own: ownServerAddresses(settings), readSecret };
  return createModerator({ ...hooks, catalogue: catalogue.current, linkTo, events, log });
}

/** The needs that settings alone decide. */
export function needsFromSettings(settings: CompleteSettings) {
  const { publicUrl } = settings;
  const stores = [settings.resultStore, settings.resultStoreAlso];
  const limiterOf = (rate: CompleteSettings['readRate']) => rate && createRateLimiter(rate);
  return {
    retentionMs: settings.retentionMs,
    promptRetentionMs: settings.promptRetentionMs,
    redirectsContent: settings.redirectsContent,
    refuseCallbackUrl: (url: string) => urlRefusal(url, settings.callbackAllow),
    console: {
      publicUrl,
      passwordSignIn: settings.passwordSignIn,
      oidc: settings.oidc && createIdentityProvider(settings.oidc, publicUrl + oidcCallbackPath),
    },
    consoleMediaOrigins: [
      new URL(publicUrl).origin,
      ...stores.flatMap((store) => store && originsOfStore(store, settings)),
    ].filter((origin) => origin !== undefined),
    brand: settings.brand,
    signUp: { ...settings.signUp, secrets: [settings.secret, ...(settings.secretPrevious ?? [])] },
    mails: settings.smtp && createMailQueue(mailSecretBoxOf(settings)),
    payments: createPaymentProvider(settings),
    searchesPrompts: settings.promptSearch,
    reads: limiterOf(settings.readRate),
    refusedCreates: limiterOf(settings.refusedCreateRate),
    badKeys: createBadKeyLimiter(limiterOf(settings.badKeyRate)),
    isTrustedProxy: (address: string) => isInNetworks(address, settings.trustedProxies),
    isTraced: currentTracing() !== undefined,
    temporalUiUrl: settings.temporalUiUrl,
  };
}

/** Encrypts mails while they wait in the database. */
export function mailSecretBoxOf({ secret, secretPrevious }: CompleteSettings): SecretBox {
  return createSecretBox(secret, secretPrevious, mailKeyPurpose);
}
