import { noMedia } from '../../../src/catalogue/media/media-by-role.ts';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { createRunningAttempts } from '../../../activities/running-attempts.ts';
import { startDeadline } from '../../../activities/abort-timers.ts';
import { watchProviderSwitches } from '../../../activities/watch-provider-switches.ts';
import type { WorkerParts } from '../../../src/run/main/wire-activities.ts';
import { createFolderStore } from '../folder-store.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { createSecretBox } from '../../../src/platform/secrets/secret-box.ts';
import { listProviderSwitches } from '../../../src/tasks/jobs/provider-pools-and-switches.ts';
import { listEndedAmong, touchGenerations } from '../../../src/tasks/task-rows.ts';
import { silentEvents } from './metric-event-sinks.ts';
import { modelsAt, providersOf } from '../tasks/fake-providers.ts';
import type { FakeUpstream } from '../tasks/fake-upstream.ts';
import { madeUpMeasures } from '../tasks/tasks.ts';

/** Parts of a worker without an engine: a real database and store, and fake upstreams in their order. Nothing is measured. */
export function workerParts(db: Database, folder: string, upstreams: readonly FakeUpstream[]): WorkerParts {
  return {
    db,
    log: pino({ level: 'silent' }),
    catalogue: catalogueAt(modelsAt(upstreams.map(({ provider }) => provider.name))),
    providers: providersOf(upstreams.map(({ provider }) => provider)),
    watches: {
      startDeadline,
      attempts: createRunningAttempts({
        touch: (taskIds) => touchGenerations(db, taskIds),
        listEnded: (taskIds) => listEndedAmong(db, taskIds),
        onError: () => {},
      }),
      switches: watchProviderSwitches({ list: () => listProviderSwitches(db), onError: () => {} }),
      refusesWork: () => undefined,
    },
    media: createFolderStore(folder),
    videoTools: {
      fetchMedia: () => Promise.resolve(noMedia),
      normalizeVideo: async ({ videoPath }) => videoPath,
      inspectVideo: async ({ videoPath, deliveredPoster, posterPath }) => {
        if (deliveredPoster === undefined) await copyFile(videoPath, posterPath);
        return { measured: madeUpMeasures, isPosterMade: deliveredPoster === undefined };
      },
    },
    callbacks: {
      box: createSecretBox('s'.repeat(32)),
      callbackFormatOf: noPart,
      sender: { inSlot: noPart, post: noPart },
    },
    engine: {
      startTask: noPart,
      describeTask: noPart,
      cancelWorkflow: noPart,
      terminateTask: noPart,
      deleteTaskHistories: noPart,
      startClosing: noPart,
      startDelivery: noPart,
      wakeDelivery: noPart,
    },
    payments: undefined,
    settings: {
      hashAccount: (accountId) => [accountId],
      marksVideos: false,
      serviceName: 'Videogen',
      workFolder: join(folder, '.work'),
      retention: {
        mediaMs: 14 * 86_400_000,
        securityEventsMs: 90 * 86_400_000,
        usersMs: 90 * 86_400_000,
        promptsMs: undefined,
      },
      stuckTaskMs: 10 * 60_000,
    },
    events: silentEvents,
  };
}

/** A catalogue of these models that parses no order. */
export function catalogueAt(models: ReturnType<WorkerParts['catalogue']['models']>): WorkerParts['catalogue'] {
  return { models: () => models, parseTaskRequest: noPart };
}

function noPart(): never {
  throw new Error('not used in this test');
}
