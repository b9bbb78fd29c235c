import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { reserveFreePort } from '../src/run/embedded/local-ports.ts';
import { waitUpTo } from './batch.ts';
import type { Bench, Rows } from './bench.ts';
import type { Child } from './child.ts';
import { inParallel } from './load.ts';
import { quiet } from './quiet.ts';
import { type BenchAccount, benchAccounts, type BenchService, benchService } from './service.ts';
import { median } from './statistics.ts';
import { openTaskClient, taskBody } from './task-client.ts';
import { startUpstream, type Upstream } from './upstream.ts';

export const endsPerSecond = 4;
/** The number of tasks that are created concurrently. */
const atOnce = 8;
/**
 * Each read uses the cores that are measured: frequent reads of many late tasks
 * would make them later.
 */
const lookEveryMs = 100;
const beginLimitMs = 300_000;
/** On a saturated machine, posters wait: ffmpeg runs at the lowest priority. */
const seenLimitMs = 60_000;

/** Tasks whose jobs run at an upstream in another process, and the one worker that follows them. */
export type RemoteTasks = {
  readonly service: BenchService;
  readonly account: BenchAccount;
  readonly baseUrl: string;
  readonly worker: Child;
  readonly upstream: Upstream;
  /** The ids of the tasks whose jobs run, by their prompts. */
  readonly running: Map<string, string>;
};

export async function* withRemoteTasks(bench: Bench, work: (remote: RemoteTasks) => Rows): Rows {
  const [upstream, port] = [await startUpstream(), await reserveFreePort()];
  const path = join(bench.folder, 'remote-catalogue.json');
  await writeFile(path, JSON.stringify(catalogueAt(upstream)));
  const service = await benchService(bench, bench.engine.address, {
    VIDEOGEN_MODELS: path,
    BENCH_UPSTREAM_KEY: 'bench-upstream-key',
    REMOTE_CONCURRENCY: '2500',
    PUBLIC_URL: `http://127.0.0.1:${port}`,
  });
  try {
    const [account] = await benchAccounts(service.db, 1);
    if (account === undefined) throw new Error('no account');
    const { baseUrl } = await service.startApi({ PORT: String(port) });
    const worker = service.startWorker();
    yield* work({ service, account, baseUrl, worker, upstream, running: new Map() });
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

/**
 * Creates tasks until `count` jobs run, waits until the worker does nothing but
 * follow them, and returns the number of jobs that have begun.
 */
export async function fillUp(remote: RemoteTasks, count: number): Promise<number> {
  const { account, baseUrl, upstream, running, worker, service } = remote;
  const clients = Array.from({ length: atOnce }, () => openTaskClient(baseUrl, account));
  const missing = count - running.size;
  await inParallel(atOnce, atOnce, async (index) => {
    for (let one = index; one < missing; one += atOnce) {
      const prompt = `hold ${randomUUID()}`;
      running.set(prompt, (await clients[index]?.create(prompt))?.taskId ?? '');
    }
  });
  for (const client of clients) client.close();
  const haveBegun = () => [...running.keys()].filter((prompt) => upstream.began.has(prompt)).length;
  await waitUpTo(beginLimitMs, () => haveBegun() >= count);
  await service.db.run({ name: 'bench-settle', text: 'analyze' });
  await delay(count < 100 ? 0 : 5_000);
  await quiet([worker.pid]);
  return haveBegun();
}

/**
 * The delay from the end of a job until clients can read it, the number of ends
 * that were not visible within a minute, and the polls that the upstream
 * received per second.
 */
export type Ends = {
  readonly p50: number;
  readonly max: number;
  readonly unseen: number;
  readonly polls: readonly number[];
};

/**
 * Ends some jobs one after the other, and measures when clients can read their
 * ends.
 */
export async function endSome(remote: RemoteTasks, count: number): Promise<Ends> {
  const { upstream, running } = remote;
  const chosen = [...running].filter(([prompt]) => upstream.began.has(prompt)).slice(0, count);
  const from = Date.now();
  const lags = await Promise.all(
    chosen.map(async ([prompt, taskId], index) => {
      await delay((1000 * index) / endsPerSecond);
      upstream.release(prompt);
      running.delete(prompt);
      const seenAt = await seen(remote, taskId);
      return seenAt === undefined ? [] : [seenAt - (upstream.done.get(prompt) ?? Number.NaN)];
    }),
  );
  const known = lags.flat();
  const polls = await upstream.pollsSince(from);
  return { p50: median(known), max: Math.max(...known), unseen: chosen.length - known.length, polls };
}

/**
 * Combines several rounds: the medians, the longest delay, and the sum of ends
 * that were not visible.
 */
export function medianEnds(rounds: readonly Ends[]): Ends {
  return {
    p50: median(rounds.map(({ p50 }) => p50)),
    max: Math.max(...rounds.map(({ max }) => max)),
    unseen: rounds.reduce((sum, { unseen }) => sum + unseen, 0),
    polls: rounds.flatMap(({ polls }) => polls),
  };
}

async function seen({ account, baseUrl }: RemoteTasks, taskId: string): Promise<number | undefined> {
  const client = openTaskClient(baseUrl, account);
  try {
    for (const giveUpAt = performance.now() + seenLimitMs; performance.now() < giveUpAt; await delay(lookEveryMs)) {
      const state = await client.stateOf(taskId);
      if (state === 'fail') throw new Error(`task ${taskId} has failed`);
      if (state === 'success') return performance.timeOrigin + performance.now();
    }
    return undefined;
  } finally {
    client.close();
  }
}
