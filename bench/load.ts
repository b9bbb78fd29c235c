import { openCaller } from './caller.ts';
import { median, percentile } from './statistics.ts';

/** What a load met with: answers a second, and how long they took. */
export type Load = { readonly perSecond: number; readonly p50Ms: number; readonly p99Ms: number };

export type HttpLoad = {
  readonly baseUrl: string;
  readonly callers: number;
  readonly durationMs: number;
  /** The request of a caller's turn. */
  readonly request: (caller: number, turn: number) => Buffer;
};

/** So many callers, each asking again as soon as it has its answer. Rejects at the first answer that is not 200. */
export async function httpLoad({ baseUrl, callers, durationMs, request }: HttpLoad): Promise<Load> {
  const open = Array.from({ length: callers }, () => openCaller(baseUrl));
  try {
    return await closedLoop({ callers, durationMs }, async (caller, turn) => {
      const answer = await open[caller]?.ask(request(caller, turn));
      if (answer?.status !== 200)
        throw new Error(`${baseUrl} answered ${answer?.status}: ${answer?.body.slice(0, 300)}`);
    });
  } finally {
    for (const caller of open) caller.close();
  }
}

/** The same for any work, such as a statement sent straight to the database. */
export async function closedLoop(
  { callers, durationMs }: { readonly callers: number; readonly durationMs: number },
  work: (caller: number, turn: number) => Promise<unknown>,
): Promise<Load> {
  const times: number[] = [];
  const startedAt = performance.now();
  const endsAt = startedAt + durationMs;
  const run = async (caller: number) => {
    for (let turn = 0; performance.now() < endsAt; turn += 1) {
      const askedAt = performance.now();
      await work(caller, turn);
      times.push(performance.now() - askedAt);
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, caller) => run(caller)));
  const seconds = (performance.now() - startedAt) / 1000;
  return { perSecond: times.length / seconds, p50Ms: median(times), p99Ms: percentile(times, 99) };
}

/** Medians of several rounds, figure by figure. */
export function medianLoad(loads: readonly Load[]): Load {
  return {
    perSecond: median(loads.map((load) => load.perSecond)),
    p50Ms: median(loads.map((load) => load.p50Ms)),
    p99Ms: median(loads.map((load) => load.p99Ms)),
  };
}

/** Does the work for every number below `count`, so many at a time. */
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
