import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { after, before, test } from 'node:test';
import { type Environment, readConfig } from '../../../src/run/config/config.ts';
import { settingsWithNothingEmbedded } from '../../../src/run/config/complete-settings-and-derived-values.ts';
import { workerOptionsPerQueue } from '../../../src/run/main/worker-options.ts';
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
  return workerOptionsPerQueue(
    settingsWithNothingEmbedded(readConfig(environment)),
    workerParts(database.db, '/srv', []),
  );
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

/** All options, with the names of activities, the number of codecs and the file of the workflows. */
const shown = (options: ReturnType<typeof optionsOf>) =>
  options.map(({ activities = {}, dataConverter, workflowBundle, ...rest }) => ({
    ...rest,
    activities: Object.keys(activities).toSorted(),
    codecs: dataConverter?.payloadCodecs?.length,
    ...(workflowBundle !== undefined && {
      workflows: 'codePath' in workflowBundle ? basename(workflowBundle.codePath) : workflowBundle,
    }),
  }));

/** The options of every queue. */
const common = { namespace: 'films', shutdownGraceTime: 5_000, shutdownForceTime: 20_000, codecs: 1 };

test('the worker of each queue has its activities and its limits, and only the one of tasks has workflows', () => {
  const limits = {
    TASK_CONCURRENCY: '3',
    GENERATION_CONCURRENCY: '5',
    REMOTE_CONCURRENCY: '7',
    CALLBACK_CONCURRENCY: '11',
  };
  assert.deepEqual(shown(optionsOf({ ...limits, VIDEOGEN_TASK_QUEUE: 'films-1' })), [
    {
      ...common,
      taskQueue: 'films-1',
      activities: main.toSorted(),
      workflows: 'workflow-bundle.js',
      maxConcurrentActivityTaskExecutions: 3,
      maxConcurrentLocalActivityExecutions: 3,
      maxConcurrentWorkflowTaskExecutions: 12,
      maxConcurrentWorkflowTaskPolls: 12,
      nonStickyToStickyPollRatio: 0.5,
      maxCachedWorkflows: 150,
    },
    {
      ...common,
      taskQueue: 'films-1-generation',
      activities: ['generateVideo'],
      maxConcurrentActivityTaskExecutions: 5,
      maxHeartbeatThrottleInterval: '1s',
    },
    {
      ...common,
      taskQueue: 'films-1-generation-remote',
      activities: ['generateVideo'],
      maxConcurrentActivityTaskExecutions: 7,
      maxHeartbeatThrottleInterval: '15s',
    },
    {
      ...common,
      taskQueue: 'films-1-callbacks',
      activities: ['sendCallback'],
      maxConcurrentActivityTaskExecutions: 11,
    },
  ]);
});

test('a worker serves the queues that it is given, as the version that it is given', () => {
  const given = { WORKER_QUEUES: 'callbacks', WORKER_VERSION: 'v9', VIDEOGEN_TASK_QUEUE: 'films' };
  assert.deepEqual(shown(optionsOf({ ...given, CALLBACK_CONCURRENCY: '11' })), [
    {
      ...common,
      taskQueue: 'films-callbacks',
      activities: ['sendCallback'],
      maxConcurrentActivityTaskExecutions: 11,
      workerDeploymentOptions: {
        version: { deploymentName: 'films', buildId: 'v9' },
        useWorkerVersioning: true,
        defaultVersioningBehavior: 'PINNED',
      },
    },
  ]);
});
