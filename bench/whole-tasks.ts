import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { atOnce, type Batch, runBatch } from './batch.ts';
import type { Bench, Engine } from './bench.ts';
import type { BareSpender } from './bare-tasks.ts';
import type { Child } from './child.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import * as ownServices from './service.ts';
import type { BenchService } from './service.ts';
import { createAll, openTaskClient } from './task-client.ts';
import { watchTasks } from './watched-tasks.ts';

export type Spender = BareSpender | 'API';

/**
 * The service with one API and one worker, whose provider takes no time; and
 * its clients.
 */
export type WholeTasks = {
  readonly service: BenchService;
  readonly api: Child & { readonly baseUrl: string };
  readonly worker: Child;
  /**
   * Measures from the first createTask until the last task is final in the
   * database.
   */
  readonly perSecond: (count: number) => Promise<Batch<Spender>>;
  /**
   * Measures from the first createTask until the last callback has reached a
   * receiver that responds immediately.
   */
  readonly calledBackPerSecond: (count: number) => Promise<Batch<Spender>>;
  /** Creates a task, and returns its id, which is that of its workflow. */
  readonly startOne: () => Promise<string>;
  readonly countFinished: () => Promise<number>;
  close(): Promise<void>;
};

export async function startWholeTasks(
  bench: Bench,
  engine: Engine,
  { checkout }: { readonly checkout?: string } = {},
): Promise<WholeTasks> {
  const { benchService, benchAccounts } = await servicesOf(checkout);
  const service = await benchService(bench, engine.address);
  const accounts = await benchAccounts(service.db, atOnce);
  const api = await service.startApi();
  const worker = service.startWorker('./watched-worker.js');
  const receiver: Receiver = await startReceiver();
  await watchTasks(worker).ready();
  const clients = accounts.map((account) => openTaskClient(api.baseUrl, account));
  const spenders = { worker: worker.pid, API: api.pid, Temporal: engine.pid, PostgreSQL: bench.postgresPid };
  const countFinished = () => finishedIn(service);
  return {
    service,
    api,
    worker,
    countFinished,
    perSecond: (count) => runBatch(count, { begin: () => createAll(clients, count), ended: countFinished, spenders }),
    calledBackPerSecond: (count) =>
      runBatch(count, { begin: () => createAll(clients, count, receiver.url), ended: receiver.received, spenders }),
    startOne: async () => {
      const [client] = clients;
      if (client === undefined) throw new Error('no client');
      return (await client.create()).taskId;
    },
    close: async () => {
      for (const client of clients) client.close();
      await Promise.all([service.close(), receiver.child.stop()]);
    },
  };
}

/**
 * Returns the functions of another built checkout, which use its processes and
 * migrations.
 */
async function servicesOf(checkout: string | undefined): Promise<typeof ownServices> {
  if (checkout === undefined) return ownServices;
  // Any checkout with the same two functions can be measured.
  return (await import(pathToFileURL(join(resolve(checkout), 'dist/bench/service.js')).href)) as typeof ownServices;
}

// Accounts count their unfinished tasks, so all other tasks have ended, and no
// state is read.
async function finishedIn({ db }: BenchService): Promise<number> {
  const text = `select (select count(*) from tasks) - (select sum(unfinished_tasks) from accounts) as finished`;
  const [row] = await db.run<{ finished: string }>({ name: 'bench-finished', text });
  return Number(row?.finished);
}
