import { modelCatalogue } from '../domain/models.ts';
import { taskQueuesOf } from '../domain/task-queues.ts';
import { createApp } from '../http/app.ts';
import { startHttpServer } from '../http/server.ts';
import { createWithdrawals } from '../http/withdrawals.ts';
import type { Log } from '../log.ts';
import { createFolderResultStore } from '../media/folder-result-store.ts';
import { createMetrics } from '../metrics.ts';
import { createDatabase } from '../stores/database.ts';
import { connectTemporal } from '../temporal/connect.ts';
import { createEngine } from '../temporal/engine.ts';
import { createTaskProgress } from '../temporal/task-progress.ts';
import { createTaskStarter } from '../temporal/task-starter.ts';
import { exportBookMetrics } from './book-metrics.ts';
import { createRequestParser } from './request-parser.ts';
import type { Role, Settings } from './settings.ts';

/** Running requests, and then the starts of workflows behind them, get this long each. */
const drainMs = 15_000;

/** Starts the HTTP API in this process. Temporal may be away: tasks are accepted and wait. */
export async function startApiRole(settings: Settings, log: Log, metrics = createMetrics()): Promise<Role> {
  const db = createDatabase({
    url: settings.databaseUrl,
    poolSize: settings.databasePoolSize,
    onIdleError: (error) => log.warn({ err: error }, 'a database connection broke'),
  });
  const temporal = connectTemporal(settings.temporal);
  const engine = createEngine(temporal.client, taskQueuesOf(settings.taskQueue));
  const starter = createTaskStarter(engine.startTask, (error, task) => {
    log.warn({ err: error, taskId: task.taskId }, 'workflow not started yet; reconcile will start it');
  });
  exportBookMetrics(metrics, db);
  const withdrawals = createWithdrawals({
    db,
    log,
    onOutcome: (outcome) => metrics.acceptancesWithdrawn.inc({ outcome }),
  });
  const app = createApp({
    db,
    log,
    models: modelCatalogue(settings.models),
    parseTaskRequest: createRequestParser(settings),
    resultStore: createFolderResultStore(settings),
    startTask: starter.start,
    withdraw: withdrawals.add,
    metrics: metrics.registry,
    progressOf: createTaskProgress(temporal.client),
  });
  const server = await startHttpServer({ app, host: settings.host, port: settings.port, log });
  log.info({ port: server.port, publicUrl: settings.publicUrl }, 'api is listening');
  return {
    close: async () => {
      await server.close(drainMs);
      await Promise.all([starter.drain(drainMs), withdrawals.drain(drainMs)]);
      await Promise.allSettled([temporal.close(), db.close()]);
    },
  };
}
