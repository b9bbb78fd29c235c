import type { Bench } from '../bench.ts';
import { rawRequest } from '../caller.ts';
import { addFinishedTasks } from '../finished-tasks.ts';
import type { HttpFloor } from '../http-floor.ts';
import { httpLoad, medianLoad } from '../load.ts';
import { interleaved } from '../rounds.ts';
import { type Row, showLoad, times } from '../row.ts';
import { benchAccounts, type BenchService, unreachableAddress } from '../service.ts';

const callers = 32;
const finished = 2_000;

/** Measures random reads of finished tasks by recordInfo, beside the floor. */
export async function recordInfoRow(bench: Bench, service: BenchService, floor: HttpFloor): Promise<Row> {
  const [reader] = await benchAccounts(service.db, 1);
  if (reader === undefined) throw new Error('no account');
  const ids = await addFinishedTasks(service.db, [reader.accountId], finished);
  const api = await service.startApi({ TEMPORAL_ADDRESS: unreachableAddress });
  const reads = ids.map((id) => rawRequest('GET', `/api/v1/jobs/recordInfo?taskId=${id}`, { key: reader.key }));
  const selects = floor.ids.map((id) => rawRequest('GET', `/?id=${id}`));
  const load = (baseUrl: string, requests: readonly Buffer[]) => () =>
    httpLoad({
      baseUrls: [baseUrl],
      callers,
      durationMs: bench.loadMs,
      request: (caller, turn) => requests[(caller * 7919 + turn) % requests.length] ?? Buffer.alloc(0),
    });
  await load(floor.baseUrl, selects)();
  await load(api.baseUrl, reads)();
  const loads = await interleaved(bench, { floor: load(floor.baseUrl, selects), ours: load(api.baseUrl, reads) });
  await api.stop();
  const [bare, ours] = [medianLoad(loads.floor), medianLoad(loads.ours)];
  const share = ours.perSecond / bare.perSecond;
  return {
    what: `recordInfo of finished tasks, ${callers} callers`,
    floor: `Koa, one select by primary key: ${showLoad(bare)}`,
    measured: showLoad(ours),
    ratio: `rate ${times(share)}`,
    target: 'rate ≥ 0.75 ×, ≥ 4,000/s',
    isReached: share >= 0.75 && ours.perSecond >= 4_000,
  };
}
