import assert from 'node:assert/strict';
import type { WorkerParts } from '../../../src/run/main/wire-activities.ts';
import type { Environment } from '../../../src/run/config/config.ts';
import { taskQueuesOf } from '../../../src/temporal/connection/queue-names-and-workflow-ids.ts';
import type { CompleteSettings } from '../../../src/run/config/complete-settings-and-derived-values.ts';
import type { DrainablePart } from '../../../src/run/main/run-until-signal.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { connectTemporal } from '../../../src/temporal/connection/connect.ts';
import { createWorkflowEngine } from '../../../src/temporal/engine/create-workflow-engine.ts';
import { type ScheduleName, triggerSchedule } from '../../../src/temporal/schedules/schedules.ts';
import type { FakeCatalogue } from '../tasks/fake-providers.ts';
import { createFakeUpstream, type FakeOptions } from '../tasks/fake-upstream.ts';
import { patientEngine } from '../workflows/patient-engine.ts';
import { createTestAccount, createTestEnvironment, type TestEnvironment } from './test-service.ts';
import { acceptTestTask, taskParam } from '../tasks/tasks.ts';
import { waitFor } from '../wait-for.ts';
import { startWorkerWith } from './worker-with-upstream.ts';

export const model = 'videogen-2.0-fast';
/** The price of a task of `taskParam`. */
export const price = 132;
export const openingCredits = 10_000;

type WorkerChanges = {
  readonly settings?: Partial<CompleteSettings>;
  readonly catalogue?: FakeCatalogue;
  readonly adapt?: (parts: WorkerParts) => WorkerParts;
};

export type EngineClient = ReturnType<typeof connectEngine>;

/** A Temporal client, and the engine on the task queues of a test environment. */
export function connectEngine({ settings }: Pick<TestEnvironment, 'settings'>) {
  const { client, close } = connectTemporal(settings.temporal);
  const queues = taskQueuesOf(settings.taskQueue);
  return {
    client,
    engine: patientEngine(createWorkflowEngine(client, queues)),
    queues,
    trigger: (name: ScheduleName) => triggerSchedule(client, queues, name).catch(() => undefined),
    /** Runs `reconcile` every second instead of every minute. Returns a function that stops it. */
    keepReconciling: () => {
      const timer = setInterval(() => void triggerSchedule(client, queues, 'reconcile').catch(() => undefined), 1_000);
      return () => clearInterval(timer);
    },
    /** Waits for what runs of a schedule lead to, and triggers one every second: a trigger during a run is skipped. */
    untilRun: async <T>(name: ScheduleName, what: string, look: () => Promise<T | undefined> | T | undefined) => {
      const trigger = () => void triggerSchedule(client, queues, name).catch(() => undefined);
      trigger();
      const timer = setInterval(trigger, 1_000);
      try {
        return await waitFor(what, look);
      } finally {
        clearInterval(timer);
      }
    },
    close,
  };
}

/** An environment with an account and an engine. Its workers have a fake upstream instead of every provider. */
export async function createInstallation(
  extra: Environment = {},
  fake: FakeOptions = { instant: false },
  dump?: string,
) {
  const environment = await createTestEnvironment(extra, dump);
  const { database, settings } = environment;
  const { db } = database;
  const { close: disconnect, ...connection } = connectEngine(environment);
  const upstream = createFakeUpstream(fake);
  const { accountId } = await createTestAccount(database, openingCredits);
  const workers: DrainablePart[] = [];
  const accept = (callBackUrl?: string) => acceptTestTask(db, accountId, taskParam('a test', {}, callBackUrl));
  const start = async (callBackUrl?: string) => {
    const taskId = await accept(callBackUrl);
    await connection.engine.startTask({ taskId, accountId, model });
    return taskId;
  };
  const waitForJob = (taskId: string) =>
    waitFor('a job', () => (upstream.jobs.some((job) => job.taskId === taskId) ? true : undefined));
  return {
    ...environment,
    ...connection,
    db,
    accountId,
    upstream,
    /** Accepts a task without starting its workflow. */
    accept,
    /** Accepts a task and starts its workflow. */
    start,
    waitForJob,
    /** Starts a task and waits until its job runs upstream. */
    startGenerating: async (callBackUrl?: string) => {
      const taskId = await start(callBackUrl);
      await waitForJob(taskId);
      return taskId;
    },
    jobsOf: (taskId: string) => upstream.jobs.filter((job) => job.taskId === taskId),
    startWorker: async ({ settings: changed, catalogue, adapt }: WorkerChanges = {}) => {
      const worker = await startWorkerWith({ ...settings, ...changed }, upstream, catalogue, adapt);
      workers.push(worker);
      return worker;
    },
    /** Fails when the ledger does not add up. */
    close: async () => {
      const violations = await auditLedger(db);
      // A worker that the test has closed already may reject.
      await Promise.allSettled(workers.map((worker) => worker.close()));
      await disconnect();
      await environment.close();
      assert.deepEqual(violations, []);
    },
  };
}

export type Installation = Awaited<ReturnType<typeof createInstallation>>;
