import type { Bench } from '../bench.ts';
import { rawRequest } from '../caller.ts';
import { addFinishedTasks } from '../finished-tasks.ts';
import type { HttpFloor } from '../http-floor.ts';
import { httpLoad, medianLoad } from '../load.ts';
import { interleaved } from '../rounds.ts';
import { type Row, showLoad, times } from '../row.ts';
import type { BenchAccount, BenchService } from '../service.ts';
import { awayAddress } from './create-task.ts';

const callers = 32;

/** recordInfo of finished tasks, read at random, after adding `tasks` of them to the database. */
export async function recordInfoRow(
  bench: Bench,
  service: BenchService,
  floor: HttpFloor,
  { account, tasks, what }: { account: BenchAccount; tasks: number; what: string },
): Promise<Row> {
  const ids = await addFinishedTasks(service.db, [account.accountId], tasks);
  const api = await service.startApi({ TEMPORAL_ADDRESS: awayAddress });
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
  const share = ours.perSecond / bare.perSecond;
  return {
    what,
    floor: `Koa, one select by primary key: ${showLoad(bare)}`,
    measured: showLoad(ours),
    ratio: `rate ${times(share)}`,
    target: 'rate ≥ 0.75 ×, ≥ 4,000/s',
    isReached: share >= 0.75 && ours.perSecond >= 4_000,
  };
}
