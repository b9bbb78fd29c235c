import { noMedia } from '../../src/tasks/ports.ts';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { createAttempts } from '../../activities/attempts.ts';
import { startDeadline } from '../../activities/deadline.ts';
import { createSwitches } from '../../activities/switches.ts';
import type { ActivityDeps } from '../../activities/deps.ts';
import { createFolderStore } from './folder-store.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { listProviderSwitches } from '../../src/providers/provider-pools.ts';
import { listEndedAmong, touchGenerations } from '../../src/tasks/tasks.ts';
import { silentEvents } from './events.ts';
import { modelsAt, providersOf } from './fake-providers.ts';
import type { FakeUpstream } from './fake-upstream.ts';
import { madeUpMeasures } from './tasks.ts';

/** Dependencies of activities without an engine: a real database and store, and fake upstreams in their order. Nothing is measured. */
export function activityDeps(db: Database, folder: string, upstreams: readonly FakeUpstream[]): ActivityDeps {
  return {
    db,
    log: pino({ level: 'silent' }),
    models: modelsAt(upstreams.map(({ provider }) => provider.name)),
    parseTaskRequest: noPart,
    providers: providersOf(upstreams.map(({ provider }) => provider)),
    testProvider: noPart,
    startDeadline,
    attempts: createAttempts({
      touch: (taskIds) => touchGenerations(db, taskIds),
      listEnded: (taskIds) => listEndedAmong(db, taskIds),
      onError: () => {},
    }),
    switches: createSwitches({ list: () => listProviderSwitches(db), onError: () => {} }),
    hashAccount: (accountId) => accountId,
    fetchMedia: () => Promise.resolve(noMedia),
    media: createFolderStore(folder),
    normalizeVideo: async ({ videoPath }) => videoPath,
    inspectVideo: async ({ videoPath, deliveredPoster, posterPath }) => {
      if (deliveredPoster === undefined) await copyFile(videoPath, posterPath);
      return { measured: madeUpMeasures, isPosterMade: deliveredPoster === undefined };
    },
    marksVideos: false,
    serviceName: 'Videogen',
    postCallback: noPart,
    findOwedDelivery: noPart,
    engine: {
      startTask: noPart,
      describeTask: noPart,
      cancelWorkflow: noPart,
      terminateTask: noPart,
      forgetTask: noPart,
      startClosing: noPart,
      startDelivery: noPart,
      wakeDelivery: noPart,
    },
    payments: undefined,
    publicUrl: 'http://media.test',
    workFolder: join(folder, '.work'),
    retention: {
      mediaMs: 14 * 86_400_000,
      eventsMs: 90 * 86_400_000,
      usersMs: 90 * 86_400_000,
      promptsMs: undefined,
    },
    stuckTaskMs: 10 * 60_000,
    events: silentEvents,
  };
}

function noPart(): never {
  throw new Error('not used in this test');
}
