import { connectTemporal } from '../../src/temporal/connect.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { type BareTasks, startBareTasks } from '../bare-tasks.ts';
import type { Bench } from '../bench.ts';
import { type Child, residentMb } from '../child.ts';
import { interleaved } from '../rounds.ts';
import { type Row, showMs, times } from '../row.ts';
import { benchAccounts, benchService, type BenchService } from '../service.ts';
import { median } from '../statistics.ts';
import { createAll, openTaskClient, type TaskClient } from '../task-client.ts';
import { watchTasks, type WatchedTasks } from '../watched-tasks.ts';

const atOnce = 32;
/** Tasks one after the other, in each round. */
const singles = 10;

type Running = {
  readonly service: BenchService;
  readonly clients: readonly TaskClient[];
  readonly watched: WatchedTasks;
  readonly bare: BareTasks;
  readonly api: Child;
  readonly worker: Child;
};

export type WholeTaskEngine = { readonly name: string; readonly address: string };

/** Whole tasks with an instant provider beside bare workflows on one engine, and how long a task waits for its generation. */
export function wholeTaskRows(bench: Bench, engine: WholeTaskEngine): Promise<readonly Row[]> {
  return withRunning(bench, engine, {}, async (running) => [
    await rateRow(bench, engine, running, ' that delivers a poster'),
    await lagRow(engine.name, running),
  ]);
}

/** Whole tasks for each of which ffmpeg starts once and decodes the video. */
export function posterRow(bench: Bench, engine: WholeTaskEngine): Promise<Row> {
  return withRunning(bench, engine, { BENCH_POSTER: 'none' }, (running) =>
    rateRow(bench, engine, running, ' that delivers no poster, so that we make it'),
  );
}

/** What api and worker hold while thousands of whole tasks go through them. */
export function memoryRow(bench: Bench, engine: WholeTaskEngine, say: (text: string) => void): Promise<Row> {
  return withRunning(bench, engine, {}, (running) => memoryOver(bench, engine.name, running, say));
}

async function withRunning<T>(
  bench: Bench,
  engine: WholeTaskEngine,
  environment: NodeJS.ProcessEnv,
  work: (running: Running) => Promise<T>,
): Promise<T> {
  const service = await benchService(bench, engine.address, environment);
  const accounts = await benchAccounts(service.db, atOnce);
  const api = await service.startApi();
  const worker = service.startWorker('./watched-worker.js');
  const watched = watchTasks(worker);
  const bare = await startBareTasks(engine.address);
  await watched.ready();
  const clients = accounts.map((account) => openTaskClient(api.baseUrl, account));
  const running: Running = { service, clients, watched, bare, api, worker };
  try {
    await bare.perSecond(2 * bench.batch);
    await tasksPerSecond(running, 2 * bench.batch);
    return await work(running);
  } finally {
    for (const client of clients) client.close();
    await Promise.all([service.close(), bare.close()]);
  }
}

async function rateRow(bench: Bench, engine: WholeTaskEngine, running: Running, variant: string): Promise<Row> {
  const rates = await interleaved({
    floor: () => running.bare.perSecond(bench.batch),
    ours: () => tasksPerSecond(running, bench.batch),
  });
  const [floor, ours] = [median(rates.floor), median(rates.ours)];
  const events = await eventsOfOne(engine.address, running);
  return {
    what: `whole task, instant provider${variant}, ${atOnce} at once, ${engine.name}`,
    floor: `bare workflow, the same steps, all empty: ${floor.toFixed(1)}/s`,
    measured: `${ours.toFixed(1)}/s, ${events} events`,
    ratio: `rate ${times(ours / floor)}`,
    target: 'rate ≥ 0.8 ×, ≤ 30 events',
    isReached: ours / floor >= 0.8 && events <= 30,
  };
}

async function lagRow(engine: string, running: Running): Promise<Row> {
  const lags = await interleaved({
    floor: () => repeated(() => running.bare.startLagMs()),
    ours: () => repeated(() => startLagMs(running)),
  });
  const [floor, ours] = [median(lags.floor), median(lags.ours)];
  return {
    what: `createTask's answer → the provider is asked to generate, idle, ${engine}`,
    floor: `bare workflow, asked for → first activity: p50 ${showMs(floor)}`,
    measured: `p50 ${showMs(ours)}`,
    ratio: `p50 ${times(ours / floor)}`,
    target: 'p50 ≤ 1.3 ×',
    isReached: ours / floor <= 1.3,
  };
}

type Memory = { readonly tasks: number; readonly api: number; readonly worker: number };

/** In batches, so that what is measured is not a backlog. */
async function memoryOver(
  { memoryTasks, batch }: Bench,
  engine: string,
  running: Running,
  say: (text: string) => void,
): Promise<Row> {
  const looks: Memory[] = [];
  for (let tasks = await countFinished(running.service); tasks < memoryTasks;) {
    await tasksPerSecond(running, Math.min(batch, Math.ceil(memoryTasks / 20)));
    tasks = await countFinished(running.service);
    looks.push({ tasks, api: await residentMb(running.api.pid), worker: await residentMb(running.worker.pid) });
    say(`  after ${tasks} tasks: ${showMemory(looks.at(-1))}`);
  }
  const early = typicalMemory(looks, 0.4 * memoryTasks, 0.5 * memoryTasks);
  const late = typicalMemory(looks, 0.9 * memoryTasks, memoryTasks);
  const peak = {
    api: Math.max(...looks.map(({ api }) => api)),
    worker: Math.max(...looks.map(({ worker }) => worker)),
  };
  return {
    what: `memory after ${memoryTasks.toLocaleString('en')} tasks, ${engine}`,
    floor: `after half of them: ${showMemory(early)}`,
    measured: `${showMemory(late)}; at most ${showMemory(peak)}`,
    ratio: `api ${times(late.api / early.api)}, worker ${times(late.worker / early.worker)}`,
    target: 'api ≤ 200 MB, worker ≤ 450 MB, flat',
    isReached:
      late.api <= 200 && late.worker <= 450 && late.worker / early.worker <= 1.1 && late.api / early.api <= 1.1,
  };
}

/** The medians over a stretch of tasks: one look alone may fall before or after a collection of garbage. */
function typicalMemory(looks: readonly Memory[], from: number, to: number): Omit<Memory, 'tasks'> {
  const chosen = looks.filter(({ tasks }) => tasks > from && tasks <= to);
  return { api: median(chosen.map(({ api }) => api)), worker: median(chosen.map(({ worker }) => worker)) };
}

function showMemory(memory: Omit<Memory, 'tasks'> | undefined): string {
  return memory === undefined ? '–' : `api ${Math.round(memory.api)} MB, worker ${Math.round(memory.worker)} MB`;
}

/** From the first createTask until the last of them is final in the database. */
async function tasksPerSecond({ clients, service }: Running, count: number): Promise<number> {
  const wanted = (await countFinished(service)) + count;
  const startedAt = performance.now();
  await createAll(clients, count);
  await waitFor('the tasks', async () => ((await countFinished(service)) >= wanted ? true : undefined), 300_000);
  return (1000 * count) / (performance.now() - startedAt);
}

// The accounts know how many of their tasks have not ended, so that counting does not grow with the table.
async function countFinished({ db }: BenchService): Promise<number> {
  const text = `select (select count(*) from tasks) - (select sum(unfinished_tasks) from accounts) as finished`;
  const [row] = await db.run<{ finished: string }>({ name: 'bench-finished', text });
  return Number(row?.finished);
}

async function startLagMs({ clients: [client], watched, service }: Running): Promise<number> {
  if (client === undefined) throw new Error('no client');
  const wanted = (await countFinished(service)) + 1;
  const { taskId, answeredAt } = await client.create();
  await waitFor('the end of a task', async () => ((await countFinished(service)) >= wanted ? true : undefined));
  return (watched.asked.get(taskId) ?? Number.NaN) - answeredAt;
}

async function repeated(once: () => Promise<number>): Promise<number> {
  const values: number[] = [];
  for (let index = 0; index < singles; index += 1) values.push(await once());
  return median(values);
}

async function eventsOfOne(address: string, { service }: Running): Promise<number> {
  const text = `select id from tasks where state = 'success' order by completed_at limit 1`;
  const [row] = await service.db.run<{ id: string }>({ name: 'bench-one-finished', text });
  const { client, close } = connectTemporal({ connection: { address }, namespace: 'default' });
  const { historyLength } = await client.workflow.getHandle(row?.id ?? '').describe();
  await close();
  return historyLength;
}
