import { setTimeout as delay } from 'node:timers/promises';
import type { Bench, Rows } from '../bench.ts';
import { isRefused, openCaller, rawRequest } from '../caller.ts';
import { endSome, endsPerSecond, fillUp, type RemoteTasks, withRemoteTasks } from '../remote-tasks.ts';
import { type Row, showLoad, showMs, showRate } from '../row.ts';
import { median, percentile } from '../statistics.ts';
import { openTaskClient } from '../task-client.ts';

type Sizes = {
  readonly outstanding: number;
  readonly ending: number;
  /**
   * Longer than the time limit of a poll, so that the measured time includes a
   * poll that has timed out.
   */
  readonly hangingMs: number;
  readonly pollers: number;
  readonly polledTasks: number;
  readonly pollingMs: number;
  /**
   * The time before the measurement, in which a thousand connections are opened
   * and every task is read for the first time.
   */
  readonly settlingMs: number;
};

const full: Sizes = {
  outstanding: 500,
  ending: 60,
  hangingMs: 3_000,
  pollers: 1_000,
  polledTasks: 200,
  pollingMs: 10_000,
  settlingMs: 3_000,
};
const quick: Sizes = {
  outstanding: 20,
  ending: 10,
  hangingMs: 0,
  pollers: 20,
  polledTasks: 10,
  pollingMs: 2_000,
  settlingMs: 0,
};
const newTasksPerSecond = 5;

/**
 * Measures what clients notice of an upstream that does not respond to every
 * poll, and of a thousand other clients.
 */
export async function* liveRows(bench: Bench): Rows {
  const sizes = bench.quick ? quick : full;
  yield* withRemoteTasks(bench, async function* (remote) {
    const running = await fillUp(remote, sizes.outstanding);
    yield await hangingRow(bench, remote, running, sizes);
    yield await pollersRow(bench, remote, sizes);
  });
}

async function hangingRow(
  { engine }: Bench,
  remote: RemoteTasks,
  running: number,
  { ending, hangingMs }: Sizes,
): Promise<Row> {
  const { upstream } = remote;
  upstream.hang(true);
  await delay(hangingMs);
  const { p50, max, polls } = await endSome(remote, ending);
  upstream.hang(false);
  const perSecond = polls.reduce((sum, each) => sum + each, 0) / polls.length;
  return {
    what: `upstream that always leaves one poll hanging: done → visible in recordInfo, ${running} jobs outstanding, ${endsPerSecond} end a second, ${engine.name}`,
    floor: '–',
    measured: `p50 ${showMs(p50)}, max ${showMs(max)}; ${perSecond.toFixed(1)} polls/s, at most ${Math.max(...polls)} in a second`,
    ratio: '–',
    target: 'p50 ≤ 1 s, max ≤ 2 s, ≤ 15 polls/s',
    isReached: p50 <= 1_000 && max <= 2_000 && perSecond <= 15,
  };
}

async function pollersRow(
  { engine }: Bench,
  remote: RemoteTasks,
  { pollers, polledTasks, pollingMs, settlingMs }: Sizes,
): Promise<Row> {
  const { account, baseUrl, running } = remote;
  const reads = [...running.values()]
    .slice(0, polledTasks)
    .map((id) => rawRequest('GET', `/api/v1/jobs/recordInfo?taskId=${id}`, { key: account.key }));
  const countsFrom = performance.now() + settlingMs;
  const polling = { countsFrom, endsAt: countsFrom + pollingMs };
  const polled = Array.from({ length: pollers }, (_, index) => poll(baseUrl, reads[index % reads.length], polling));
  const creating = createSteadily(remote, polling.endsAt);
  await delay(settlingMs);
  const before = await countEnded(remote);
  const [seen] = await Promise.all([Promise.all(polled), creating]);
  const ended = ((await countEnded(remote)) - before) / (pollingMs / 1000);
  const [all, refused] = [seen.flatMap(({ times }) => times), seen.reduce((sum, one) => sum + one.refused, 0)];
  const p99Ms = percentile(all, 99);
  const load = { perSecond: all.length / (pollingMs / 1000), p50Ms: median(all), p99Ms, refused };
  return {
    what: `recordInfo of ${reads.length} live tasks, ${pollers.toLocaleString('en')} pollers once a second, ${newTasksPerSecond} new tasks/s, ${engine.name}`,
    floor: '–',
    measured: `${showLoad(load)}; ${showRate(ended)} of the new tasks ended`,
    ratio: '–',
    target: 'p99 < 100 ms',
    isReached: p99Ms < 100,
  };
}

type Polled = { readonly times: readonly number[]; readonly refused: number };

async function poll(
  baseUrl: string,
  request: Buffer | undefined,
  { countsFrom, endsAt }: { readonly countsFrom: number; readonly endsAt: number },
): Promise<Polled> {
  const times: number[] = [];
  let refused = 0;
  if (request === undefined) return { times, refused };
  const caller = openCaller(baseUrl);
  await delay(Math.random() * 1_000);
  while (performance.now() < endsAt) {
    const askedAt = performance.now();
    const answer = await caller.ask(request);
    const tookMs = performance.now() - askedAt;
    if (await isRefused(answer)) refused += 1;
    else if (answer.status !== 200) throw new Error(`a poller was answered ${answer.status}`);
    else if (askedAt >= countsFrom) times.push(tookMs);
    await delay(Math.max(0, 1_000 - (performance.now() - askedAt)));
  }
  caller.close();
  return { times, refused };
}

/** Creates tasks at a fixed rate, even if the service is slower. */
async function createSteadily({ baseUrl, account }: RemoteTasks, endsAt: number): Promise<void> {
  const client = openTaskClient(baseUrl, account);
  for (let dueAt = performance.now(); dueAt < endsAt; dueAt += 1_000 / newTasksPerSecond) {
    await delay(Math.max(0, dueAt - performance.now()));
    await client.create();
  }
  client.close();
}

async function countEnded({ service }: RemoteTasks): Promise<number> {
  const text = `select count(*)::int as ended from tasks where completed_at is not null`;
  const [row] = await service.db.run<{ ended: number }>({ name: 'bench-ended', text });
  return row?.ended ?? 0;
}
