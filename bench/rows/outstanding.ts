import { setTimeout as delay } from 'node:timers/promises';
import type { Bench, Rows } from '../bench.ts';
import { residentMb } from '../child.ts';
import {
  type Ends,
  endSome,
  endsPerSecond,
  fillUp,
  medianEnds,
  type RemoteTasks,
  withRemoteTasks,
} from '../remote-tasks.ts';
import { interleaved } from '../rounds.ts';
import { type Row, showMs, times } from '../row.ts';
import { median } from '../statistics.ts';

const loads = {
  full: { few: 10, many: 2_000, minutes: 1 },
  quick: { few: 2, many: 20, minutes: 0.01 },
} as const;
/**
 * The number of jobs that end in each round. Their ends take longer than two
 * seconds, so that polls are counted in one full second at least.
 */
const [ending, quickEnding] = [20, 10];

/**
 * Measures how soon clients can read the ends of jobs when one worker follows
 * many jobs, beside the same with few jobs; and the cost of following them.
 */
export async function* outstandingRows(bench: Bench): Rows {
  const { few, many, minutes } = bench.quick ? loads.quick : loads.full;
  yield* withRemoteTasks(bench, async function* (remote) {
    const { floors } = await interleaved(bench, {
      floors: async () => {
        await fillUp(remote, few);
        return await endSome(remote, few);
      },
    });
    const running = await fillUp(remote, many);
    const memory = watchMemory(remote.worker.pid);
    const writes = await writesForEach(running, minutes, remote);
    const { ends } = await interleaved(bench, { ends: () => endSome(remote, bench.quick ? quickEnding : ending) });
    const waiting = { writes, residentMb: memory.stop() };
    yield rowOf(bench, { running, few, floor: medianEnds(floors).p50, ends: medianEnds(ends), waiting });
  });
}

/** Samples the memory of a process once a second until `stop`. */
function watchMemory(pid: number): { readonly stop: () => readonly number[] } {
  const seenMb: number[] = [];
  // If the worker has died, the waits for its work fail.
  const look = () =>
    void residentMb(pid).then(
      (mb) => seenMb.push(mb),
      () => undefined,
    );
  const timer = setInterval(look, 1_000).unref();
  return {
    stop: () => {
      clearInterval(timer);
      return seenMb;
    },
  };
}

/**
 * Returns the rows that Temporal's production server writes per minute for each
 * job that only runs.
 */
async function writesForEach(running: number, minutes: number, { service }: RemoteTasks): Promise<number | undefined> {
  const written = async () => {
    const text = `
select (tup_inserted + tup_updated + tup_deleted)::int as rows from pg_stat_database where datname = 'temporal'`;
    const [row] = await service.db.run<{ rows: number }>({ name: 'bench-temporal-writes', text });
    return row?.rows;
  };
  const before = await written();
  await delay(60_000 * minutes);
  const after = await written();
  return before === undefined || after === undefined ? undefined : (after - before) / running / minutes;
}

type Measured = {
  readonly running: number;
  readonly few: number;
  readonly floor: number;
  readonly ends: Ends;
  readonly waiting: { readonly writes: number | undefined; readonly residentMb: readonly number[] };
};

function rowOf({ engine }: Bench, { running, few, floor, ends, waiting }: Measured): Row {
  const slower = ends.p50 / floor;
  const { writes } = waiting;
  const peakMb = Math.max(...waiting.residentMb);
  const cost = [
    `worker ${Math.round(median(waiting.residentMb))} MB, at most ${Math.round(peakMb)} MB`,
    ...(writes === undefined ? [] : [`Temporal writes ${writes.toFixed(1)} rows for each waiting job a minute`]),
  ];
  const polls = ends.polls.reduce((sum, each) => sum + each, 0) / ends.polls.length;
  const what = `upstream polled at its rate: done → visible in recordInfo, ${endsPerSecond} end a second, one worker`;
  return {
    what: `${what}, ${running.toLocaleString('en')} jobs outstanding, ${engine.name}`,
    floor: `${few} jobs outstanding: p50 ${showMs(floor)}`,
    measured: `p50 ${showMs(ends.p50)}, max ${showMs(ends.max)}${ends.unseen === 0 ? '' : `, ${ends.unseen} not within a minute`}; ${polls.toFixed(1)} polls/s; ${cost.join('; ')}`,
    ratio: `p50 ${times(slower)}`,
    target: 'p50 ≤ 2 s, ≤ 15 polls/s, worker ≤ 450 MB, ≤ 6 rows',
    isReached: ends.p50 <= 2_000 && polls <= 15 && peakMb <= 450 && (writes === undefined || writes <= 6),
  };
}
