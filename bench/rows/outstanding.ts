import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { waitFor } from '../../test/support/wait-for.ts';
import type { Bench } from '../bench.ts';
import { type Child, residentMb } from '../child.ts';
import { inParallel } from '../load.ts';
import { quiet } from '../quiet.ts';
import { type Row, showMs } from '../row.ts';
import { type BenchAccount, benchAccounts, benchService, type BenchService } from '../service.ts';
import { median } from '../statistics.ts';
import { openTaskClient } from '../task-client.ts';
import { startUpstream, type Upstream } from '../upstream.ts';
import { taskBody } from './create-task.ts';
import type { WholeTaskEngine } from './whole-task.ts';

const endsPerSecond = 4;
const ending = 60;
const [few, many] = [500, 2_000];
/** Tasks are created so many at a time. */
const atOnce = 8;
const lookEveryMs = 20;
/** On a machine that others saturate, too, posters wait: ffmpeg gives way to everything else. */
const seenLimitMs = 300_000;
/** Longer than a question may hang, so that the measured time has seen one that was given up. */
const hangingMs = 3_000;
/** So long the many jobs only run, and what Temporal writes meanwhile is counted. */
const restMs = 60_000;

type Remote = {
  readonly service: BenchService;
  readonly account: BenchAccount;
  readonly baseUrl: string;
  readonly worker: Child;
  readonly upstream: Upstream;
  /** Tasks whose jobs run, by their prompts. */
  readonly running: Map<string, string>;
};

/** How soon clients see the ends of jobs at an upstream that does not answer all questions. */
export function hangingRow(bench: Bench, engine: WholeTaskEngine): Promise<Row> {
  return withRemote(bench, engine, (remote) => measureHanging(remote, engine, bench.quick ? few / 10 : few));
}

/** The same for more jobs than a worker follows by default, and what waiting for them costs. */
export function manyRow(bench: Bench, engine: WholeTaskEngine): Promise<Row> {
  return withRemote(bench, engine, (remote) => measureMany(bench, remote, engine, bench.quick ? many / 10 : many));
}

/** An upstream that is another process, and one worker that follows its jobs. */
async function withRemote(bench: Bench, engine: WholeTaskEngine, work: (remote: Remote) => Promise<Row>): Promise<Row> {
  const upstream = await startUpstream();
  const path = join(bench.folder, 'remote-catalogue.json');
  await writeFile(path, JSON.stringify(catalogueAt(upstream)));
  const environment = { VIDEOGEN_MODELS: path, BENCH_UPSTREAM_KEY: 'bench-upstream-key', REMOTE_CONCURRENCY: '2500' };
  const service = await benchService(bench, engine.address, environment);
  try {
    const [account] = await benchAccounts(service.db, 1);
    if (account === undefined) throw new Error('no account');
    const { baseUrl } = await service.startApi();
    const worker = service.startWorker();
    return await work({ service, account, baseUrl, worker, upstream, running: new Map() });
  } finally {
    await service.close();
    await upstream.stop();
  }
}

function catalogueAt({ baseUrl }: Upstream): object {
  const fake = { kind: 'ark', baseUrl, key: { env: 'BENCH_UPSTREAM_KEY' }, limit: 10_000 };
  const { model } = taskBody;
  const sold = { model, title: 'At the fake', prices: [{ creditsPerSecond: 33 }], deadlineSeconds: 7_200 };
  return { providers: { fake }, models: [{ ...sold, tiers: [[{ provider: 'fake', model: 'upstream-model' }]] }] };
}

async function measureHanging(remote: Remote, { name }: WholeTaskEngine, count: number): Promise<Row> {
  const { upstream } = remote;
  await fillUp(remote, count);
  upstream.hang(true);
  await delay(hangingMs);
  const from = Date.now();
  const { p50, max } = await endSome(remote);
  const polls = await upstream.pollsSince(from);
  upstream.hang(false);
  const perSecond = polls.reduce((sum, each) => sum + each, 0) / polls.length;
  return {
    what: `upstream done → visible in recordInfo, ${count} outstanding at one upstream that always leaves one poll hanging, ${endsPerSecond} end a second, ${name}`,
    floor: '–',
    measured: `p50 ${showMs(p50)}, max ${showMs(max)}; ${perSecond.toFixed(1)} polls/s, at most ${Math.max(...polls)} in a second`,
    ratio: '–',
    target: 'p50 ≤ 1 s, max ≤ 2 s, ≤ 15 polls/s',
    isReached: p50 <= 1_000 && max <= 2_000 && perSecond <= 15,
  };
}

async function measureMany(bench: Bench, remote: Remote, { name }: WholeTaskEngine, count: number): Promise<Row> {
  const { upstream, worker } = remote;
  await fillUp(remote, count);
  const memory = watchMemory(worker.pid);
  const before = await temporalWrites(bench, remote);
  await delay(restMs);
  const after = await temporalWrites(bench, remote);
  const from = Date.now();
  const { p50, max } = await endSome(remote);
  const polls = await upstream.pollsSince(from);
  const residents = memory.stop();
  const [peak, perSecond] = [Math.max(...residents), polls.reduce((sum, each) => sum + each, 0) / polls.length];
  const perJob = (what: keyof Writes) => ((after[what] - before[what]) / count / (restMs / 60_000)).toFixed(1);
  const writes =
    bench.production === undefined
      ? ''
      : `; Temporal writes ${perJob('rows')} rows in ${perJob('commits')} transactions for each waiting job a minute`;
  return {
    what: `upstream done → visible in recordInfo, ${count.toLocaleString('en')} outstanding at one upstream, one worker, ${endsPerSecond} end a second, ${name}`,
    floor: '–',
    measured: `p50 ${showMs(p50)}, max ${showMs(max)}; worker ${Math.round(median(residents))} MB, at most ${Math.round(peak)} MB; ${perSecond.toFixed(1)} polls/s${writes}`,
    ratio: '–',
    target: 'p50 ≤ 2 s, worker ≤ 450 MB, ≤ 15 polls/s',
    isReached: p50 <= 2_000 && peak <= 450 && perSecond <= 15,
  };
}

/** Creates tasks until so many jobs run, and waits until nothing is done but to follow them. */
async function fillUp({ account, baseUrl, upstream, running, worker }: Remote, count: number): Promise<void> {
  const clients = Array.from({ length: atOnce }, () => openTaskClient(baseUrl, account));
  await inParallel(atOnce, atOnce, async (index) => {
    for (let one = index; one < count; one += atOnce) {
      const prompt = `outstanding ${one}`;
      running.set(prompt, (await clients[index]?.create(prompt))?.taskId ?? '');
    }
  });
  for (const client of clients) client.close();
  await waitFor('the jobs to run', () => (upstream.began.size >= count ? true : undefined), 600_000);
  await delay(5_000);
  await quiet([worker.pid]).catch(() => undefined);
}

/** Lets some jobs end one after the other, and answers how much later clients see it. */
async function endSome(remote: Remote): Promise<{ readonly p50: number; readonly max: number }> {
  const { upstream, running } = remote;
  const chosen = [...running].slice(0, ending);
  const lags = await Promise.all(
    chosen.map(async ([prompt, taskId], index) => {
      await delay((1000 * index) / endsPerSecond);
      upstream.release(prompt);
      const seenAt = await seen(remote, taskId);
      running.delete(prompt);
      return seenAt - (upstream.done.get(prompt) ?? Number.NaN);
    }),
  );
  return { p50: median(lags), max: Math.max(...lags) };
}

async function seen({ account, baseUrl }: Remote, taskId: string): Promise<number> {
  const client = openTaskClient(baseUrl, account);
  const look = async () => {
    const state = await client.stateOf(taskId);
    if (state === 'fail') throw new Error(`task ${taskId} has failed`);
    if (state === 'success') return performance.timeOrigin + performance.now();
    await delay(lookEveryMs);
    return undefined;
  };
  return await waitFor('the task to be seen', look, seenLimitMs).finally(() => client.close());
}

/** What a process holds, in MB, once a second until `stop`. */
function watchMemory(pid: number): { readonly stop: () => readonly number[] } {
  const seenMb: number[] = [];
  // A worker that has died is found by those who wait for its work.
  const look = () =>
    void residentMb(pid).then(
      (mb) => seenMb.push(mb),
      () => undefined,
    );
  const timer = setInterval(look, 1_000).unref();
  const stop = () => {
    clearInterval(timer);
    return seenMb;
  };
  return { stop };
}

type Writes = { readonly rows: number; readonly commits: number };

/** Of Temporal's production server since it was started. */
async function temporalWrites({ production }: Bench, { service }: Remote): Promise<Writes> {
  if (production === undefined) return { rows: 0, commits: 0 };
  const text = `
select (tup_inserted + tup_updated + tup_deleted)::int as rows, xact_commit::int as commits
from pg_stat_database where datname = 'temporal'`;
  const [row] = await service.db.run<Writes>({ name: 'bench-temporal-writes', text });
  return row ?? { rows: Number.NaN, commits: Number.NaN };
}
