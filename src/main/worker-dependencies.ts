import { createHmac } from 'node:crypto';
import { createAttempts } from '../../activities/attempts.ts';
import { startDeadline } from '../../activities/deadline.ts';
import { createSwitches } from '../../activities/switches.ts';
import type { ActivityDeps } from '../../activities/deps.ts';
import type { Ffmpeg } from '../tasks/ports.ts';
import { uploadFromUrl, uploadKey } from '../media/upload.ts';
import { taskQueuesOf } from '../temporal/task-queues.ts';
import { dirname } from 'node:path';
import { secretReader } from '../config/config.ts';
import { callbackFormatOf } from '../ingress/shapes.ts';
import type { Log } from '../platform/log.ts';
import { createFfmpeg } from '../media/ffmpeg.ts';
import { createVideoInspector } from '../media/inspect-video.ts';
import { createVideoNormaliser } from '../media/normalize-video.ts';
import { fetchReferenceMedia } from '../media/reference-media.ts';
import type { ResultStore } from '../media/result-store.ts';
import type { Events } from '../metrics/events.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { brandToken } from '../brand/brand.ts';
import { createGuardedClient } from '../outbound/client.ts';
import type { OwnEndpoint } from '../outbound/guard.ts';
import { createProviderClient, type ProviderClient } from '../outbound/provider-client.ts';
import { createCallbackPoster } from '../outbound/webhook.ts';
import { createSecretBox } from '../outbound/secrets.ts';
import { openPayments } from '../payments/open-payments.ts';
import { createPreviewProvider } from '../providers/preview/preview-provider.ts';
import { createProviders, type ProvidersDeps } from '../providers/registry.ts';
import { createDatabase } from '../platform/database/database.ts';
import { listProviderSwitches } from '../providers/provider-pools.ts';
import { listEndedAmong, touchGenerations } from '../tasks/tasks.ts';
import { connectTemporal } from '../temporal/connect.ts';
import { createEngine } from '../temporal/engine.ts';
import { createLiveCatalogue } from '../models/live-catalogue.ts';
import { createOwedCallbacks } from '../callbacks/owed-callbacks.ts';
import { createRequestParser, ownEndpoints, type Settings } from '../config/settings.ts';
import { currentTracing } from './tracing.ts';
import { reportModels } from '../models/report-models.ts';
import { watchWorkflows } from '../providers/workflow-checks.ts';

export type WorkerDependencies = { readonly deps: ActivityDeps; close(): Promise<void> };

/** Wires the dependencies of the activities. Connects lazily. */
export function openWorkerDependencies(
  settings: Settings,
  log: Log,
  metrics: Metrics,
  media: ResultStore,
): WorkerDependencies {
  const readSecret = secretReader(dirname(settings.catalogueFile ?? ''));
  const followsUpstreams = settings.workerQueues.includes('generation-remote');
  // `reconcile`, on the queue `tasks`, stops jobs at upstreams. Workers of the other queues need no secrets of theirs.
  const callsUpstreams = followsUpstreams || settings.workerQueues.includes('tasks');
  const events = metrics.eventsOf(() => catalogue.current());
  const catalogue = createLiveCatalogue({
    path: settings.catalogueFile,
    publicUrl: settings.publicUrl,
    ...(callsUpstreams && { readSecret }),
    log,
    part: 'worker',
    events,
  });
  const db = createDatabase({
    url: settings.databaseUrl,
    poolSize: settings.databasePoolSize,
    onIdleError: (error) => log.warn({ err: error }, 'database connection broke'),
  });
  metrics.databases.set('worker', db.usage);
  const reports = reportModels({ catalogue, workerQueues: settings.workerQueues, db });
  const temporal = connectTemporal(settings.temporal, { interceptors: currentTracing()?.client });
  const own = ownEndpoints(settings);
  const imageClient = createGuardedClient({
    allow: settings.imageAllow,
    own,
    userAgent: brandToken(settings.brand.name),
  });
  const callbacks = openCallbacks(settings, own, log);
  const models = () => catalogue.current().models;
  const workflows = followsUpstreams
    ? watchWorkflows({ catalogue: catalogue.current, readSecret, own, db, log })
    : undefined;
  const box = createSecretBox(settings.secret, settings.secretPrevious);
  const ffmpeg = openFfmpeg(settings);
  const readUpload = (url: string, path: string) => {
    const upload = uploadFromUrl(settings.publicUrl, url);
    return upload === undefined ? undefined : media.fetchTo(uploadKey(upload), path);
  };
  const upstreams = openUpstreams({ settings, own, log, ffmpeg, readSecret, catalogue: catalogue.current, events });
  const deps: ActivityDeps = {
    ...fromSettings(settings),
    db,
    log,
    get models() {
      return models();
    },
    parseTaskRequest: createRequestParser(settings, catalogue.current),
    providers: upstreams.providers,
    testProvider: upstreams.providers.test,
    startDeadline,
    attempts: createAttempts({
      touch: (taskIds) => touchGenerations(db, taskIds),
      listEnded: (taskIds) => listEndedAmong(db, taskIds),
      onError: (error) => log.warn({ err: error }, 'attempt heartbeats not recorded'),
    }),
    switches: createSwitches({
      list: () => listProviderSwitches(db),
      onError: (error) => log.warn({ err: error }, 'provider switches not read'),
    }),
    fetchMedia: (job) => fetchReferenceMedia({ client: imageClient, readUpload, ffmpeg, ...job }),
    media,
    normalizeVideo: createVideoNormaliser(ffmpeg),
    inspectVideo: createVideoInspector(ffmpeg),
    postCallback: callbacks.post,
    findCallback: createOwedCallbacks(db, box, media, { models, formatOf: callbackFormatOf }),
    engine: createEngine(temporal.client, taskQueuesOf(settings.taskQueue)),
    events,
  };
  const close = async () => {
    catalogue.close();
    await Promise.all([workflows?.close(), reports.close()]);
    await Promise.allSettled([imageClient, callbacks, upstreams, temporal, db].map((part) => part.close()));
  };
  return { deps, close };
}

/** Makes the dependencies that need nothing but settings. */
function fromSettings(settings: Settings) {
  return {
    hashAccount: (accountId: string) =>
      createHmac('sha256', settings.secret).update(`account ${accountId}`).digest('hex'),
    marksVideos: settings.markVideos,
    serviceName: settings.brand.name,
    payments: openPayments(settings),
    publicUrl: settings.publicUrl,
    workFolder: settings.workFolder,
    retention: {
      mediaMs: settings.retentionMs,
      eventsMs: settings.eventRetentionMs,
      usersMs: settings.userRetentionMs,
      promptsMs: settings.promptRetentionMs,
    },
    stuckTaskMs: settings.stuckTaskMs,
  };
}

function openCallbacks({ callbackAllow: allow, brand }: Settings, own: readonly OwnEndpoint[], log: Log) {
  // A callback without a free slot is rescheduled: waiting here would occupy a slot that all accounts share.
  const userAgent = brandToken(brand.name);
  const client = createGuardedClient({ allow, own, userAgent, maxPerHost: 32, maxWaitingPerHost: 0 });
  const post = createCallbackPoster({
    client,
    onUnreachable: ({ deliveryId, error }) => {
      log.info({ deliveryId, kind: error.kind, detail: error.detail }, 'callback receiver unreachable');
    },
    dialectHeaders: ({ dialect, ...callback }) => callbackFormatOf(dialect).callbackHeaders(callback),
  });
  return { post, close: () => client.close() };
}

type UpstreamSources = Pick<ProvidersDeps, 'catalogue' | 'readSecret'> & {
  readonly settings: Settings;
  readonly own: readonly OwnEndpoint[];
  readonly log: Log;
  readonly ffmpeg: Ffmpeg;
  readonly events: Events;
};

function openUpstreams({ settings, own, log, ffmpeg, events, ...sources }: UpstreamSources) {
  const clients: ProviderClient[] = [];
  const { previewFailures: failures, generationConcurrency: concurrency } = settings;
  const providers = createProviders({
    ...sources,
    preview: createPreviewProvider({ ffmpeg, failures, concurrency }),
    openClient: (upstream) => {
      const client = createProviderClient({ ...upstream, own, allow: settings.imageAllow });
      clients.push(client);
      return client;
    },
    warn: (event, fields) => log.warn(fields, event),
    emit: events.emit,
  });
  return { providers, close: async () => void (await Promise.all(clients.map((client) => client.close()))) };
}

/** Only the queue `callbacks` needs no ffmpeg, so a missing one fails the start of all other workers. */
function openFfmpeg({ ffmpegPath: path, workerQueues }: Settings): Ffmpeg {
  if (workerQueues.some((queue) => queue !== 'callbacks')) return createFfmpeg(path === undefined ? {} : { path });
  return () => Promise.reject(new Error('a worker of callbacks has no ffmpeg'));
}
