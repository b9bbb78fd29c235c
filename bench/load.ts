import { isRefused, openCaller } from './caller.ts';
import { median, percentile } from './statistics.ts';

/**
 * The result of a load: responses per second, their latencies, and the number
 * of requests that were refused with 429 or 503.
 */
export type Load = {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly refused: number;
};

export type HttpLoad = {
  /** The callers are spread over these addresses. */
  readonly baseUrls: readonly string[];
  readonly callers: number;
  readonly durationMs: number;
  /** Returns the next request of a caller. */
  readonly request: (caller: number, turn: number) => Buffer;
};

/**
 * Runs callers that each send their next request as soon as they have a
 * response. Rejects at the first response that is neither 200 nor a refusal.
 */
export async function httpLoad({ baseUrls, callers, durationMs, request }: HttpLoad): Promise<Load> {
  const open = Array.from({ length: callers }, (_, caller) => openCaller(baseUrls[caller % baseUrls.length] ?? ''));
  try {
    return await closedLoop({ callers, durationMs }, async (caller, turn) => {
      const answer = await open[caller]?.ask(request(caller, turn));
      if (answer !== undefined && (await isRefused(answer))) return 'refused';
      if (answer?.status !== 200)
        throw new Error(`the service answered ${answer?.status}: ${answer?.body.slice(0, 300)}`);
      return 'taken';
    });
  } finally {
    for (const caller of open) caller.close();
  }
}

/**
 * Runs any work in the same way, such as a statement that is sent directly to
 * the database. Work that returns `refused` is not timed. Every caller works at
 * least once, so that a slow machine has a figure, too.
 */
export async function closedLoop(
  { callers, durationMs }: { readonly callers: number; readonly durationMs: number },
  work: (caller: number, turn: number) => Promise<unknown>,
): Promise<Load> {
  const times: number[] = [];
  let refused = 0;
  const startedAt = performance.now();
  const endsAt = startedAt + durationMs;
  const run = async (caller: number) => {
    for (let turn = 0; turn === 0 || performance.now() < endsAt; turn += 1) {
      const askedAt = performance.now();
      if ((await work(caller, turn)) === 'refused') refused += 1;
      else times.push(performance.now() - askedAt);
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, caller) => run(caller)));
  const seconds = (performance.now() - startedAt) / 1000;
  return { perSecond: times.length / seconds, p50Ms: median(times), p99Ms: percentile(times, 99), refused };
}

/** Returns the medians of several rounds, figure by figure. */
export function medianLoad(loads: readonly Load[]): Load {
  return {
    perSecond: median(loads.map((load) => load.perSecond)),
    p50Ms: median(loads.map((load) => load.p50Ms)),
    p99Ms: median(loads.map((load) => load.p99Ms)),
    refused: loads.reduce((sum, load) => sum + load.refused, 0),
  };
}

/** Runs the work for every number below `count`, `atOnce` at a time. */
export async function inParallel(
  count: number,
  atOnce: number,
  work: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const run = async () => {
    while (next < count) {
      const index = next;
      next += 1;
      await work(index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, run));
}
