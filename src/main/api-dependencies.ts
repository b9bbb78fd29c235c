import { dirname } from 'node:path';
import { createTestCallbacks } from '../callbacks/test-callback.ts';
import { secretReader } from '../config/config.ts';
import { createRequestParser, installationHook, ownEndpoints, type Settings } from '../config/settings.ts';
import { HttpError } from '../http/errors.ts';
import { type TaskToStop, createHttpDeps, type HttpDeps } from '../http/http-deps.ts';
import { createBadKeys, createRateLimiter } from '../http/limits/rate-limits.ts';
import { callbackFormatOf } from '../ingress/shapes.ts';
import { createMailQueue, mailSecrets } from '../mail/mail-queue.ts';
import { createMediaUploads } from '../media/media-uploads.ts';
import type { ResultStore } from '../media/result-store.ts';
import type { SecretReader } from '../models/catalogue/providers.ts';
import { openStore } from '../media/open-store.ts';
import { originsOf } from '../media/store-location.ts';
import { uploadFromUrl, uploadKey } from '../media/upload.ts';
import { installationSources } from '../metrics/installation.ts';
import type { Events } from '../metrics/events.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { readAtScrapes } from '../metrics/read-at-scrapes.ts';
import { watchModels } from '../models/report-models.ts';
import { createModerator } from '../moderation/moderator.ts';
import { isInNetworks } from '../outbound/allow-list.ts';
import { literalRefusal } from '../outbound/guard.ts';
import { createSecretBox, type SecretBox } from '../outbound/secrets.ts';
import { openPayments } from '../payments/open-payments.ts';
import { createIdentityProvider } from '../people/identity-provider.ts';
import { oidcCallbackPath } from '../people/oidc-routes.ts';
import { inTime } from '../platform/database/database.ts';
import type { Log } from '../platform/log.ts';
import { createRequestLog } from '../requests/request-log.ts';
import type { Engine } from '../tasks/ports.ts';
import { createTaskAcceptor } from '../tasks/task-acceptor.ts';
import { owedDeliveries } from '../tasks/task-event.ts';
import { createUncertainCreates } from '../tasks/uncertain-creates.ts';
import { createTaskProgress } from '../temporal/task-progress.ts';
import { createBackgroundCalls } from '../temporal/background-calls.ts';
import { type Core, openCore } from './core.ts';
import { currentTracing } from './tracing.ts';

/** Prometheus discards the whole scrape after ten seconds. */
const scrapeLimitMs = 3_000;

/** A moderation hook reads an uploaded image immediately. */
const hookLinkMs = 10 * 60_000;

export type ApiDependencies = {
  readonly deps: HttpDeps;
  /** Completes what responses left to do after them; call it once no request is running. */
  drain(limitMs: number): Promise<void>;
  close(): Promise<void>;
};

/** The state of the process; both functions return immediately. */
type ProcessState = { readonly reasons: () => readonly string[] } & Pick<HttpDeps, 'diskProblem'>;

/** Wires the dependencies of the HTTP layer. Connects to Temporal lazily. */
export async function openApiDependencies(
  settings: Settings,
  log: Log,
  metrics: Metrics,
  { reasons, diskProblem }: ProcessState,
): Promise<ApiDependencies> {
  const resultStore = await openStore(settings, log, { writes: true });
  const readHookSecret = secretReader(dirname(settings.catalogueFile ?? ''));
  const core = openCore(settings, log, metrics, { part: 'api', readHookSecret, retries: false });
  const { db, catalogue, events, box } = core;
  const given = fromSettings(settings);
  const sellsCredits = given.payments !== undefined;
  readAtScrapes(metrics.registry, installationSources(inTime(db, scrapeLimitMs), catalogue.current, { sellsCredits }));
  const calls = createEngineCalls(core.engine, log);
  const sales = await watchModels({ db, catalogue: catalogue.current, log });
  const moderator = openModerator(core, resultStore, readHookSecret);
  // Workers send all other callbacks.
  const tests = createTestCallbacks({
    db,
    box,
    log,
    models: () => catalogue.current().models,
    formatOf: callbackFormatOf,
    serviceName: settings.brand.name,
    allow: settings.callbackAllow,
    own: ownEndpoints(settings),
  });
  const uncertainCreates = createUncertainCreates({ db, log, events });
  const deps = createHttpDeps({
    ...given,
    ...calls.ports,
    testCallback: tests.send,
    db,
    box,
    log,
    events,
    resultStore,
    catalogue: catalogue.current,
    catalogueState: catalogue.state,
    parseTaskRequest: createRequestParser(settings, catalogue.current),
    acceptCreate: countAccepted(createTaskAcceptor(db), events),
    refundUncertain: uncertainCreates.add,
    storeUpload: unlessDiskFull(createMediaUploads({ ...settings, db, resultStore }), diskProblem),
    progressOf: createTaskProgress(core.temporal.client),
    isSold: sales.isSold,
    moderator,
    requestLog: createRequestLog({ db, log, events }),
    // With a separate port, metrics are not served on the public one.
    metrics: settings.metricsPort === undefined ? metrics.registry : undefined,
    diskProblem,
    readiness: () => Promise.resolve(reasons()),
  });
  return {
    deps,
    drain: async (limitMs) => {
      await Promise.all([uncertainCreates, ...calls.background].map((part) => part.drain(limitMs)));
      await deps.keyTouches.drain();
      await deps.requestLog.drain();
    },
    close: async () => void (await Promise.allSettled([moderator, tests, sales, core].map((part) => part.close()))),
  };
}

/** The space that is left is for tasks that were accepted. */
function unlessDiskFull(store: HttpDeps['storeUpload'], diskProblem: HttpDeps['diskProblem']): HttpDeps['storeUpload'] {
  return async (...upload) => {
    if (diskProblem() !== undefined) throw new HttpError('disk_full');
    return await store(...upload);
  };
}

/** The check of content before the charge. Hooks read images of ours by links. */
function openModerator({ settings, catalogue, events, log }: Core, store: ResultStore, readSecret: SecretReader) {
  const linkTo = (url: string) => {
    const upload = uploadFromUrl(settings.publicUrl, url);
    return upload === undefined ? url : store.link(uploadKey(upload), hookLinkMs);
  };
  const hooks = { installation: installationHook(settings), own: ownEndpoints(settings), readSecret };
  return createModerator({ ...hooks, catalogue: catalogue.current, linkTo, events, log });
}

/** Makes the dependencies that need nothing but settings. */
function fromSettings(settings: Settings) {
  const { publicUrl } = settings;
  const stores = [settings.resultStore, settings.resultStoreAlso];
  const limiterOf = (rate: Settings['readRate']) => rate && createRateLimiter(rate);
  return {
    publicUrl,
    retentionMs: settings.retentionMs,
    promptRetentionMs: settings.promptRetentionMs,
    redirectsContent: settings.redirectsContent,
    refuseCallbackUrl: (url: string) => literalRefusal(url, settings.callbackAllow),
    console: {
      publicUrl,
      passwordSignIn: settings.passwordSignIn,
      oidc: settings.oidc && createIdentityProvider(settings.oidc, publicUrl + oidcCallbackPath),
    },
    consoleMediaOrigins: [
      new URL(publicUrl).origin,
      ...stores.flatMap((store) => store && originsOf(store, settings)),
    ].filter((origin) => origin !== undefined),
    brand: settings.brand,
    signUp: { ...settings.signUp, secrets: [settings.secret, ...(settings.secretPrevious ?? [])] },
    mails: settings.smtp && createMailQueue(mailBoxOf(settings)),
    payments: openPayments(settings),
    searchesPrompts: settings.promptSearch,
    createRate: settings.createRate,
    reads: limiterOf(settings.readRate),
    refusedCreates: limiterOf(settings.refusedCreateRate),
    badKeys: createBadKeys(limiterOf(settings.badKeyRate)),
    isTrustedProxy: (address: string) => isInNetworks(address, settings.trustedProxies),
    isTraced: currentTracing() !== undefined,
    temporalUiUrl: settings.temporalUiUrl,
  };
}

/** Encrypts mails while they wait in the database. */
export function mailBoxOf({ secret, secretPrevious }: Settings): SecretBox {
  return createSecretBox(secret, secretPrevious, mailSecrets);
}

/** Calls to Temporal, made after the response to a client. */
function createEngineCalls(engine: Engine, log: Log) {
  const background: { readonly drain: (limitMs: number) => Promise<void> }[] = [];
  const later = <Input extends object>(send: (input: Input) => Promise<unknown>, onDeferred: string) => {
    const calls = createBackgroundCalls<Input>(send, (err, input) => {
      const fields: object = { err, ...input };
      log.warn(fields, onDeferred);
    });
    background.push(calls);
    return calls.call;
  };
  const testProvider: HttpDeps['testProvider'] = (provider) =>
    engine.testProvider(provider).catch((err: unknown) => {
      log.warn({ provider, err }, 'provider not tested');
      return { outcome: 'no_worker' };
    });
  const ports = {
    startTask: later(engine.startTask, 'workflow start deferred; reconcile will start it'),
    stopTask: later(
      (task: TaskToStop) => stopTask(engine, task),
      'workflow not cancelled yet; retried while Temporal is unavailable',
    ),
    retryTask: later(
      ({ taskId }: { readonly taskId: string }) => engine.retryNow(taskId),
      'task retry not sent yet; repeated while Temporal is unavailable',
    ),
    redeliver: later(engine.redeliver, 'callback redelivery deferred to reconcile'),
    testProvider,
  };
  return { ports, background };
}

/** The workflow stops the generation and sends callback and event, which are started here for a task that has no workflow. */
async function stopTask(engine: Engine, { taskId, accountId, ...owed }: TaskToStop): Promise<void> {
  if (await engine.cancelWorkflow(taskId)) return;
  for (const deliveryId of owedDeliveries(taskId, owed)) await engine.startDelivery({ deliveryId, accountId });
}

function countAccepted(accept: HttpDeps['acceptCreate'], events: Events): HttpDeps['acceptCreate'] {
  return async (task) => {
    const startedAt = performance.now();
    const acceptance = await accept(task);
    if (acceptance.kind === 'accepted') {
      events.emit({ kind: 'stage_ended', stage: 'accept', durationMs: performance.now() - startedAt });
      events.emit({ kind: 'task_charged', model: task.param.model, credits: acceptance.creditsCharged });
    }
    return acceptance;
  };
}
