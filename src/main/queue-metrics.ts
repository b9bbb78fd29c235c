import { Gauge } from 'prom-client';
import type { CatalogueModel } from '../domain/catalogue/models.ts';
import type { Metrics } from '../metrics.ts';
import type { Database } from '../stores/database.ts';
import { type CallbackBacklog, readCallbackBacklog } from '../stores/deliveries.ts';
import { countUnfinishedTasks, type UnfinishedCount } from '../stores/task-list.ts';
import { removed } from './task-metrics.ts';

type Models = ReadonlyMap<string, Pick<CatalogueModel, 'isRemote'>>;
type State = UnfinishedCount['state'];
type Backlog = { readonly tasks: readonly UnfinishedCount[]; readonly callbacks: CallbackBacklog };

/** Scrapes that come sooner, of a second Prometheus or a person, share what was read. */
const sharedMs = 5_000;

const states: readonly State[] = ['waiting', 'queuing', 'generating'];

/**
 * What all processes together have before them, read from the database at a scrape; the last known figures while that is unavailable. Every model of the catalogue has its figures, also while it has no task.
 */
export function exportQueueMetrics({ registry }: Metrics, db: Database, models: () => Models): void {
  const registers = [registry];
  let readAt = -Infinity;
  let reading: Promise<void> | undefined;
  const read = async () => {
    const backlog = await readBacklog(db).catch(() => undefined);
    if (backlog !== undefined) show(backlog);
    readAt = performance.now();
    reading = undefined;
  };
  // The gauges of one scrape share what is read, and are shown when all of it is there.
  const collect = async () => {
    if (performance.now() - readAt >= sharedMs) await (reading ??= read());
  };
  const tasks = new Gauge({
    name: 'videogen_tasks',
    help: 'Unfinished tasks',
    labelNames: ['state', 'model'] as const,
    registers,
    collect,
  });
  const depth = new Gauge({
    name: 'videogen_queue_depth',
    help: 'What waits for a worker; in the queue tasks for its workflow, in callbacks for an attempt that is due',
    labelNames: ['queue', 'model'] as const,
    registers,
    collect,
  });
  const age = new Gauge({
    name: 'videogen_queue_oldest_age_seconds',
    help: 'How long the oldest of them has waited, since its task was accepted or its callback was due; 0 when none waits',
    labelNames: ['queue', 'model'] as const,
    registers,
    collect,
  });
  const pending = new Gauge({
    name: 'videogen_callbacks_pending',
    help: 'Callbacks that are still to be delivered, those in a pause of the schedule too',
    registers,
    collect,
  });
  const show = ({ tasks: counts, callbacks }: Backlog) => {
    for (const gauge of [tasks, depth, age]) gauge.reset();
    for (const { model, isRemote } of labelled(models())) {
      const ofModel = counts.filter((count) => (models().has(count.model) ? count.model : removed) === model);
      if (model === removed && ofModel.length === 0) continue;
      for (const state of states) {
        const found = ofModel.filter((count) => count.state === state);
        const sum = found.reduce((total, count) => total + count.tasks, 0);
        tasks.set({ state, model }, sum);
        const queue = queueOf(state, isRemote);
        if (queue === undefined) continue;
        depth.set({ queue, model }, sum);
        age.set({ queue, model }, Math.max(0, ...found.map(({ oldestAgeSeconds }) => oldestAgeSeconds)));
      }
    }
    depth.set({ queue: 'callbacks', model: '' }, callbacks.due);
    age.set({ queue: 'callbacks', model: '' }, callbacks.oldestDueSeconds);
    pending.set(callbacks.pending);
  };
}

async function readBacklog(db: Database): Promise<Backlog> {
  const [tasks, callbacks] = await Promise.all([countUnfinishedTasks(db), readCallbackBacklog(db)]);
  return { tasks, callbacks };
}

function labelled(models: Models): readonly { readonly model: string; readonly isRemote: boolean }[] {
  const known = [...models].map(([model, { isRemote }]) => ({ model, isRemote }));
  return [...known, { model: removed, isRemote: false }];
}

/** As operators name the queues; a task that is generated is in none. */
function queueOf(state: State, isRemote: boolean): 'tasks' | 'generation' | 'generation-remote' | undefined {
  if (state === 'waiting') return 'tasks';
  if (state === 'queuing') return isRemote ? 'generation-remote' : 'generation';
  return undefined;
}
