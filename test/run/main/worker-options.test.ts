import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Environment, readConfig } from '../../../src/run/config/config.ts';
import { externalSettings } from '../../../src/run/config/complete-settings.ts';
import { workerOptions } from '../../../src/run/main/worker-options.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { workerParts } from '../../support/service/worker-parts.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

function optionsOf(extra: Environment) {
  const servers = { DATABASE_URL: database.url, TEMPORAL_ADDRESS: '127.0.0.1:1', TEMPORAL_NAMESPACE: 'films' };
  const environment = { ...servers, VIDEOGEN_SECRET: 's'.repeat(32), RESULT_STORE: '/srv/results', ...extra };
  return workerOptions(externalSettings(readConfig(environment)), workerParts(database.db, '/srv', []));
}

const main = [
  'chargeCredits',
  'storeResult',
  'completeTask',
  'refundCredits',
  'auditBooks',
  'housekeep',
  'reconcilePayments',
  'testProvider',
  'reconcileTasks',
  'settleProviderJobs',
  'startOwedCallbacks',
  'startClosings',
  'emptyAccountPage',
  'finishClosing',
];

test('the worker of each queue has its activities and its limit, and only the one of tasks has workflows', () => {
  const limits = {
    TASK_CONCURRENCY: '3',
    GENERATION_CONCURRENCY: '5',
    REMOTE_CONCURRENCY: '7',
    CALLBACK_CONCURRENCY: '11',
  };
  const options = optionsOf({ ...limits, VIDEOGEN_TASK_QUEUE: 'films-1' });
  const none = { local: undefined, throttle: 'undefined', hasWorkflows: false };
  assert.deepEqual(
    options.map((one) => ({
      queue: one.taskQueue,
      activities: Object.keys(one.activities ?? {}).toSorted(),
      limit: one.maxConcurrentActivityTaskExecutions,
      local: one.maxConcurrentLocalActivityExecutions,
      throttle: String(one.maxHeartbeatThrottleInterval),
      hasWorkflows: one.workflowBundle !== undefined,
    })),
    [
      { ...none, queue: 'films-1', activities: main.toSorted(), limit: 3, local: 3, hasWorkflows: true },
      { ...none, queue: 'films-1-generation', activities: ['generateVideo'], limit: 5, throttle: '1s' },
      { ...none, queue: 'films-1-generation-remote', activities: ['generateVideo'], limit: 7, throttle: '15s' },
      { ...none, queue: 'films-1-callbacks', activities: ['sendCallback'], limit: 11 },
    ],
  );
  for (const { namespace, shutdownGraceTime, shutdownForceTime, dataConverter, workerDeploymentOptions } of options) {
    assert.deepEqual([namespace, shutdownGraceTime, shutdownForceTime], ['films', 5_000, 20_000]);
    assert.equal(dataConverter?.payloadCodecs?.length, 1);
    assert.equal(workerDeploymentOptions, undefined);
  }
});

test('a worker serves the queues that it is given, as the version that it is given', () => {
  const [only, ...others] = optionsOf({
    WORKER_QUEUES: 'callbacks',
    WORKER_VERSION: 'v9',
    VIDEOGEN_TASK_QUEUE: 'films',
  });
  assert.deepEqual([only?.taskQueue, others], ['films-callbacks', []]);
  assert.deepEqual(only?.workerDeploymentOptions, {
    version: { deploymentName: 'films', buildId: 'v9' },
    useWorkerVersioning: true,
    defaultVersioningBehavior: 'PINNED',
  });
});
