import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { waitFor } from '../../test/support/wait-for.ts';
import type { Bench } from '../bench.ts';
import { openCaller, rawRequest, type RawAnswer } from '../caller.ts';
import type { Child } from '../child.ts';
import { httpLoad, inParallel } from '../load.ts';
import type { Receiver } from '../receiver.ts';
import { median } from '../statistics.ts';
import { watchTasks } from '../watched-tasks.ts';
import { startRedis } from './redis.ts';

/** A task API and its worker, which tells over its channel when work is done. */
export type Peer = {
  readonly baseUrl: string;
  readonly worker: Child;
  readonly createPath: string;
  readonly readPath: (taskId: string) => string;
  readonly keyOf: (caller: number) => string | undefined;
  readonly body: unknown;
};

/** Tasks a second that were accepted, that were ended and called back, and that were read; and done → visible. */
export type Measured = {
  readonly accepted: number;
  readonly whole: number;
  readonly reads: number;
  readonly visibleMs: number;
};

const callers = 32;
const singles = 15;
const pollEveryMs = 5;
const batchLimitMs = 300_000;

const created = z.object({ data: z.object({ taskId: z.string() }) });
const record = z.object({ data: z.object({ state: z.string() }) });

/** Whole tasks first, then singles, readings of them, and creates at last, for those leave a backlog behind. */
export async function measurePeer(bench: Bench, peer: Peer, receiver: Receiver): Promise<Measured> {
  await wholePerSecond(peer, receiver, callers);
  const whole = await wholePerSecond(peer, receiver, bench.batch);
  const { visibleMs, taskIds } = await visibleAfter(peer);
  const reads = taskIds.map((id) => rawRequest('GET', peer.readPath(id), keyed(peer, 0)));
  const creates = Array.from({ length: callers }, (_, caller) => createRequest(peer, caller));
  const load = (request: (caller: number, turn: number) => Buffer | undefined) =>
    httpLoad({
      baseUrl: peer.baseUrl,
      callers,
      durationMs: bench.loadMs,
      request: (caller, turn) => request(caller, turn) ?? Buffer.alloc(0),
    });
  const read = await load((caller, turn) => reads[(caller + turn) % reads.length]);
  const accepted = await load((caller) => creates[caller]);
  return { accepted: accepted.perSecond, whole, reads: read.perSecond, visibleMs };
}

function keyed(peer: Peer, caller: number): { key?: string } {
  const key = peer.keyOf(caller);
  return key === undefined ? {} : { key };
}

function createRequest(peer: Peer, caller: number): Buffer {
  return rawRequest('POST', peer.createPath, { ...keyed(peer, caller), body: peer.body });
}

/** From the first create until the client's receiver has heard of the last. */
async function wholePerSecond(peer: Peer, receiver: Receiver, count: number): Promise<number> {
  const wanted = (await receiver.received()) + count;
  const open = Array.from({ length: callers }, () => openCaller(peer.baseUrl));
  const startedAt = performance.now();
  await Promise.all(
    open.map((caller, index) =>
      inParallel(Math.floor(count / callers) + (index < count % callers ? 1 : 0), 1, async () => {
        taskIdOf(await caller.ask(createRequest(peer, index)));
      }),
    ),
  );
  for (const caller of open) caller.close();
  const arrived = async () => ((await receiver.received()) >= wanted ? true : undefined);
  await waitFor('the callbacks', arrived, batchLimitMs);
  return (1000 * count) / (performance.now() - startedAt);
}

async function visibleAfter(peer: Peer): Promise<{ visibleMs: number; taskIds: readonly string[] }> {
  const { done } = watchTasks(peer.worker);
  const caller = openCaller(peer.baseUrl);
  const taskIds: string[] = [];
  const lags: number[] = [];
  for (let index = 0; index < singles; index += 1) {
    const taskId = taskIdOf(await caller.ask(createRequest(peer, 0)));
    const read = rawRequest('GET', peer.readPath(taskId), keyed(peer, 0));
    while (stateOf(await caller.ask(read)) !== 'success') await delay(pollEveryMs);
    const seenAt = performance.timeOrigin + performance.now();
    lags.push(seenAt - (await waitFor('the worker to tell', () => done.get(taskId))));
    taskIds.push(taskId);
  }
  caller.close();
  return { visibleMs: median(lags), taskIds };
}

function taskIdOf(answer: RawAnswer): string {
  return created.parse(parsed(answer)).data.taskId;
}

function stateOf(answer: RawAnswer): string {
  return record.parse(parsed(answer)).data.state;
}

function parsed({ status, body }: RawAnswer): unknown {
  if (status !== 200) throw new Error(`a peer answered ${status}: ${body.slice(0, 300)}`);
  return JSON.parse(body);
}

const jobsAtStake = 500;

type Killing = {
  readonly redisPath: string;
  readonly folder: string;
  readonly options: readonly string[];
  readonly receiver: Receiver;
  readonly start: (redisPort: number) => Promise<Child & { readonly baseUrl: string }>;
};

/** Has jobs accepted, kills Redis the hard way, starts it again and counts the accepted jobs that it does not know any more. */
export async function lostJobs({
  redisPath,
  folder,
  options,
  receiver,
  start,
}: Killing): Promise<{ readonly lost: number; readonly accepted: number }> {
  const before = await startRedis(redisPath, folder, options);
  const api = await start(before.port);
  const caller = openCaller(api.baseUrl);
  const request = rawRequest('POST', '/', { body: { callBackUrl: receiver.url } });
  const taskIds: string[] = [];
  for (let index = 0; index < jobsAtStake; index += 1) taskIds.push(taskIdOf(await caller.ask(request)));
  caller.close();
  await before.kill('SIGKILL');
  await api.stop();
  const after = await startRedis(redisPath, folder, options);
  const again = await start(after.port);
  const known = await knownJobs(again.baseUrl, taskIds);
  await again.stop();
  await after.kill('SIGKILL');
  return { lost: taskIds.length - known, accepted: taskIds.length };
}

async function knownJobs(baseUrl: string, taskIds: readonly string[]): Promise<number> {
  const caller = openCaller(baseUrl);
  let known = 0;
  for (const id of taskIds) {
    if (stateOf(await caller.ask(rawRequest('GET', `/?id=${id}`))) !== 'unknown') known += 1;
  }
  caller.close();
  return known;
}
