import type { Bench } from '../bench.ts';
import { rawRequest } from '../caller.ts';
import type { HttpFloor } from '../http-floor.ts';
import { httpLoad, type Load, medianLoad } from '../load.ts';
import { interleaved } from '../rounds.ts';
import { type Row, showLoad, showMs, times } from '../row.ts';
import type { BenchAccount, BenchService } from '../service.ts';
import { unreachableAddress } from './create-task.ts';

const callers = 32;

type Reading = {
  readonly account: BenchAccount;
  readonly what: string;
  /** Of finished tasks, some of which are read. */
  readonly ids: readonly string[];
  /** The same reading, when the database held less: it must cost the same now. */
  readonly before?: Load;
};

/** recordInfo of finished tasks, read at random, beside the floor. */
export async function recordInfoRow(
  bench: Bench,
  service: BenchService,
  floor: HttpFloor,
  { account, ids, what, before }: Reading,
): Promise<{ readonly row: Row; readonly load: Load }> {
  const api = await service.startApi({ TEMPORAL_ADDRESS: unreachableAddress });
  const reads = ids.map((id) => rawRequest('GET', `/api/v1/jobs/recordInfo?taskId=${id}`, { key: account.key }));
  const selects = floor.ids.map((id) => rawRequest('GET', `/?id=${id}`));
  const load = (baseUrl: string, requests: readonly Buffer[]) => () =>
    httpLoad({
      baseUrl,
      callers,
      durationMs: bench.loadMs,
      request: (caller, turn) => requests[(caller * 7919 + turn) % requests.length] ?? Buffer.alloc(0),
    });
  await load(floor.baseUrl, selects)();
  await load(api.baseUrl, reads)();
  const measured = await interleaved({ floor: load(floor.baseUrl, selects), ours: load(api.baseUrl, reads) });
  await api.stop();
  const [bare, ours] = [medianLoad(measured.floor), medianLoad(measured.ours)];
  return { row: { what, ...verdictOf(bare, ours, before) }, load: ours };
}

function verdictOf(bare: Load, ours: Load, before: Load | undefined): Omit<Row, 'what'> {
  const share = ours.perSecond / bare.perSecond;
  const slower = before === undefined ? 1 : ours.p50Ms / before.p50Ms;
  const itself = before === undefined ? '' : `; itself before: p50 ${showMs(before.p50Ms)}`;
  return {
    floor: `Koa, one select by primary key: ${showLoad(bare)}${itself}`,
    measured: showLoad(ours),
    ratio: `rate ${times(share)}${before === undefined ? '' : `, p50 ${times(slower)}`}`,
    target: `rate ≥ 0.75 ×, ≥ 4,000/s${before === undefined ? '' : ', p50 ≤ 1.2 ×'}`,
    isReached: share >= 0.75 && ours.perSecond >= 4_000 && slower <= 1.2,
  };
}
