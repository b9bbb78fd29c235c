import { taskQueuesOf } from '../../src/domain/task-queues.ts';
import { connectTemporal } from '../../src/temporal/connect.ts';
import { createEngine } from '../../src/temporal/engine.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { startBareTasks } from '../bare-tasks.ts';
import type { Bench } from '../bench.ts';
import { type Child, startChild } from '../child.ts';
import { addFinishedTasks } from '../finished-tasks.ts';
import { inParallel } from '../load.ts';
import { type Receiver, startReceiver } from '../receiver.ts';
import { interleaved } from '../rounds.ts';
import { type Row, times } from '../row.ts';
import { benchAccounts, benchService, type BenchService } from '../service.ts';
import { median } from '../statistics.ts';

const atOnce = 32;
/** Each is a workflow. */
const throughEngine = 200;
const withoutEngine = 3_000;
const posts = 10_000;

type Delivering = {
  readonly bench: Bench;
  readonly service: BenchService;
  readonly receiver: Receiver;
  readonly poster: Child;
  readonly accountIds: readonly string[];
};

/** Owed callbacks of ended tasks beside plain POSTs from one process to the same receiver: without the engine, and through it. */
export async function callbackRows(bench: Bench): Promise<readonly Row[]> {
  const service = await benchService(bench, bench.temporal.address);
  const receiver = await startReceiver();
  const accountIds = (await benchAccounts(service.db, 20)).map(({ accountId }) => accountId);
  const poster = startChild('./floor-poster.js', process.env);
  await said(poster);
  const delivering = { bench, service, receiver, poster, accountIds };
  try {
    return [await deliveringRow(delivering), await workflowRow(delivering)];
  } finally {
    await Promise.all([poster.stop(), receiver.child.stop()]);
    await service.close();
  }
}

/** What we do for one callback ourselves: find it, make its body, sign it, check where it goes, post it, record what came of it. */
async function deliveringRow(delivering: Delivering): Promise<Row> {
  const child = startChild('./delivering.js', delivering.service.environment);
  try {
    await said(child);
    await deliverWithoutEngine(delivering, child, 2 * withoutEngine);
    await plainPosts(delivering);
    const rates = await interleaved({
      floor: () => plainPosts(delivering),
      ours: () => deliverWithoutEngine(delivering, child, withoutEngine),
    });
    const [floor, ours] = [median(rates.floor), median(rates.ours)];
    return {
      what: `callbacks to an instant receiver, the activity alone, one process, ${atOnce} at once, without the engine`,
      floor: `plain POSTs from one process, ${atOnce} at once: ${Math.round(floor)}/s`,
      measured: `${Math.round(ours)}/s, each looked up, signed and recorded with fsync`,
      ratio: `rate ${times(ours / floor)}`,
      target: 'rate ≥ 0.5 ×',
      isReached: ours / floor >= 0.5,
    };
  } finally {
    await child.stop();
  }
}

async function workflowRow(delivering: Delivering): Promise<Row> {
  const worker = delivering.service.startWorker();
  const bare = await startBareTasks(delivering.bench.temporal.address, 'bareCallback');
  try {
    await deliverThroughEngine(delivering, atOnce);
    await bare.perSecond(atOnce);
    const rates = await interleaved({
      posts: () => plainPosts(delivering),
      bare: () => bare.perSecond(throughEngine),
      ours: () => deliverThroughEngine(delivering, throughEngine),
    });
    const [plain, empty, ours] = [median(rates.posts), median(rates.bare), median(rates.ours)];
    return {
      what: 'callbacks to an instant receiver, one worker, as workflows',
      floor: `plain POSTs from one process, ${atOnce} at once: ${Math.round(plain)}/s; bare workflow, one empty activity: ${empty.toFixed(1)}/s`,
      measured: `${ours.toFixed(1)}/s, each signed, recorded and durable`,
      ratio: `rate ${times(ours / plain)} of POSTs, ${times(ours / empty)} of bare workflows`,
      target: 'rate ≥ 0.5 × of POSTs',
      isReached: ours / plain >= 0.5,
    };
  } finally {
    await Promise.all([worker.stop(), bare.close()]);
  }
}

async function deliverWithoutEngine(delivering: Delivering, child: Child, count: number): Promise<number> {
  const owed = await owedCallbacks(delivering, count);
  const answer = said(child);
  child.tell({ taskIds: owed.map(({ taskId }) => taskId), atOnce });
  return (1000 * count) / (await answer);
}

/** What such a process says next: how many milliseconds it took, or NaN when it is merely ready. */
function said(child: Child): Promise<number> {
  return new Promise((resolve, reject) => {
    child.onSaid((word) => {
      resolve(typeof word === 'object' && word !== null && 'tookMs' in word ? Number(word.tookMs) : Number.NaN);
    });
    child.onExit(() => reject(new Error('the process has ended')));
  });
}

type Owed = { readonly taskId: string; readonly accountId: string };

async function owedCallbacks({ service, receiver, accountIds }: Delivering, count: number): Promise<readonly Owed[]> {
  await addFinishedTasks(service.db, accountIds, count);
  const text = `
insert into callback_deliveries (task_id, account_id, url, due_at)
select id, account_id, $2, now() + interval '1 hour' from tasks
where not exists (select from callback_deliveries where task_id = tasks.id) limit $1 returning task_id, account_id`;
  const rows = await service.db.run<{ task_id: string; account_id: string }>({ name: 'bench-owe', text }, [
    count,
    receiver.url,
  ]);
  return inTurns(rows.map((row) => ({ taskId: row.task_id, accountId: row.account_id })));
}

/** One of each account after the other: an account has eight places at a receiver, and whoever finds none is put off. */
function inTurns(owed: readonly Owed[]): readonly Owed[] {
  const counts = new Map<string, number>();
  const placed = owed.map((one) => {
    const place = counts.get(one.accountId) ?? 0;
    counts.set(one.accountId, place + 1);
    return { one, place };
  });
  return placed.toSorted((a, b) => a.place - b.place).map(({ one }) => one);
}

async function deliverThroughEngine(delivering: Delivering, count: number): Promise<number> {
  const { bench, service, receiver } = delivering;
  const owed = await owedCallbacks(delivering, count);
  const { client, close } = connectTemporal({ connection: { address: bench.temporal.address }, namespace: 'default' });
  const engine = createEngine(client, taskQueuesOf(service.environment.VIDEOGEN_TASK_QUEUE));
  const wanted = (await receiver.received()) + owed.length;
  const startedAt = performance.now();
  await inParallel(owed.length, atOnce, async (index) => {
    const delivery = owed[index];
    if (delivery !== undefined) await engine.startDelivery(delivery);
  });
  await waitFor('the callbacks', async () => ((await receiver.received()) >= wanted ? true : undefined), 120_000);
  const perSecond = (1000 * owed.length) / (performance.now() - startedAt);
  await close();
  return perSecond;
}

async function plainPosts({ poster, receiver }: Delivering): Promise<number> {
  const answer = said(poster);
  poster.tell({ url: receiver.url, count: posts, atOnce });
  return (1000 * posts) / (await answer);
}
