import { waitFor } from '../../test/support/wait-for.ts';
import { startBareTasks } from '../bare-tasks.ts';
import type { Bench } from '../bench.ts';
import { type Child, startChild } from '../child.ts';
import { addFinishedTasks } from '../finished-tasks.ts';
import { type Receiver, startReceiver } from '../receiver.ts';
import { interleaved } from '../rounds.ts';
import { type Row, times } from '../row.ts';
import { type BenchAccount, benchAccounts, benchService, type BenchService } from '../service.ts';
import { median } from '../statistics.ts';
import { createAll, openTaskClient, type TaskClient } from '../task-client.ts';
import type { WholeTaskEngine } from './whole-task.ts';

const atOnce = 32;
const wholeTasks = 2 * atOnce;
const withoutEngine = 3_000;
const posts = 10_000;

type Delivering = {
  readonly engine: WholeTaskEngine;
  readonly service: BenchService;
  readonly receiver: Receiver;
  readonly poster: Child;
  readonly accounts: readonly BenchAccount[];
};

/** Callbacks beside plain POSTs from one process to the same receiver: by themselves, and behind whole tasks. */
export async function callbackRows(bench: Bench, engine: WholeTaskEngine): Promise<readonly Row[]> {
  const service = await benchService(bench, engine.address);
  const receiver = await startReceiver();
  const accounts = await benchAccounts(service.db, atOnce);
  const poster = startChild('./floor-poster.js', process.env);
  await said(poster);
  const delivering = { engine, service, receiver, poster, accounts };
  try {
    return [await deliveringRow(delivering), await wholeTaskRow(delivering)];
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

/** Most callbacks are sent by the workflow of their task. */
async function wholeTaskRow(delivering: Delivering): Promise<Row> {
  const { engine, service, accounts } = delivering;
  const api = await service.startApi();
  const worker = service.startWorker();
  const bare = await startBareTasks(engine.address, 'bareTaskWithCallback');
  const clients = accounts.map((account) => openTaskClient(api.baseUrl, account));
  try {
    await bare.perSecond(wholeTasks);
    await calledBackPerSecond(delivering, clients);
    const rates = await interleaved({
      posts: () => plainPosts(delivering),
      bare: () => bare.perSecond(wholeTasks),
      ours: () => calledBackPerSecond(delivering, clients),
    });
    const [plain, empty, ours] = [median(rates.posts), median(rates.bare), median(rates.ours)];
    return {
      what: `callbacks to an instant receiver, one worker, each behind its whole task, ${engine.name}`,
      floor: `plain POSTs from one process, ${atOnce} at once: ${Math.round(plain)}/s; bare workflow, the same steps and one more for the callback: ${empty.toFixed(1)}/s`,
      measured: `${ours.toFixed(1)}/s`,
      ratio: `rate ${times(ours / plain)} of POSTs, ${times(ours / empty)} of bare workflows`,
      target: 'rate ≥ 0.5 × of POSTs',
      isReached: ours / plain >= 0.5,
    };
  } finally {
    for (const client of clients) client.close();
    await Promise.all([worker.stop(), api.stop(), bare.close()]);
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

async function owedCallbacks({ service, receiver, accounts }: Delivering, count: number): Promise<readonly Owed[]> {
  const accountIds = accounts.map(({ accountId }) => accountId);
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

/** From the first createTask until the last callback has come. */
async function calledBackPerSecond({ receiver }: Delivering, clients: readonly TaskClient[]): Promise<number> {
  const wanted = (await receiver.received()) + wholeTasks;
  const startedAt = performance.now();
  await createAll(clients, wholeTasks, receiver.url);
  await waitFor('the callbacks', async () => ((await receiver.received()) >= wanted ? true : undefined), 120_000);
  return (1000 * wholeTasks) / (performance.now() - startedAt);
}

async function plainPosts({ poster, receiver }: Delivering): Promise<number> {
  const answer = said(poster);
  poster.tell({ url: receiver.url, count: posts, atOnce });
  return (1000 * posts) / (await answer);
}
