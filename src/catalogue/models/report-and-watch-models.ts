import { randomUUID } from 'node:crypto';
import type { Catalogue } from '../file/catalogue-schema-and-types.ts';
import {
  type GenerationQueue,
  generationQueues,
  mayBeSold,
  generationQueueOf,
  unservedModels,
  type WorkerReport,
} from './models-served-by-workers.ts';
import type { Log } from '../../platform/log/log.ts';
import { type Database, withResponseTimeLimit } from '../../platform/database/database.ts';
import { deleteReportsOfWorker, listLiveWorkerReports, saveReportAndDeleteOld } from './worker-report-rows.ts';
import type { LiveCatalogue } from '../file/live-catalogue.ts';
import { startRepeating } from '../../platform/timing/repeat.ts';

// Workers report the models that they can generate. API processes sell no others of a queue while workers of it run.

/** Well below the 30 seconds after which a report no longer counts, so that a missed report does not stop sales. */
const [reportPauseMs, readPauseMs, statementLimitMs] = [5_000, 2_000, 3_000];
const maxRefusalLength = 2_000;

type Reporting = {
  readonly catalogue: Pick<LiveCatalogue, 'current' | 'state'>;
  readonly workerQueues: readonly string[];
  readonly db: Database;
  readonly pauseMs?: number;
};

/** Reports what this worker can generate until it is closed. */
export function reportModelsUntilClosed({ catalogue, workerQueues, db, pauseMs = reportPauseMs }: Reporting) {
  const workerId = randomUUID();
  const bounded = withResponseTimeLimit(db, statementLimitMs);
  const queues = generationQueues.filter((queue) => workerQueues.includes(queue));
  const report = async () => {
    for (const queue of queues) {
      // Readiness reports an unavailable database; without new reports this worker soon does not count.
      await saveReportAndDeleteOld(bounded, reportOf({ workerId, queue }, catalogue)).catch(() => {});
    }
  };
  const first = report();
  const reporting = startRepeating(pauseMs, report);
  return {
    close: async (): Promise<void> => {
      await first;
      await reporting.close();
      await deleteReportsOfWorker(bounded, workerId).catch(() => {});
    },
  };
}

type Reporter = { readonly workerId: string; readonly queue: GenerationQueue };

function reportOf({ workerId, queue }: Reporter, { current, state }: Reporting['catalogue']): WorkerReport {
  const models = [...current().models.values()].filter((model) => generationQueueOf(model) === queue);
  const refusal = state().refused?.problems.join('; ').slice(0, maxRefusalLength);
  return { workerId, queue, models: models.map(({ model }) => model), refusal };
}

type Watching = {
  readonly db: Database;
  readonly catalogue: () => Catalogue;
  readonly log: Pick<Log, 'info' | 'error'>;
  readonly pauseMs?: number;
};

/** Reads which models live workers can generate, and logs when models stop being sold and when they are sold again. */
export async function watchSoldModels({ db, catalogue, log, pauseMs = readPauseMs }: Watching) {
  const bounded = withResponseTimeLimit(db, statementLimitMs);
  let reports: readonly WorkerReport[] = [];
  let logged = '';
  const read = async () => {
    reports = await listLiveWorkerReports(bounded).catch(() => reports);
    const [names, before] = [unservedModels(catalogue(), reports), logged];
    logged = names.join(' ');
    if (logged === before) return;
    const refusals = [...new Set(reports.map(({ refusal }) => refusal).filter((refusal) => refusal !== undefined))];
    if (names.length > 0) log.error({ models: names, refusals }, 'models not sold: no live worker has them in force');
    else log.info({ models: before.split(' ') }, 'models sold again');
  };
  await read();
  const { close } = startRepeating(pauseMs, read);
  return {
    /** Uses the last known reports while the database is unavailable. */
    isSold: (name: string): boolean => {
      const model = catalogue().models.get(name);
      return model === undefined || mayBeSold(model, reports);
    },
    close,
  };
}
