import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import type { Bench, Rows, Say } from '../bench.ts';
import { addFinishedTasks } from '../finished-tasks.ts';
import { growthPicture } from '../growth-picture.ts';
import { interleaved } from '../rounds.ts';
import { showMs, times } from '../row.ts';
import { median } from '../statistics.ts';
import { openTaskClient } from '../task-client.ts';
import { startWholeTasks } from '../whole-tasks.ts';
import { type BenchAccount, benchAccounts } from '../service.ts';

const picturePath = fileURLToPath(new URL('../../../bench/growth.svg', import.meta.url));
const [thousands, quickThousands] = [
  [1, 10, 100, 1_000],
  [1, 2],
];
/** The number of tasks in each round, and before the first round. */
const [singles, warmUpSingles, quickSingles] = [40, 200, 3];
const lookEveryMs = 5;

/** The median times that one client waits, in milliseconds. */
type Waits = { readonly create: number; readonly read: number; readonly whole: number };

const names: Record<keyof Waits, string> = {
  whole: 'whole task, createTask until recordInfo says success',
  create: 'createTask',
  read: 'recordInfo of a finished task',
};

/**
 * Measures one client while the database grows, and draws `bench/growth.svg`.
 */
export async function* growthRows(bench: Bench, say: Say): Rows {
  const sizes = bench.quick ? quickThousands : thousands;
  const ours = await startWholeTasks(bench, bench.engine);
  const measured: Waits[] = [];
  try {
    const [account] = await benchAccounts(ours.service.db, 1);
    if (account === undefined) throw new Error('no account');
    const client = { baseUrl: ours.api.baseUrl, account };
    const ids: string[] = [];
    for (const [index, size] of sizes.entries()) {
      const missing = 1_000 * (size - (sizes[index - 1] ?? 0));
      ids.push(...(await addFinishedTasks(ours.service.db, [account.accountId], missing)));
      if (index === 0 && !bench.quick) await waitsOf(client, ids, warmUpSingles);
      const { waits } = await interleaved(bench, {
        waits: () => waitsOf(client, ids, bench.quick ? quickSingles : singles),
      });
      const medianOf = (key: keyof Waits) => median(waits.map((one) => one[key]));
      measured.push({ create: medianOf('create'), read: medianOf('read'), whole: medianOf('whole') });
      say(`  ${size} thousand tasks: ${JSON.stringify(measured.at(-1))}`);
    }
  } finally {
    await ours.close();
  }
  // The keys are those of the record above.
  const keys = Object.keys(names) as (keyof Waits)[];
  const lines = keys.map((key) => ({ name: names[key], values: measured.map((waits) => waits[key]) }));
  if (!bench.quick) await writeFile(picturePath, growthPicture(sizes, lines));
  for (const { name, values } of lines) {
    const [first = Number.NaN, last = Number.NaN] = [values[0], values.at(-1)];
    yield {
      what: `${name}, 1 caller, ${showSize(sizes.at(-1))} tasks in the database`,
      floor: `${showSize(sizes[0])} tasks: p50 ${showMs(first)}`,
      measured: values.map((value, index) => `${showSize(sizes[index])}: p50 ${showMs(value)}`).join(', '),
      ratio: `p50 ${times(last / first)}`,
      target: 'p50 ≤ 1.2 ×',
      isReached: last / first <= 1.2,
    };
  }
}

function showSize(size = 0): string {
  return (1_000 * size).toLocaleString('en');
}

type Client = { readonly baseUrl: string; readonly account: BenchAccount };

/**
 * Creates one task after the other and follows each to its end, and then reads
 * tasks that existed before.
 */
async function waitsOf({ baseUrl, account }: Client, ids: readonly string[], count: number): Promise<Waits> {
  const client = openTaskClient(baseUrl, account);
  const samples: Record<keyof Waits, number[]> = { create: [], read: [], whole: [] };
  for (let turn = 0; turn < count; turn += 1) {
    const startedAt = performance.now();
    const { taskId } = await client.create();
    samples.create.push(performance.now() - startedAt);
    while ((await client.stateOf(taskId)) !== 'success') await delay(lookEveryMs);
    samples.whole.push(performance.now() - startedAt);
  }
  for (let turn = 0; turn < 10 * count; turn += 1) {
    const startedAt = performance.now();
    await client.stateOf(ids[(turn * 7919) % ids.length] ?? '');
    samples.read.push(performance.now() - startedAt);
  }
  client.close();
  return { create: median(samples.create), read: median(samples.read), whole: median(samples.whole) };
}
