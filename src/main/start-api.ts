import { dirname } from 'node:path';
import { mailServiceOf } from '../brand/brand.ts';
import { setTimeout as pause } from 'node:timers/promises';
import type { Engine } from '../tasks/ports.ts';
import { taskQueuesOf } from '../temporal/task-queues.ts';
import { createApp } from '../http/app.ts';
import { originsOf } from '../media/store-location.ts';
import { type TaskToStop, createHttpDeps } from '../http/http-deps.ts';
import { createBadKeys, createRateLimiter } from '../http/limits/rate-limits.ts';
import { openPayments } from '../payments/open-payments.ts';
import { publishConsole } from '../http/console/serve-console.ts';
import { isCookieExposed } from '../people/session-cookie.ts';
import { oidcCallbackPath } from '../people/oidc-routes.ts';
import { startHttpServer } from '../http/server/server.ts';
import { createUncertainCreates } from '../tasks/uncertain-creates.ts';
import type { Log } from '../platform/log.ts';
import { createIdentityProvider } from '../people/identity-provider.ts';
import { isInNetworks } from '../outbound/allow-list.ts';
import { literalRefusal } from '../outbound/guard.ts';
import { installationSources } from '../metrics/installation.ts';
import { createMailer } from '../mail/mailer.ts';
import { createMailQueue, mailSecrets } from '../mail/mail-queue.ts';
import { watchMails } from '../mail/send-mails.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { readAtScrapes } from '../metrics/read-at-scrapes.ts';
import { createSecretBox } from '../outbound/secrets.ts';
import { createDatabase, inTime } from '../platform/database/database.ts';
import { createRequestLog } from '../requests/request-log.ts';
import { createTaskAcceptor } from '../tasks/task-acceptor.ts';
import { connectTemporal } from '../temporal/connect.ts';
import { createEngine } from '../temporal/engine.ts';
import { createTaskProgress } from '../temporal/task-progress.ts';
import { createTaskStarter } from '../temporal/task-starter.ts';
import { owedDeliveries } from '../tasks/task-event.ts';
import { revealSecret, rotateSecret } from '../callbacks/account-secrets.ts';
import { createLiveCatalogue } from '../models/live-catalogue.ts';
import { createMediaUploads } from '../media/media-uploads.ts';
import { createModerator } from '../moderation/moderator.ts';
import { uploadFromUrl, uploadKey } from '../media/upload.ts';
import { createTestCallbacks } from '../callbacks/test-callback.ts';
import { listenError, makePrivateFolder } from '../media/startup-errors.ts';
import { openStore } from '../media/open-store.ts';
import { retry } from '../platform/retry.ts';
import { currentTracing } from './tracing.ts';
import { watchReadiness } from './readiness.ts';
import { secretReader } from '../config/config.ts';
import {
  createRequestParser,
  installationHook,
  ownEndpoints,
  type RunningPart,
  type Settings,
} from '../config/settings.ts';
import { watchModels } from '../models/report-models.ts';

/** Applies to running requests, and then to the workflow starts behind them. */
const drainMs = 15_000;

const readinessPauseMs = 1_000;

/** Prometheus discards the whole scrape after ten seconds. */
const scrapeLimitMs = 3_000;

const publishLimitMs = 5_000;

/** A moderation hook reads an uploaded image immediately. */
const hookLinkMs = 10 * 60_000;

/** Starts the HTTP API in this process. While Temporal is unavailable, tasks are accepted and wait. */
export async function startApi(settings: Settings, log: Log, metrics = createMetrics()): Promise<RunningPart> {
  const resultStore = await openStore(settings, log, { writes: true });
  await makePrivateFolder(settings.workFolder, 'VIDEOGEN_DATA').catch((error: unknown) => {
    log.warn({ err: error }, 'work folder unusable: images cannot be uploaded');
  });
  const events = metrics.eventsOf(() => catalogue.current());
  const { catalogueFile: path, publicUrl } = settings;
  const readHookSecret = secretReader(dirname(path ?? ''));
  const catalogue = createLiveCatalogue({ path, publicUrl, readHookSecret, log, part: 'api', events });
  const db = createDatabase({
    url: settings.databaseUrl,
    poolSize: settings.databasePoolSize,
    onIdleError: (error) => log.warn({ err: error }, 'database connection broke'),
  });
  const temporal = connectTemporal(settings.temporal, { retries: false, interceptors: currentTracing()?.client });
  const engine = createEngine(temporal.client, taskQueuesOf(settings.taskQueue));
  const box = createSecretBox(settings.secret, settings.secretPrevious);
  const mailBox = createSecretBox(settings.secret, settings.secretPrevious, mailSecrets);
  const sales = await watchModels({ db, catalogue: catalogue.current, log });
  readAtScrapes(metrics.registry, installationSources(inTime(db, scrapeLimitMs), catalogue.current));
  const models = () => catalogue.current().models;
  const moderator = createModerator({
    installation: installationHook(settings),
    catalogue: catalogue.current,
    readSecret: readHookSecret,
    linkTo: (url) => {
      const upload = uploadFromUrl(publicUrl, url);
      return upload === undefined ? url : resultStore.link(uploadKey(upload), hookLinkMs);
    },
    own: ownEndpoints(settings),
    events,
    log,
  });
  const testCallbacks = createTestCallbacks({ settings, db, box, log, models });
  metrics.databases.set('api', db.usage);
  const accept = createTaskAcceptor(db);
  const uncertainCreates = createUncertainCreates({ db, log, events });
  const draining: { readonly drain: (limitMs: number) => Promise<void> }[] = [uncertainCreates];
  /** Calls Temporal after the response to a client. */
  const later = <Task extends object>(call: (task: Task) => Promise<unknown>, onDeferred: string) => {
    const starter = createTaskStarter<Task>(call, (err, task) => {
      const fields: object = { err, ...task };
      log.warn(fields, onDeferred);
    });
    draining.push(starter);
    return starter.start;
  };
  const readiness = await watchReadiness({
    part: 'api',
    databaseUrl: settings.databaseUrl,
    events,
    log,
    pauseMs: readinessPauseMs,
  });
  let isLeaving = false;
  const reasons = () => (isLeaving ? ['stopping'] : readiness.reasons());
  metrics.readiness.set('api', reasons);
  const { retentionMs, temporalUiUrl, createRate } = settings;
  const deps = createHttpDeps({
    db,
    log,
    publicUrl,
    resultStore,
    retentionMs,
    catalogue: catalogue.current,
    catalogueState: catalogue.state,
    parseTaskRequest: createRequestParser(settings, catalogue.current),
    refuseCallbackUrl: (url) => literalRefusal(url, settings.callbackAllow),
    startTask: later(engine.startTask, 'workflow start deferred; reconcile will start it'),
    stopTask: later((task: TaskToStop) => stopTask(engine, task), 'stop of a cancelled task deferred'),
    retryTask: later(({ taskId }: { readonly taskId: string }) => engine.retryNow(taskId), 'retry of a task deferred'),
    testProvider: (provider) =>
      engine.testProvider(provider).catch((err: unknown) => {
        log.warn({ provider, err }, 'provider not tested');
        return { outcome: 'no_worker' };
      }),
    redeliver: later(engine.redeliver, 'callback redelivery deferred to reconcile'),
    refundUncertain: uncertainCreates.add,
    storeUpload: createMediaUploads({ ...settings, db, resultStore }),
    testCallback: testCallbacks.send,
    callbackSecrets: {
      reveal: (accountId, purpose) => revealSecret(db, box, accountId, purpose),
      rotate: (rotation) => rotateSecret(db, box, rotation),
    },
    console: {
      publicUrl,
      passwordSignIn: settings.passwordSignIn,
      oidc: settings.oidc && createIdentityProvider(settings.oidc, publicUrl + oidcCallbackPath),
    },
    brand: settings.brand,
    signUp: settings.signUp,
    mails: settings.smtp && createMailQueue(mailBox),
    payments: openPayments(settings),
    progressOf: createTaskProgress(temporal.client),
    isSold: sales.isSold,
    moderator,
    acceptTask: async (task) => {
      const startedAt = performance.now();
      const acceptance = await accept(task);
      if (acceptance.kind === 'accepted') {
        events.emit({ kind: 'stage_ended', stage: 'accept', durationMs: performance.now() - startedAt });
        events.emit({ kind: 'task_charged', model: task.param.model, credits: acceptance.creditsCharged });
      }
      return acceptance;
    },
    requestLog: createRequestLog({ db, log, events }),
    searchesPrompts: settings.promptSearch,
    promptRetentionMs: settings.promptRetentionMs,
    createRate,
    reads: settings.readRate && createRateLimiter(settings.readRate),
    refusedCreates: settings.refusedCreateRate && createRateLimiter(settings.refusedCreateRate),
    badKeys: createBadKeys(settings.badKeyRate && createRateLimiter(settings.badKeyRate)),
    isTrustedProxy: (address) => isInNetworks(address, settings.trustedProxies),
    // With a separate port, metrics are not served on the public one.
    metrics: settings.metricsPort === undefined ? metrics.registry : undefined,
    events,
    isTraced: currentTracing() !== undefined,
    consoleMediaOrigins: [
      new URL(publicUrl).origin,
      ...[settings.resultStore, settings.resultStoreAlso].flatMap((store) => store && originsOf(store, settings)),
    ].filter((origin) => origin !== undefined),
    temporalUiUrl,
    readiness: () => Promise.resolve(reasons()),
  });
  const app = createApp(deps);
  // A page of this process may load its files from a process of another release. The start does not depend on the database.
  const stopping = new AbortController();
  const publication = retry({ step: "publish the console's files", log, signal: stopping.signal }, () =>
    publishConsole(inTime(db, publishLimitMs)),
  ).catch(() => undefined);
  await Promise.race([publication, pause(publishLimitMs, undefined, { ref: false })]);
  const { host, port } = settings;
  const server = await startHttpServer({ app, host, port, log }).catch(async (error: unknown) => {
    await Promise.all([readiness.close(), sales.close()]);
    throw listenError(error, settings, 'PORT');
  });
  const mailing =
    settings.smtp &&
    watchMails({
      db,
      box: mailBox,
      mailer: createMailer(settings.smtp),
      service: mailServiceOf(settings.brand, publicUrl),
      log,
    });
  log.info({ port: server.port, publicUrl: settings.publicUrl }, 'api started');
  if (isCookieExposed(settings.publicUrl))
    log.warn({ publicUrl: settings.publicUrl }, 'PUBLIC_URL is plain http; console sessions travel unencrypted');
  return {
    leave: () => {
      isLeaving = true;
      server.announceClose();
    },
    close: async () => {
      stopping.abort();
      catalogue.close();
      deps.taskWaiters.close();
      await server.close(drainMs);
      await Promise.all(draining.map((part) => part.drain(drainMs)));
      await deps.keyTouches.drain();
      await deps.requestLog.drain();
      await mailing?.close();
      const parts = [moderator, testCallbacks, readiness, sales, temporal, db];
      await Promise.allSettled(parts.map((part) => part.close()));
    },
  };
}

/** The workflow stops the generation and sends callback and event, which are started here for a task that has no workflow. */
async function stopTask(engine: Engine, { taskId, accountId, ...owed }: TaskToStop): Promise<void> {
  if (await engine.cancelWorkflow(taskId)) return;
  for (const deliveryId of owedDeliveries(taskId, owed)) await engine.startDelivery({ deliveryId, accountId });
}
