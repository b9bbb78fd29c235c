import type { Bench } from '../bench.ts';
import { rawRequest } from '../caller.ts';
import type { HttpFloor } from '../http-floor.ts';
import { closedLoop, httpLoad, type Load, medianLoad } from '../load.ts';
import { quiet } from '../quiet.ts';
import { interleaved } from '../rounds.ts';
import { type Row, showLoad, showMs, times } from '../row.ts';
import type { BenchAccount, BenchService } from '../service.ts';

export const taskBody = {
  model: 'videogen-2.0-fast',
  input: { prompt: 'a paper boat on a rainy street [[instant]]', duration: 5, ratio: '16:9' },
};
const createPath = '/api/v1/jobs/createTask';

/** An address at which nobody answers, so that tasks are accepted and their workflows wait. */
export const awayAddress = '127.0.0.1:9';

const manyCallers = 32;

export type CreateRows = { readonly rows: readonly Row[]; readonly quietLoad: Load };

/** createTask spread over accounts, with Temporal away and with Temporal busy starting the workflows. No worker runs. */
export async function createTaskRows(
  bench: Bench,
  service: BenchService,
  floor: HttpFloor,
  accounts: readonly BenchAccount[],
): Promise<CreateRows> {
  const away = await service.startApi({ TEMPORAL_ADDRESS: awayAddress });
  const creates = createsOf(accounts);
  const insert = rawRequest('POST', '/', { body: taskBody });
  const load = (baseUrl: string, callers: number, request: (caller: number, turn: number) => Buffer) => () =>
    httpLoad({ baseUrl, callers, durationMs: bench.loadMs, request });
  // A process of its own each time, killed afterwards: it accepts a hundred times as many tasks as Temporal starts meanwhile, and
  // would go on starting them for minutes. Those it has accepted while it warms up keep Temporal busy from the beginning.
  const withEngine = (callers: number) => async () => {
    const there = await service.startApi();
    await load(there.baseUrl, callers, creates)();
    const measured = await load(there.baseUrl, callers, creates)();
    await there.kill();
    await quiet([bench.temporal.pid]);
    return measured;
  };
  await warmUp([load(floor.baseUrl, manyCallers, () => insert), load(away.baseUrl, manyCallers, creates)]);
  const hot = createsOf(accounts.slice(0, 1));
  const measured = await interleaved({
    floor1: load(floor.baseUrl, 1, () => insert),
    away1: load(away.baseUrl, 1, creates),
    there1: withEngine(1),
    floor32: load(floor.baseUrl, manyCallers, () => insert),
    away32: load(away.baseUrl, manyCallers, creates),
    there32: withEngine(manyCallers),
    floorHot: () => closedLoop({ callers: manyCallers, durationMs: bench.loadMs }, floor.updateHotRow),
    hot: load(away.baseUrl, manyCallers, hot),
  });
  await away.stop();
  const median = (name: keyof typeof measured) => medianLoad(measured[name]);
  return {
    quietLoad: median('away32'),
    rows: [
      spreadRow('createTask, 1 caller, Temporal stopped', median('floor1'), median('away1')),
      spreadRow('createTask, 1 caller, Temporal starting the workflows', median('floor1'), median('there1')),
      spreadRow('createTask, 32 callers, Temporal stopped', median('floor32'), median('away32')),
      spreadRow('createTask, 32 callers, Temporal starting the workflows', median('floor32'), median('there32')),
      hotRow(median('floorHot'), median('hot')),
    ],
  };
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

/** Creates of 32 callers spread over the accounts, with Temporal away. */
export async function quietCreates(
  bench: Bench,
  service: BenchService,
  accounts: readonly BenchAccount[],
): Promise<Load> {
  const api = await service.startApi({ TEMPORAL_ADDRESS: awayAddress });
  const request = createsOf(accounts);
  const load = () => httpLoad({ baseUrl: api.baseUrl, callers: manyCallers, durationMs: bench.loadMs, request });
  await warmUp([load]);
  const measured = await interleaved({ load });
  await api.stop();
  return medianLoad(measured.load);
}

/** Every caller goes through the accounts by itself. */
function createsOf(accounts: readonly BenchAccount[]): (caller: number, turn: number) => Buffer {
  const requests = accounts.map(({ key }) => rawRequest('POST', createPath, { key, body: taskBody }));
  return (caller, turn) => requests[(caller + turn) % requests.length] ?? Buffer.alloc(0);
}

async function warmUp(loads: readonly (() => Promise<Load>)[]): Promise<void> {
  for (const load of loads) await load();
}

function spreadRow(what: string, floor: Load, ours: Load): Row {
  const [slower, share] = [ours.p50Ms / floor.p50Ms, ours.perSecond / floor.perSecond];
  return {
    what,
    floor: `Koa, JSON body, one insert: ${showLoad(floor)}`,
    measured: showLoad(ours),
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
