import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { waitFor } from '../../test/support/wait-for.ts';
import { atOnce, runBatch, sizedBatches } from '../batch.ts';
import type { Bench } from '../bench.ts';
import { askUntilTaken, type Caller, openCaller, rawRequest, type RawAnswer } from '../caller.ts';
import type { Child } from '../child.ts';
import { httpLoad, inParallel } from '../load.ts';
import type { Receiver } from '../receiver.ts';
import { interleaved } from '../rounds.ts';
import { median } from '../statistics.ts';
import { watchTasks } from '../watched-tasks.ts';

/** A task API and its worker, which sends a message when a job is done. */
export type Peer = {
  readonly baseUrl: string;
  readonly worker: Child;
  readonly createPath: string;
  readonly readPath: (taskId: string) => string;
  readonly keyOf: (caller: number) => string | undefined;
  readonly body: unknown;
};

/**
 * Tasks per second that were accepted, that ended with a callback, and that
 * were read; and the milliseconds from the end of a job until its task reads as
 * a success.
 */
export type Measured = {
  readonly accepted: number;
  readonly whole: number;
  readonly reads: number;
  readonly visibleMs: number;
};

const [singles, quickSingles] = [15, 3];
const pollEveryMs = 5;

const created = z.object({ data: z.object({ taskId: z.string() }) });
const record = z.object({ data: z.object({ state: z.string() }) });

/**
 * Measures whole tasks, then single ones and reads of them. Creates come last,
 * because they leave a backlog.
 */
export async function measurePeer(bench: Bench, peer: Peer, receiver: Receiver): Promise<Measured> {
  const whole = await sizedBatches(bench, (count) =>
    runBatch(count, { begin: () => createAll(peer, count), ended: receiver.received, spenders: {} }),
  );
  const { visibleMs, taskIds } = await visibleAfter(peer, bench.quick ? quickSingles : singles);
  const reads = taskIds.map((id) => rawRequest('GET', peer.readPath(id), keyed(peer, 0)));
  const creates = Array.from({ length: atOnce }, (_, caller) => createRequest(peer, caller));
  const load = (request: (caller: number, turn: number) => Buffer | undefined) =>
    httpLoad({
      baseUrls: [peer.baseUrl],
      callers: atOnce,
      durationMs: bench.loadMs,
      request: (caller, turn) => request(caller, turn) ?? Buffer.alloc(0),
    });
  const rounds = await interleaved(bench, {
    whole,
    read: () => load((caller, turn) => reads[(caller + turn) % reads.length]),
  });
  const accepted = await load((caller) => creates[caller]);
  return {
    accepted: accepted.perSecond,
    whole: median(rounds.whole.map(({ perSecond }) => perSecond)),
    reads: median(rounds.read.map(({ perSecond }) => perSecond)),
    visibleMs,
  };
}

function keyed(peer: Peer, caller: number): { key?: string } {
  const key = peer.keyOf(caller);
  return key === undefined ? {} : { key };
}

function createRequest(peer: Peer, caller: number): Buffer {
  return rawRequest('POST', peer.createPath, { ...keyed(peer, caller), body: peer.body });
}

async function createAll(peer: Peer, count: number): Promise<void> {
  const open = Array.from({ length: atOnce }, () => openCaller(peer.baseUrl));
  await Promise.all(
    open.map((caller, index) =>
      inParallel(Math.floor(count / atOnce) + (index < count % atOnce ? 1 : 0), 1, () =>
        taskIdOf(caller, createRequest(peer, index)),
      ),
    ),
  );
  for (const caller of open) caller.close();
}

async function visibleAfter(peer: Peer, count: number): Promise<{ visibleMs: number; taskIds: readonly string[] }> {
  const { done } = watchTasks(peer.worker);
  const caller = openCaller(peer.baseUrl);
  const taskIds: string[] = [];
  const lags: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const taskId = await taskIdOf(caller, createRequest(peer, 0));
    const read = rawRequest('GET', peer.readPath(taskId), keyed(peer, 0));
    while ((await stateOf(caller, read)) !== 'success') await delay(pollEveryMs);
    const seenAt = performance.timeOrigin + performance.now();
    lags.push(seenAt - (await waitFor('the worker to tell', () => done.get(taskId))));
    taskIds.push(taskId);
  }
  caller.close();
  return { visibleMs: median(lags), taskIds };
}

async function taskIdOf(caller: Caller, request: Buffer): Promise<string> {
  return created.parse(parsed(await askUntilTaken(caller, request))).data.taskId;
}

async function stateOf(caller: Caller, request: Buffer): Promise<string> {
  return record.parse(parsed(await askUntilTaken(caller, request))).data.state;
}

function parsed({ status, body }: RawAnswer): unknown {
  if (status !== 200) throw new Error(`a peer answered ${status}: ${body.slice(0, 300)}`);
  return JSON.parse(body);
}
