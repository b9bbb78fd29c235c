import { createRunningAttempts } from '../../../activities/running-attempts.ts';
import { createAccountPseudonymizer } from '../../platform/secrets/account-pseudonyms.ts';
import { startDeadline } from '../../../activities/abort-timers.ts';
import { watchProviderSwitches } from '../../../activities/watch-provider-switches.ts';
import type { FfmpegRunner } from '../../catalogue/media/ffmpeg-runner-types.ts';
import { uploadFromUrl, uploadKey } from '../../media/references/upload-limits-and-addresses.ts';
import { dirname } from 'node:path';
import { catalogueSecretReader } from '../config/config.ts';
import { callbackFormatOf } from '../../api/dialects/shapes.ts';
import type { Log } from '../../platform/log/log.ts';
import { createFfmpeg } from '../../media/ffmpeg/ffmpeg.ts';
import { createVideoInspector } from '../../media/video/inspect-and-make-poster.ts';
import { createVideoNormalizer } from '../../media/ffmpeg/convert-result-video.ts';
import { fetchReferenceMedia, type ReferenceMediaRequest } from '../../media/references/fetch-reference-media.ts';
import type { ResultStore } from '../../media/store/result-store.ts';
import type { Metrics } from '../metrics/create-metrics-registry.ts';
import { asciiBrandName } from '../../platform/brand/brand.ts';
import { createGuardedClient } from '../../platform/outbound/guarded-client.ts';
import { createProviderClient, type ProviderClient } from '../../platform/outbound/provider-client.ts';
import { createCallbackSender } from '../../tasks/callbacks/post-callback.ts';
import { createPaymentProvider } from '../../credits/payments/create-payment-provider.ts';
import { createPreviewProvider } from '../../providers/preview/preview-provider.ts';
import { createOpenProviders } from '../../providers/open-providers.ts';
import { listProviderSwitches } from '../../tasks/jobs/provider-pools-and-switches.ts';
import { listEndedAmong, touchGenerations } from '../../tasks/task-rows.ts';
import { createLiveRequestParser } from '../../tasks/accept/parse-task-request.ts';
import { ownServerAddresses, type CompleteSettings } from '../config/complete-settings-and-derived-values.ts';
import { type SharedDependencies, openSharedDependencies } from './shared-dependencies.ts';
import type { SecretReader } from '../../catalogue/file/provider-schema.ts';
import { reportModelsUntilClosed } from '../../catalogue/models/report-and-watch-models.ts';
import { watchComfyGraphs } from '../../tasks/jobs/close-unfit-comfy-pools.ts';
import { taskQueuesOf } from '../../temporal/connection/queue-names-and-workflow-ids.ts';
import { createWorkflowEngine } from '../../temporal/engine/create-workflow-engine.ts';
import type { WorkerParts } from './wire-activities.ts';

export type WorkerDependencies = { readonly parts: WorkerParts; close(): Promise<void> };

/** Opens the parts of a worker. Connects lazily. */
export function openWorkerDependencies(
  settings: CompleteSettings,
  log: Log,
  metrics: Metrics,
  media: ResultStore,
  refusesWork: () => string | undefined,
): WorkerDependencies {
  const { workerQueues } = settings;
  const readSecret = catalogueSecretReader(dirname(settings.catalogueFile ?? ''));
  // `reconcile`, on the queue `tasks`, stops jobs at upstreams. Workers of the other queues need no secrets of theirs.
  const callsUpstreams = workerQueues.includes('generation-remote') || workerQueues.includes('tasks');
  const core = openSharedDependencies(settings, log, metrics, {
    part: 'worker',
    ...(callsUpstreams && { readSecret }),
  });
  const { db, box, catalogue, events, temporal } = core;
  const ffmpeg = openFfmpeg(settings);
  const upstreams = openUpstreams(core, ffmpeg, readSecret);
  const references = openReferences(core, ffmpeg, media);
  const callbacks = openCallbacks(core);
  const reports = openReports(core, readSecret);
  const provider = createPaymentProvider(settings);
  const parts: WorkerParts = {
    db,
    log,
    events,
    engine: createWorkflowEngine(temporal.client, taskQueuesOf(settings.taskQueue)),
    media,
    catalogue: {
      models: () => catalogue.current().models,
      parseTaskRequest: createLiveRequestParser(settings, catalogue.current),
    },
    providers: upstreams.providers,
    watches: { ...generationWatches(core), refusesWork },
    videoTools: {
      fetchMedia: references.fetch,
      normalizeVideo: createVideoNormalizer(ffmpeg),
      inspectVideo: createVideoInspector(ffmpeg),
    },
    callbacks: { box, callbackFormatOf, sender: callbacks.sender },
    payments: provider && { provider, serviceUrl: settings.publicUrl },
    settings: fromSettings(settings),
  };
  const close = async () => {
    await reports.close();
    await Promise.allSettled([references, callbacks, upstreams, core].map((part) => part.close()));
  };
  return { parts, close };
}

function fromSettings(settings: CompleteSettings): WorkerParts['settings'] {
  return {
    hashAccount: createAccountPseudonymizer(settings),
    marksVideos: settings.markVideos,
    serviceName: settings.brand.name,
    workFolder: settings.workFolder,
    retention: {
      mediaMs: settings.retentionMs,
      securityEventsMs: settings.eventRetentionMs,
      usersMs: settings.userRetentionMs,
      promptsMs: settings.promptRetentionMs,
    },
    stuckTaskMs: settings.stuckTaskMs,
  };
}

/** A generation watches its deadline, the end of its task, and the operators' switches. */
function generationWatches({ db, log }: SharedDependencies) {
  return {
    startDeadline,
    attempts: createRunningAttempts({
      touch: (taskIds) => touchGenerations(db, taskIds),
      listEnded: (taskIds) => listEndedAmong(db, taskIds),
      onError: (error) => log.warn({ err: error }, 'attempt heartbeats not recorded'),
    }),
    switches: watchProviderSwitches({
      list: () => listProviderSwitches(db),
      onError: (error) => log.warn({ err: error }, 'provider switches not read'),
    }),
  };
}

/** Reports which models this worker can generate, and which workflows of ComfyUI cannot run. */
function openReports({ settings, log, db, catalogue }: SharedDependencies, readSecret: SecretReader) {
  const { workerQueues } = settings;
  const models = reportModelsUntilClosed({ catalogue, workerQueues, db });
  const workflows = workerQueues.includes('generation-remote')
    ? watchComfyGraphs({ catalogue: catalogue.current, readSecret, own: ownServerAddresses(settings), db, log })
    : undefined;
  return { close: async () => void (await Promise.all([workflows?.close(), models.close()])) };
}

/** Requests to addresses of clients: the networks that they may reach, the name that they give, and their limits per host. */
export function guardedClientOptions(settings: CompleteSettings) {
  const common = { own: ownServerAddresses(settings), userAgent: asciiBrandName(settings.brand.name) };
  return {
    references: { ...common, allow: settings.imageAllow },
    // A callback without a free slot is rescheduled: waiting here would occupy a slot that all accounts share.
    callbacks: { ...common, allow: settings.callbackAllow, maxPerHost: 32, maxWaitingPerHost: 0 },
  };
}

/** Reference media are uploads in our own store, or fetched from the addresses of clients. */
function openReferences({ settings }: SharedDependencies, ffmpeg: FfmpegRunner, media: ResultStore) {
  const client = createGuardedClient(guardedClientOptions(settings).references);
  const readUpload = (url: string, path: string) => {
    const upload = uploadFromUrl(settings.publicUrl, url);
    return upload === undefined ? undefined : media.fetchTo(uploadKey(upload), path);
  };
  const fetch = (job: ReferenceMediaRequest) => fetchReferenceMedia({ client, readUpload, ffmpeg, ...job });
  return { fetch, close: () => client.close() };
}

function openCallbacks({ settings, log }: SharedDependencies) {
  const client = createGuardedClient(guardedClientOptions(settings).callbacks);
  const sender = createCallbackSender({
    client,
    onUnreachable: ({ deliveryId, error }) => {
      log.info({ deliveryId, kind: error.kind, detail: error.detail }, 'callback receiver unreachable');
    },
  });
  return { sender, close: () => client.close() };
}

function openUpstreams(
  { settings, log, catalogue, events }: SharedDependencies,
  ffmpeg: FfmpegRunner,
  readSecret: SecretReader,
) {
  const clients: ProviderClient[] = [];
  const { previewFailures: failures, generationConcurrency: concurrency, imageAllow: allow } = settings;
  const own = ownServerAddresses(settings);
  const providers = createOpenProviders({
    catalogue: catalogue.current,
    readSecret,
    preview: createPreviewProvider({ ffmpeg, failures, concurrency }),
    openClient: (upstream) => {
      const client = createProviderClient({ ...upstream, own, allow });
      clients.push(client);
      return client;
    },
    warn: (event, fields) => log.warn(fields, event),
    emit: events.emit,
  });
  return { providers, close: async () => void (await Promise.all(clients.map((client) => client.close()))) };
}

/** Only the queue `callbacks` needs no ffmpeg, so a missing one fails the start of all other workers. */
function openFfmpeg({ ffmpegPath: path, workerQueues }: CompleteSettings): FfmpegRunner {
  if (workerQueues.some((queue) => queue !== 'callbacks')) return createFfmpeg(path === undefined ? {} : { path });
  return () => Promise.reject(new Error('a worker of callbacks has no ffmpeg'));
}
