import { createHmac } from 'node:crypto';
import { createAttempts } from '../../activities/attempts.ts';
import { startDeadline } from '../../activities/deadline.ts';
import { createSwitches } from '../../activities/switches.ts';
import type { ActivityDeps } from '../../activities/deps.ts';
import type { Ffmpeg } from '../domain/ports.ts';
import { uploadIdOf, uploadKey } from '../domain/upload.ts';
import { taskQueuesOf } from '../domain/task-queues.ts';
import { dirname } from 'node:path';
import { secretReader } from '../config.ts';
import { adapterOf } from '../dialects/dialect.ts';
import type { Log } from '../log.ts';
import { createFfmpeg } from '../media/ffmpeg.ts';
import { createVideoInspector } from '../media/inspect-video.ts';
import { createVideoNormaliser } from '../media/normalise-video.ts';
import { fetchReferenceImages } from '../media/reference-image.ts';
import type { ResultStore } from '../media/result-store.ts';
import { type Metrics, recordCatalogue } from '../metrics.ts';
import { createGuardedClient } from '../outbound/client.ts';
import { createProviderClient, type ProviderClient } from '../outbound/provider-client.ts';
import { createCallbackPoster } from '../outbound/webhook.ts';
import { createSecretBox } from '../outbound/secrets.ts';
import { createPreviewProvider } from '../providers/preview/preview-provider.ts';
import { createProviders } from '../providers/registry.ts';
import { createDatabase } from '../stores/database.ts';
import { listProviderSwitches } from '../stores/provider-pools.ts';
import { listEndedAmong, touchGenerations } from '../stores/tasks.ts';
import { connectTemporal } from '../temporal/connect.ts';
import { createEngine } from '../temporal/engine.ts';
import { createLiveCatalogue } from './live-catalogue.ts';
import { createOwedCallbacks } from './owed-callbacks.ts';
import { countProviders } from './provider-metrics.ts';
import { createRequestParser, ownEndpoints, type Settings } from './settings.ts';
import { countCallbacks, countFindings, countTasks } from './task-metrics.ts';
import { currentTracing } from './tracing.ts';
import { reportModels } from './worker-reports.ts';
import { watchWorkflows } from './workflow-checks.ts';

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
  const asksUpstreams = followsUpstreams || settings.workerQueues.includes('tasks');
  const catalogue = createLiveCatalogue({
    path: settings.catalogueFile,
    publicUrl: settings.publicUrl,
    ...(asksUpstreams && { readSecret }),
    log,
    onRead: recordCatalogue(metrics, 'worker'),
  });
  const counts = countProviders(metrics, catalogue.current);
  const db = createDatabase({
    url: settings.databaseUrl,
    poolSize: settings.databasePoolSize,
    onIdleError: (error) => log.warn({ err: error }, 'database connection broke'),
  });
  metrics.databases.set('worker', db.usage);
  const reports = reportModels({ catalogue, workerQueues: settings.workerQueues, db });
  const temporal = connectTemporal(settings.temporal, { interceptors: currentTracing()?.client });
  const own = ownEndpoints(settings);
  const imageClient = createGuardedClient({ allow: settings.imageAllow, own });
  // A callback without a free slot is rescheduled: waiting here would hold a place that all accounts share.
  const callbackClient = createGuardedClient({
    allow: settings.callbackAllow,
    own,
    maxPerHost: 32,
    maxWaitingPerHost: 0,
  });
  const workflows = followsUpstreams
    ? watchWorkflows({ catalogue: catalogue.current, readSecret, own, db, log })
    : undefined;
  const box = createSecretBox(settings.secret, settings.secretPrevious);
  const ffmpeg = openFfmpeg(settings);
  const readUpload = (url: string, path: string) => {
    const uploadId = uploadIdOf(settings.publicUrl, url);
    return uploadId === undefined ? undefined : media.fetchTo(uploadKey(uploadId), path);
  };
  const postCallback = createCallbackPoster({
    client: callbackClient,
    onUnreachable: ({ taskId, error }) => {
      log.info({ taskId, kind: error.kind, detail: error.detail }, 'callback receiver unreachable');
    },
    dialectHeaders: ({ dialect, ...callback }) => adapterOf(dialect).callbackHeaders(callback),
  });
  const upstreamClients: ProviderClient[] = [];
  const preview = createPreviewProvider({
    ffmpeg,
    faults: settings.previewFaults,
    concurrency: settings.generationConcurrency,
  });
  const deps: ActivityDeps = {
    db,
    log,
    get models() {
      return catalogue.current().models;
    },
    parseTaskRequest: createRequestParser(settings, catalogue.current),
    providers: createProviders({
      catalogue: catalogue.current,
      preview,
      readSecret,
      openClient: (upstream) => {
        const client = createProviderClient({ ...upstream, own, allow: settings.imageAllow });
        upstreamClients.push(client);
        return client;
      },
      warn: (event, fields) => log.warn(fields, event),
      onEvent: counts.onProviderEvent,
    }),
    startDeadline,
    attempts: createAttempts({
      touch: (taskIds) => touchGenerations(db, taskIds),
      listEnded: (taskIds) => listEndedAmong(db, taskIds),
      onError: (error) => log.warn({ err: error }, 'attempts not recorded as alive, or their ends not known'),
    }),
    switches: createSwitches({
      list: () => listProviderSwitches(db),
      onError: (error) => log.warn({ err: error }, 'switches of providers not read'),
    }),
    hashAccount: (accountId) => createHmac('sha256', settings.secret).update(`account ${accountId}`).digest('hex'),
    fetchImages: (job) => fetchReferenceImages({ client: imageClient, readUpload, ...job }),
    media,
    normalizeVideo: createVideoNormaliser(ffmpeg),
    inspectVideo: createVideoInspector(ffmpeg),
    postCallback: countCallbacks(metrics, postCallback),
    findCallback: createOwedCallbacks(db, box, media, () => catalogue.current().models),
    engine: createEngine(temporal.client, taskQueuesOf(settings.taskQueue)),
    workFolder: settings.workFolder,
    retention: {
      mediaMs: settings.retentionMs,
      eventsMs: settings.eventRetentionMs,
      usersMs: settings.userRetentionMs,
      promptsMs: settings.promptRetentionMs,
    },
    stuckTaskMs: settings.stuckTaskMs,
    onSettled: (outcome) => metrics.tasksSettled.inc({ outcome }),
    onFinding: countFindings(metrics),
    taskEvents: countTasks(metrics, () => catalogue.current().models),
    ...counts,
  };
  const close = async () => {
    catalogue.close();
    await Promise.all([workflows?.close(), reports.close()]);
    const clients = [imageClient, callbackClient, ...upstreamClients];
    await Promise.allSettled([...clients.map((client) => client.close()), temporal.close(), db.close()]);
  };
  return { deps, close };
}

/**
 * Videos are rendered on the queue `generation`, and made to fit on `tasks`: there a missing ffmpeg is found at the start. On the
 * others only a model that mixes upstreams with `preview` needs one, when it comes to that.
 */
function openFfmpeg({ ffmpegPath: path, workerQueues }: Settings): Ffmpeg {
  const open = () => createFfmpeg(path === undefined ? {} : { path });
  if (workerQueues.includes('tasks') || workerQueues.includes('generation')) return open();
  let opened: Ffmpeg | undefined;
  return async (run) => (opened ??= open())(run);
}
