import type { Bench, Rows } from '../bench.ts';
import { rawRequest } from '../caller.ts';
import { type HttpFloor, startHttpFloor } from '../http-floor.ts';
import { closedLoop, httpLoad, type Load, medianLoad } from '../load.ts';
import { quiet } from '../quiet.ts';
import { interleaved } from '../rounds.ts';
import { type Row, showLoad, showMs, showRate, times } from '../row.ts';
import { type BenchAccount, benchAccounts, type BenchService, benchService, unreachableAddress } from '../service.ts';
import { taskBody } from '../task-client.ts';
import { whileFrozen } from '../while-frozen.ts';
import { recordInfoRow } from './record-info.ts';

const callers = 32;
/**
 * The number of accounts. A few dozen would fit into one page of their table,
 * where an index cannot help.
 */
const [spreadOver, quickSpreadOver] = [1_000, 10];

/**
 * Measures creates and reads without a worker, beside bare Koa and bare
 * statements on the same PostgreSQL server.
 */
export async function* httpRows(bench: Bench): Rows {
  const service = await benchService(bench, bench.development.address);
  const floor = await startHttpFloor(bench, taskBody);
  try {
    const accounts = await benchAccounts(service.db, bench.quick ? quickSpreadOver : spreadOver);
    yield* createTaskRows(bench, service, floor, accounts);
    yield { ...(await recordInfoRow(bench, service, floor)), isFirst: true };
  } finally {
    await Promise.all([service.close(), floor.close()]);
  }
}

/**
 * Measures createTask with many accounts and with one while Temporal is
 * unavailable, and while Temporal is busy starting the workflows.
 */
async function* createTaskRows(
  bench: Bench,
  service: BenchService,
  floor: HttpFloor,
  accounts: readonly BenchAccount[],
): Rows {
  const [one, other] = [await startDetached(service), await startDetached(service)];
  const creates = createsOf(accounts);
  const hot = createsOf(accounts.slice(0, 1));
  for (const { baseUrl } of [one, other]) await warmUp(bench, baseUrl, creates);
  await warmUp(bench, floor.baseUrl, insert);
  const stopped = (measure: () => Promise<Load>) => () => whileFrozen(temporalsOf(bench), measure);
  const loads = await interleaved(bench, {
    floor32: stopped(() => load(bench, [floor.baseUrl], callers, insert)),
    ours32: stopped(() => load(bench, [one.baseUrl], callers, creates)),
    floor1: stopped(() => load(bench, [floor.baseUrl], 1, insert)),
    ours1: stopped(() => load(bench, [one.baseUrl], 1, creates)),
    floorHot: stopped(() => closedLoop({ callers, durationMs: bench.loadMs }, floor.updateHotRow)),
    hot: stopped(() => load(bench, [one.baseUrl], callers, hot)),
    hotOfTwo: stopped(() => load(bench, [one.baseUrl, other.baseUrl], callers, hot)),
  });
  await Promise.all([one.stop(), other.stop()]);
  yield { ...acceptRow(medianLoad(loads.floor32), medianLoad(loads.ours32)), isFirst: true };
  yield loneRow(medianLoad(loads.floor1), medianLoad(loads.ours1));
  yield hotRow(medianLoad(loads.floorHot), medianLoad(loads.hot), medianLoad(loads.hotOfTwo));
  const starting = await interleaved(bench, {
    floor: () => whileStarting(bench, floor.startStarting, insert),
    ours: () => whileStarting(bench, () => service.startApi(), creates),
  });
  yield startingRow(medianLoads(starting.floor), medianLoads(starting.ours));
}

function startDetached(service: BenchService): ReturnType<BenchService['startApi']> {
  return service.startApi({ TEMPORAL_ADDRESS: unreachableAddress });
}

type Start = () => Promise<{ readonly baseUrl: string; kill(): Promise<void> }>;
type Requests = (caller: number, turn: number) => Buffer;
type Loads = { readonly one: Load; readonly many: Load };

/**
 * Starts a separate process for each measurement and kills it afterwards: it
 * accepts many times as many tasks as Temporal starts in the meantime, and
 * would start them for minutes. The tasks that it accepted from 32 callers
 * during the warm-up keep Temporal busy until the end, in ours and in its floor
 * alike.
 */
async function whileStarting(bench: Bench, start: Start, request: Requests): Promise<Loads> {
  const there = await start();
  try {
    await warmUp(bench, there.baseUrl, request);
    const one = await load(bench, [there.baseUrl], 1, request);
    return { one, many: await load(bench, [there.baseUrl], callers, request) };
  } finally {
    await there.kill();
    await quiet([bench.development.pid]);
  }
}

function medianLoads(loads: readonly Loads[]): Loads {
  return { one: medianLoad(loads.map(({ one }) => one)), many: medianLoad(loads.map(({ many }) => many)) };
}

function temporalsOf({ development, engine }: Bench): readonly number[] {
  return [...new Set([development.pid, engine.pid])];
}

/**
 * Returns requests in which every caller iterates over the accounts on its own.
 */
function createsOf(accounts: readonly BenchAccount[]): Requests {
  const path = '/api/v1/jobs/createTask';
  const requests = accounts.map(({ key }) => rawRequest('POST', path, { key, body: taskBody }));
  return (caller, turn) => requests[(caller + turn) % requests.length] ?? Buffer.alloc(0);
}

const insert: Requests = () => insertRequest;
const insertRequest = rawRequest('POST', '/', { body: taskBody });

function load({ loadMs }: Bench, baseUrls: readonly string[], count: number, request: Requests): Promise<Load> {
  return httpLoad({ baseUrls, callers: count, durationMs: loadMs, request });
}

async function warmUp({ warmUpMs }: Bench, baseUrl: string, request: Requests): Promise<void> {
  await httpLoad({ baseUrls: [baseUrl], callers, durationMs: warmUpMs, request });
}

const koaFloor = 'Koa, JSON body, one insert';

function acceptRow(floor: Load, ours: Load): Row {
  const [slower, share] = ratiosOf(floor, ours);
  return {
    what: `createTask, ${callers} callers, Temporal stopped`,
    floor: `${koaFloor}: ${showLoad(floor)}`,
    measured: showLoad(ours),
    ratio: `p50 ${times(slower)}, rate ${times(share)}`,
    target: 'p50 ≤ 2 ×, rate ≥ 0.5 ×',
    isReached: slower <= 2 && share >= 0.5,
  };
}

function loneRow(floor: Load, ours: Load): Row {
  const [slower] = ratiosOf(floor, ours);
  return {
    what: 'createTask, 1 caller, Temporal stopped',
    floor: `${koaFloor}: ${showLoad(floor)}`,
    measured: showLoad(ours),
    ratio: `p50 ${times(slower)}`,
    target: 'p50 ≤ 2.5 ×',
    isReached: slower <= 2.5,
  };
}

/**
 * Temporal uses all cores that it can get, so this floor starts workflows, too.
 */
function startingRow(floor: Loads, ours: Loads): Row {
  const [slower, share] = ratiosOf(floor.many, ours.many);
  const [slowerOne] = ratiosOf(floor.one, ours.one);
  return {
    what: `createTask, ${callers} callers, Temporal starting the workflows, development server`,
    floor: `Koa, one insert, and a bare workflow started behind it: ${showLoad(floor.many)}; 1 caller: p50 ${showMs(floor.one.p50Ms)}`,
    measured: `${showLoad(ours.many)}; 1 caller: p50 ${showMs(ours.one.p50Ms)}`,
    ratio: `p50 ${times(slower)}, rate ${times(share)}; 1 caller: p50 ${times(slowerOne)}`,
    target: 'p50 ≤ 2 ×, rate ≥ 0.5 ×; 1 caller: p50 ≤ 2.5 ×',
    isReached: slower <= 2 && share >= 0.5 && slowerOne <= 2.5,
  };
}

function hotRow(floor: Load, alone: Load, ofTwo: Load): Row {
  const share = ofTwo.perSecond / floor.perSecond;
  return {
    what: `createTask, one hot account, ${callers} callers at two API processes, Temporal stopped`,
    floor: `update of one row, straight to PostgreSQL: ${showLoad(floor)}`,
    measured: `${showLoad(ofTwo)}; at one process ${showRate(alone.perSecond)}`,
    ratio: `rate ${times(share)}; one process ${times(alone.perSecond / floor.perSecond)}`,
    target: 'rate ≥ 0.6 ×, ≥ 1,000/s, p99 ≤ 60 ms',
    isReached: share >= 0.6 && ofTwo.perSecond >= 1_000 && ofTwo.p99Ms <= 60,
  };
}

function ratiosOf(floor: Load, ours: Load): readonly [slower: number, share: number] {
  return [ours.p50Ms / floor.p50Ms, ours.perSecond / floor.perSecond];
}
