import { taskQueuesOf } from '../../src/domain/task-queues.ts';
import { connectTemporal } from '../../src/temporal/connect.ts';
import { createEngine } from '../../src/temporal/engine.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import type { Bench } from '../bench.ts';
import { openCaller, rawRequest } from '../caller.ts';
import { addFinishedTasks } from '../finished-tasks.ts';
import { inParallel } from '../load.ts';
import { type Receiver, startReceiver } from '../receiver.ts';
import { interleaved } from '../rounds.ts';
import { type Row, times } from '../row.ts';
import { benchAccounts, benchService, type BenchService } from '../service.ts';
import { median } from '../statistics.ts';

const atOnce = 32;
const deliveries = 200;
const bareBodyBytes = 900;

/** Owed callbacks of ended tasks, delivered by one worker, beside plain POSTs from one process to the same receiver. */
export async function callbackRow(bench: Bench): Promise<Row> {
  const service = await benchService(bench, bench.temporal.address);
  const receiver = await startReceiver();
  const accounts = await benchAccounts(service.db, 20);
  const accountIds = accounts.map(({ accountId }) => accountId);
  const worker = service.startWorker();
  try {
    const warmUp = await owedCallbacks(service, accountIds, receiver.url, atOnce);
    await deliver(bench, service, receiver, warmUp);
    const rates = await interleaved({
      floor: () => barePosts(receiver, 10 * deliveries),
      ours: async () =>
        deliver(bench, service, receiver, await owedCallbacks(service, accountIds, receiver.url, deliveries)),
    });
    const [floor, ours] = [median(rates.floor), median(rates.ours)];
    return {
      what: 'callbacks to an instant receiver, one worker, as workflows',
      floor: `plain POSTs from one process, ${atOnce} at once: ${Math.round(floor)}/s`,
      measured: `${Math.round(ours)}/s, each signed, recorded and durable`,
      ratio: `rate ${times(ours / floor)}`,
      target: 'rate ≥ 0.5 ×',
      isReached: ours / floor >= 0.5,
    };
  } finally {
    await Promise.all([worker.stop(), receiver.child.stop()]);
    await service.close();
  }
}

type Owed = { readonly taskId: string; readonly accountId: string };

async function owedCallbacks(
  { db }: BenchService,
  accountIds: readonly string[],
  url: string,
  count: number,
): Promise<readonly Owed[]> {
  const ids = (await addFinishedTasks(db, accountIds, count)).slice(0, count);
  const text = `
insert into callback_deliveries (task_id, account_id, url, due_at)
select id, account_id, $2, now() + interval '1 hour' from tasks where id = any($1::uuid[]) returning task_id, account_id`;
  const rows = await db.run<{ task_id: string; account_id: string }>({ name: 'bench-owe', text }, [ids, url]);
  return rows.map((row) => ({ taskId: row.task_id, accountId: row.account_id }));
}

async function deliver(
  bench: Bench,
  service: BenchService,
  receiver: Receiver,
  owed: readonly Owed[],
): Promise<number> {
  const { client, close } = connectTemporal({ connection: { address: bench.temporal.address }, namespace: 'default' });
  const engine = createEngine(client, taskQueuesOf(service.environment.VIDEOGEN_TASK_QUEUE));
  const wanted = (await receiver.receivedNow()) + owed.length;
  const startedAt = performance.now();
  await inParallel(owed.length, atOnce, async (index) => {
    const delivery = owed[index];
    if (delivery !== undefined) await engine.startDelivery(delivery);
  });
  await waitFor('the callbacks', async () => ((await receiver.receivedNow()) >= wanted ? true : undefined), 120_000);
  const perSecond = (1000 * owed.length) / (performance.now() - startedAt);
  await close();
  return perSecond;
}

async function barePosts(receiver: Receiver, count: number): Promise<number> {
  const callers = Array.from({ length: atOnce }, () => openCaller(receiver.url));
  const request = rawRequest('POST', '/', { body: { data: 'x'.repeat(bareBodyBytes) } });
  const startedAt = performance.now();
  await Promise.all(callers.map((caller) => inParallel(count / atOnce, 1, () => caller.ask(request))));
  const perSecond = (1000 * Math.ceil(count / atOnce) * atOnce) / (performance.now() - startedAt);
  for (const caller of callers) caller.close();
  return perSecond;
}
