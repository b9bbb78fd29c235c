import { quickBatch, sizedBatches } from '../batch.ts';
import type { Bench, Rows, Say } from '../bench.ts';
import { residentMb } from '../child.ts';
import { times } from '../row.ts';
import { median } from '../statistics.ts';
import { startWholeTasks } from '../whole-tasks.ts';

type Memory = { readonly tasks: number; readonly api: number; readonly worker: number };

/**
 * Measures the memory of API and worker while thousands of whole tasks run, in
 * batches, so that no backlog is measured.
 */
export async function* memoryRows(bench: Bench, say: Say): Rows {
  const memoryTasks = bench.quick ? 2 * quickBatch : 10_000;
  const ours = await startWholeTasks(bench, bench.engine);
  const looks: Memory[] = [];
  try {
    const batch = await sizedBatches(bench, ours.perSecond);
    for (let tasks = 0; tasks < memoryTasks;) {
      await batch();
      tasks = await ours.countFinished();
      looks.push({ tasks, api: await residentMb(ours.api.pid), worker: await residentMb(ours.worker.pid) });
      say(`  after ${tasks} tasks: ${showMemory(looks.at(-1))}`);
    }
  } finally {
    await ours.close();
  }
  const early = typicalMemory(looks, 0.4 * memoryTasks, 0.5 * memoryTasks);
  const late = typicalMemory(looks, 0.9 * memoryTasks, Infinity);
  const peak = {
    api: Math.max(...looks.map(({ api }) => api)),
    worker: Math.max(...looks.map(({ worker }) => worker)),
  };
  yield {
    what: `memory after ${memoryTasks.toLocaleString('en')} tasks, ${bench.engine.name}`,
    floor: `after half of them: ${showMemory(early)}`,
    measured: `${showMemory(late)}; at most ${showMemory(peak)}`,
    ratio: `api ${times(late.api / early.api)}, worker ${times(late.worker / early.worker)}`,
    target: 'api ≤ 200 MB, worker ≤ 450 MB, flat',
    isReached:
      late.api <= 200 && late.worker <= 450 && late.worker / early.worker <= 1.1 && late.api / early.api <= 1.1,
  };
}

/**
 * Returns the medians over a range of tasks, because a single sample may be
 * from before or after a garbage collection.
 */
function typicalMemory(looks: readonly Memory[], from: number, to: number): Omit<Memory, 'tasks'> {
  const chosen = looks.filter(({ tasks }) => tasks > from && tasks <= to);
  return { api: median(chosen.map(({ api }) => api)), worker: median(chosen.map(({ worker }) => worker)) };
}

function showMemory(memory: Omit<Memory, 'tasks'> | undefined): string {
  return memory === undefined ? '–' : `api ${Math.round(memory.api)} MB, worker ${Math.round(memory.worker)} MB`;
}
