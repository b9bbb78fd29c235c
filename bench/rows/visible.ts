import { setTimeout as delay } from 'node:timers/promises';
import { waitFor } from '../../test/support/wait-for.ts';
import { startBareTasks } from '../bare-tasks.ts';
import type { Bench } from '../bench.ts';
import { openCaller, rawRequest } from '../caller.ts';
import { type Row, showMs } from '../row.ts';
import { type BenchAccount, benchAccounts, benchService, type BenchService } from '../service.ts';
import { median, percentile } from '../statistics.ts';
import { openTaskClient } from '../task-client.ts';
import { watchTasks, type WatchedTasks } from '../watched-tasks.ts';

const pollEveryMs = 20;
/** So many end a second while the others stay outstanding. */
const endsPerSecond = 4;
const manyOutstanding = 500;
const ending = 60;
const pollers = 1_000;
const polledTasks = 200;
/** The target's own pace, and one that the engine can keep up with beside the pollers on a machine such as this. */
const paces = [5, 20] as const;
const pollingMs = 10_000;
/** Before anything is counted: a thousand connections are opened, and every task is looked at for the first time. */
const settlingMs = 3_000;
/** Bare workflows, to know what the engine alone could do on this machine. */
const bareTasks = 100;

/** How soon a client sees that its task has ended, with few and many others running; and what 1,000 pollers feel. */
export async function liveRows(bench: Bench): Promise<readonly Row[]> {
  const service = await benchService(bench, bench.temporal.address, { GENERATION_CONCURRENCY: '1000' });
  const [account] = await benchAccounts(service.db, 1);
  if (account === undefined) throw new Error('no account');
  const { baseUrl } = await service.startApi();
  const watched = watchTasks(service.startWorker('./watched-worker.js'));
  await watched.ready();
  const live: Live = { service, account, baseUrl, watched };
  try {
    const rows = [await visibleRow(live, 10, 10), await visibleRow(live, manyOutstanding, ending)];
    const bareRate = await bareTasksPerSecond(bench);
    for (const pace of paces) rows.push(await pollersRow(live, pace, bareRate));
    return rows;
  } finally {
    await service.close();
  }
}

type Live = {
  readonly service: BenchService;
  readonly account: BenchAccount;
  readonly baseUrl: string;
  readonly watched: WatchedTasks;
};

async function visibleRow(live: Live, outstanding: number, ends: number): Promise<Row> {
  const taskIds = await heldTasks(live, outstanding);
  const lags = await Promise.all(
    taskIds.slice(0, ends).map(async (taskId, index) => {
      await delay((1000 * index) / endsPerSecond);
      live.watched.release(taskId);
      return visibleAfterMs(live, taskId);
    }),
  );
  const [p50, max] = [median(lags), Math.max(...lags)];
  return {
    what: `provider done → visible in recordInfo, ${outstanding} outstanding, ${endsPerSecond} end a second`,
    floor: '–',
    measured: `p50 ${showMs(p50)}, max ${showMs(max)}`,
    ratio: '–',
    target: 'p50 ≤ 1 s, max ≤ 2 s',
    isReached: p50 <= 1_000 && max <= 2_000,
  };
}

/** Tasks whose jobs run at the provider until they are let go. */
async function heldTasks({ service, account, baseUrl, watched }: Live, count: number): Promise<readonly string[]> {
  const client = openTaskClient(baseUrl, account);
  const taskIds: string[] = [];
  for (let index = 0; index < count; index += 1) taskIds.push((await client.create('hold [[instant]]')).taskId);
  client.close();
  await waitFor('all jobs to run', () => (taskIds.every((id) => watched.began.has(id)) ? true : undefined), 120_000);
  await service.db.run({ name: 'bench-settle', text: 'analyze tasks' });
  return taskIds;
}

async function visibleAfterMs({ account, baseUrl, watched }: Live, taskId: string): Promise<number> {
  const client = openTaskClient(baseUrl, account);
  const seenAt = await waitFor(
    'the task to be seen',
    async () => {
      const state = await client.stateOf(taskId);
      if (state !== 'success') await delay(pollEveryMs);
      return state === 'success' ? performance.timeOrigin + performance.now() : undefined;
    },
    120_000,
  );
  client.close();
  return seenAt - (watched.done.get(taskId) ?? Number.NaN);
}

/** With nobody polling and nothing else to do. */
async function bareTasksPerSecond(bench: Bench): Promise<number> {
  const bare = await startBareTasks(bench.temporal.address);
  await bare.perSecond(32);
  const rate = await bare.perSecond(bareTasks);
  await bare.close();
  return rate;
}

async function pollersRow(live: Live, newTasksPerSecond: number, bareRate: number): Promise<Row> {
  const reads = await livingReads(live);
  const countsFrom = performance.now() + settlingMs;
  const endsAt = countsFrom + pollingMs;
  const polling = { countsFrom, endsAt };
  const polled = Array.from({ length: pollers }, (_, index) =>
    poll(live.baseUrl, reads[index % reads.length], polling),
  );
  const creating = createSteadily(live, newTasksPerSecond, endsAt);
  await delay(settlingMs);
  const before = await countEnded(live.service);
  const [times] = await Promise.all([Promise.all(polled), creating]);
  const ended = ((await countEnded(live.service)) - before) / (pollingMs / 1000);
  const all = times.flat();
  const [p50, p99] = [median(all), percentile(all, 99)];
  return {
    what: `recordInfo of ${polledTasks} live tasks, ${pollers} pollers once a second, ${newTasksPerSecond} new tasks/s`,
    floor: `bare workflows alone, with nobody polling: ${bareRate.toFixed(1)}/s`,
    measured: `${Math.round(all.length / (pollingMs / 1000))}/s, p50 ${showMs(p50)}, p99 ${showMs(p99)}; ${ended.toFixed(1)} tasks/s ended`,
    ratio: '–',
    target: 'p99 < 100 ms',
    isReached: p99 < 100,
  };
}

async function livingReads({ service, account }: Live): Promise<readonly Buffer[]> {
  const text = `select id from tasks where state = 'generating' limit ${polledTasks}`;
  const rows = await service.db.run<{ id: string }>({ name: 'bench-living', text });
  if (rows.length < polledTasks) throw new Error(`only ${rows.length} tasks are alive`);
  return rows.map(({ id }) => rawRequest('GET', `/api/v1/jobs/recordInfo?taskId=${id}`, { key: account.key }));
}

async function poll(
  baseUrl: string,
  request: Buffer | undefined,
  { countsFrom, endsAt }: { readonly countsFrom: number; readonly endsAt: number },
): Promise<readonly number[]> {
  if (request === undefined) return [];
  const caller = openCaller(baseUrl);
  const times: number[] = [];
  await delay(Math.random() * 1_000);
  while (performance.now() < endsAt) {
    const askedAt = performance.now();
    const { status } = await caller.ask(request);
    if (status !== 200) throw new Error(`a poller was answered ${status}`);
    if (askedAt >= countsFrom) times.push(performance.now() - askedAt);
    await delay(Math.max(0, 1_000 - (performance.now() - askedAt)));
  }
  caller.close();
  return times;
}

/** At a fixed pace, whether or not the service keeps up with it. */
async function createSteadily({ baseUrl, account }: Live, newTasksPerSecond: number, endsAt: number): Promise<void> {
  const client = openTaskClient(baseUrl, account);
  for (let dueAt = performance.now(); dueAt < endsAt; dueAt += 1_000 / newTasksPerSecond) {
    await delay(Math.max(0, dueAt - performance.now()));
    await client.create();
  }
  client.close();
}

async function countEnded({ db }: BenchService): Promise<number> {
  const text = `select count(*) as ended from tasks where completed_at is not null`;
  const [row] = await db.run<{ ended: number }>({ name: 'bench-ended', text });
  return row?.ended ?? 0;
}
