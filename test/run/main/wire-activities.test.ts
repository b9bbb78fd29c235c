import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { activityDepsOf, wireActivities, type WorkerParts } from '../../../src/run/main/wire-activities.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { workerParts } from '../../support/service/worker-parts.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

test('each queue has its activities', async (t) => {
  const wired = wireActivities(workerParts(database.db, await temporaryFolder(t), []));
  const names = Object.entries(wired).map(([queue, activities]) => [queue, Object.keys(activities).toSorted()]);
  assert.deepEqual(Object.fromEntries(names), {
    main: [
      'auditBooks',
      'chargeCredits',
      'completeTask',
      'emptyAccountPage',
      'finishClosing',
      'housekeep',
      'reconcilePayments',
      'reconcileTasks',
      'refundCredits',
      'settleProviderJobs',
      'startClosings',
      'startOwedCallbacks',
      'storeResult',
      'testProvider',
    ],
    generation: ['generateVideo'],
    callbacks: ['sendCallback'],
  });
});

test('activities get each part of their worker under one name', async (t) => {
  const parts: WorkerParts = workerParts(database.db, await temporaryFolder(t), []);
  const { db, log, events, engine, media, payments, catalogue, providers, watches, videoTools, callbacks, settings } =
    parts;
  assert.deepEqual(activityDepsOf(parts), {
    db,
    log,
    events,
    engine,
    media,
    payments,
    ...catalogue,
    ...watches,
    ...videoTools,
    ...callbacks,
    ...settings,
    providers,
    testProvider: providers.test,
    machine: { workFolder: settings.workFolder, refusesWork: watches.refusesWork },
  });
});
