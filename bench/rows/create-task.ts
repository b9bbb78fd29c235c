import type { Bench } from '../bench.ts';
import { rawRequest } from '../caller.ts';
import type { HttpFloor } from '../http-floor.ts';
import { closedLoop, httpLoad, type Load, medianLoad } from '../load.ts';
import { quiet } from '../quiet.ts';
import { interleaved } from '../rounds.ts';
import { type Row, showLoad, showMs, times } from '../row.ts';
import type { BenchAccount, BenchService } from '../service.ts';
import { whileFrozen } from '../while-frozen.ts';

export const taskBody = {
  model: 'videogen-2.0-fast',
  input: { prompt: 'a paper boat on a rainy street [[instant]]', duration: 5, ratio: '16:9' },
};
const createPath = '/api/v1/jobs/createTask';

/** An address at which nobody answers, so that tasks are accepted and their workflows wait. */
export const unreachableAddress = '127.0.0.1:9';

const manyCallers = 32;

export type CreateRows = { readonly rows: readonly Row[]; readonly quietLoad: Load };

/** createTask spread over accounts, with Temporal unavailable and with Temporal busy starting the workflows. No worker runs. */
export async function createTaskRows(
  bench: Bench,
  service: BenchService,
  floor: HttpFloor,
  accounts: readonly BenchAccount[],
): Promise<CreateRows> {
  const detached = await service.startApi({ TEMPORAL_ADDRESS: unreachableAddress });
  const creates = createsOf(accounts);
  const hot = createsOf(accounts.slice(0, 1));
  await warmUp(bench, floor.baseUrl, insert);
  await warmUp(bench, detached.baseUrl, creates);
  const stopped = (measure: () => Promise<Load>) => () => whileFrozen(temporalsOf(bench), measure);
  const alone = await interleaved({
    floor1: stopped(() => load(bench, floor.baseUrl, 1, insert)),
    ours1: stopped(() => load(bench, detached.baseUrl, 1, creates)),
    floor32: stopped(() => load(bench, floor.baseUrl, manyCallers, insert)),
    ours32: stopped(() => load(bench, detached.baseUrl, manyCallers, creates)),
    floorHot: stopped(() => closedLoop({ callers: manyCallers, durationMs: bench.loadMs }, floor.updateHotRow)),
    oursHot: stopped(() => load(bench, detached.baseUrl, manyCallers, hot)),
  });
  await detached.stop();
  const starting = await interleaved({
    floor: () => whileStarting(bench, floor.startStarting, insert),
    ours: () => whileStarting(bench, () => service.startApi(), creates),
  });
  const idle = (name: keyof typeof alone) => medianLoad(alone[name]);
  const busy = (name: keyof typeof starting, callers: keyof Loads) =>
    medianLoad(starting[name].map((loads) => loads[callers]));
  return {
    quietLoad: idle('ours32'),
    rows: [
      spreadRow('1 caller', idle('floor1'), idle('ours1')),
      startingRow('1 caller', { floor: busy('floor', 'one'), ours: busy('ours', 'one'), idle: idle('floor1') }),
      spreadRow('32 callers', idle('floor32'), idle('ours32')),
      startingRow('32 callers', { floor: busy('floor', 'many'), ours: busy('ours', 'many'), idle: idle('floor32') }),
      hotRow(idle('floorHot'), idle('oursHot')),
    ],
  };
}

type Loads = { readonly one: Load; readonly many: Load };

/**
 * A process of its own each time, killed afterwards: it accepts many times as many tasks as Temporal starts meanwhile, and would go on
 * starting them for minutes. What it has taken from 32 callers while it warmed up keeps Temporal busy from the beginning to the
 * end, in ours and in its floor alike.
 */
async function whileStarting(bench: Bench, start: Start, request: Requests): Promise<Loads> {
  const there = await start();
  try {
    await warmUp(bench, there.baseUrl, request);
    const one = await load(bench, there.baseUrl, 1, request);
    return { one, many: await load(bench, there.baseUrl, manyCallers, request) };
  } finally {
    await there.kill();
    await quiet([bench.temporal.pid]);
  }
}

/** createTask once more when the database holds far more than before; it must cost the same. */
export async function createTaskAgainRow(
  bench: Bench,
  service: BenchService,
  accounts: readonly BenchAccount[],
  { what, before }: { what: string; before: Load },
): Promise<Row> {
  const after = await quietCreates(bench, service, accounts);
  const ratio = after.p50Ms / before.p50Ms;
  return {
    what,
    floor: `itself before: p50 ${showMs(before.p50Ms)}`,
    measured: showLoad(after),
    ratio: `p50 ${times(ratio)}`,
    target: 'p50 ≤ 1.2 ×',
    isReached: ratio <= 1.2,
  };
}

/** Creates of 32 callers spread over the accounts, with Temporal unavailable. */
export async function quietCreates(
  bench: Bench,
  service: BenchService,
  accounts: readonly BenchAccount[],
): Promise<Load> {
  const api = await service.startApi({ TEMPORAL_ADDRESS: unreachableAddress });
  const creates = createsOf(accounts);
  await warmUp(bench, api.baseUrl, creates);
  const measured = await interleaved({
    load: () => whileFrozen(temporalsOf(bench), () => load(bench, api.baseUrl, manyCallers, creates)),
  });
  await api.stop();
  return medianLoad(measured.load);
}

function temporalsOf({ temporal, production }: Bench): readonly number[] {
  return [temporal, production].flatMap((server) => server?.pid ?? []);
}

type Start = () => Promise<{ readonly baseUrl: string; kill(): Promise<void> }>;
type Requests = (caller: number, turn: number) => Buffer;

/** Every caller goes through the accounts by itself. */
function createsOf(accounts: readonly BenchAccount[]): Requests {
  const requests = accounts.map(({ key }) => rawRequest('POST', createPath, { key, body: taskBody }));
  return (caller, turn) => requests[(caller + turn) % requests.length] ?? Buffer.alloc(0);
}

const insert: Requests = () => insertRequest;
const insertRequest = rawRequest('POST', '/', { body: taskBody });

function load(bench: Bench, baseUrl: string, callers: number, request: Requests): Promise<Load> {
  return httpLoad({ baseUrl, callers, durationMs: bench.loadMs, request });
}

async function warmUp(bench: Bench, baseUrl: string, request: Requests): Promise<void> {
  await httpLoad({ baseUrl, callers: manyCallers, durationMs: bench.warmUpMs, request });
}

function spreadRow(callers: string, floor: Load, ours: Load): Row {
  return {
    what: `createTask, ${callers}, Temporal stopped`,
    floor: `Koa, JSON body, one insert: ${showLoad(floor)}`,
    measured: showLoad(ours),
    ...comparison(floor, ours),
  };
}

/**
 * Temporal takes what it can get of the cores, so a second floor has it start workflows as well; the verdict is that of the floor
 * which all rows are to reach.
 */
function startingRow(
  callers: string,
  { floor, ours, idle }: { readonly floor: Load; readonly ours: Load; readonly idle: Load },
): Row {
  const { ratio, ...verdict } = comparison(idle, ours);
  return {
    what: `createTask, ${callers}, Temporal starting the workflows`,
    floor: `the same, with Temporal starting a bare workflow behind each insert: ${showLoad(floor)}`,
    measured: showLoad(ours),
    ratio: `${comparison(floor, ours).ratio}; beside the floor with Temporal stopped: ${ratio}`,
    ...verdict,
  };
}

function comparison(floor: Load, ours: Load): Pick<Row, 'ratio' | 'target' | 'isReached'> {
  const [slower, share] = [ours.p50Ms / floor.p50Ms, ours.perSecond / floor.perSecond];
  return {
    ratio: `p50 ${times(slower)}, rate ${times(share)}`,
    target: 'p50 ≤ 2 ×, rate ≥ 0.5 ×',
    isReached: slower <= 2 && share >= 0.5,
  };
}

function hotRow(floor: Load, ours: Load): Row {
  const share = ours.perSecond / floor.perSecond;
  return {
    what: 'createTask, one hot account, 32 callers, Temporal stopped',
    floor: `update of one row, straight to PostgreSQL: ${showLoad(floor)}`,
    measured: showLoad(ours),
    ratio: `rate ${times(share)}`,
    target: 'rate ≥ 0.6 ×, ≥ 1,000/s, p99 ≤ 60 ms',
    isReached: share >= 0.6 && ours.perSecond >= 1_000 && ours.p99Ms <= 60,
  };
}
