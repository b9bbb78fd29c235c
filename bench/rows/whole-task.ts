import { connectTemporal } from '../../src/temporal/connection/connect.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { type BareSpender, type BareTasks, startBareTasks } from '../bare-tasks.ts';
import { atOnce, type Batch, medianBatch, sizedBatches } from '../batch.ts';
import type { Bench, Engine, Rows } from '../bench.ts';
import { type HistoryParts, historyParts, showParts } from '../history-parts.ts';
import { interleaved } from '../rounds.ts';
import { nothingToReach, type Row, showRate, times } from '../row.ts';
import { type Spender, startWholeTasks, type WholeTasks } from '../whole-tasks.ts';

/** The number of sequential workflows whose time is shown by its parts. */
const [singles, quickSingles] = [10, 2];

const whole = `whole task, instant provider that delivers a poster, ${atOnce} at once`;

/**
 * Measures whole tasks beside workflows that have only the activities that a
 * generation and a callback cannot do without.
 */
export async function* wholeTaskRows(bench: Bench): Rows {
  const { engine } = bench;
  const [bare, ours] = await Promise.all([startBareTasks(bench, engine), startWholeTasks(bench, engine)]);
  const old = bench.beside === undefined ? undefined : await startWholeTasks(bench, engine, { checkout: bench.beside });
  try {
    const batches = await interleaved(bench, {
      floor: await sizedBatches(bench, (count) => bare.perSecond(count, 1)),
      ours: await sizedBatches(bench, ours.perSecond),
      old: old && (await sizedBatches(bench, old.perSecond)),
      floorOfTwo: await sizedBatches(bench, (count) => bare.perSecond(count, 2)),
      calledBack: await sizedBatches(bench, ours.calledBackPerSecond),
    });
    const [floor, measured] = [medianBatch(batches.floor), medianBatch(batches.ours)];
    const events = await eventsOfOne(engine, ours);
    yield { ...rateRow(`${whole}, ${engine.name}`, floor, measured, events), isFirst: true };
    yield calledBackRow(engine, medianBatch(batches.floorOfTwo), medianBatch(batches.calledBack));
    yield processorRow(engine, floor, measured);
    yield await partsRow(bench, engine, bare, ours);
    if (bench.beside !== undefined) yield besideRow(bench.beside, medianBatch(batches.old), measured);
  } finally {
    await Promise.all([bare.close(), ours.close(), old?.close()]);
  }
}

function rateRow(what: string, floor: Batch, ours: Batch, events: number): Row {
  const share = ours.perSecond / floor.perSecond;
  return {
    what,
    floor: `bare workflow with one empty activity: ${showRate(floor.perSecond)}`,
    measured: `${showRate(ours.perSecond)}, ${events} events`,
    ratio: `rate ${times(share)}`,
    target: 'rate ≥ 0.8 ×, ≤ 16 events',
    isReached: share >= 0.8 && events <= 16,
  };
}

function calledBackRow(engine: Engine, floor: Batch, ours: Batch): Row {
  const share = ours.perSecond / floor.perSecond;
  return {
    what: `the same until its callback has come to an instant receiver, ${engine.name}`,
    floor: `bare workflow with two empty activities: ${showRate(floor.perSecond)}`,
    measured: showRate(ours.perSecond),
    ratio: `rate ${times(share)}`,
    target: 'rate ≥ 0.8 ×',
    isReached: share >= 0.8,
  };
}

/**
 * The processor time shows which process must be scaled with the load, which
 * rates do not show.
 */
function processorRow(engine: Engine, floor: Batch<BareSpender>, ours: Batch<Spender>): Row {
  const share = serversMs(ours) / serversMs(floor);
  return {
    what: `processor time of one whole task without callback, ${engine.name}`,
    floor: `bare workflow with one empty activity: ${showSpent(floor)}`,
    measured: showSpent(ours),
    ratio: `worker ${times(ours.cpuMs.worker / floor.cpuMs.worker)}, Temporal + PostgreSQL ${times(share)}`,
    ...nothingToReach,
  };
}

function besideRow(checkout: string, old: Batch<Spender>, ours: Batch<Spender>): Row {
  const faster = ours.perSecond / old.perSecond;
  const worker = ours.cpuMs.worker / old.cpuMs.worker;
  const servers = serversMs(ours) / serversMs(old);
  return {
    what: `${whole}, beside the checkout ${checkout} in turns`,
    floor: `it: ${showRate(old.perSecond)}; ${showSpent(old)}`,
    measured: `${showRate(ours.perSecond)}; ${showSpent(ours)}`,
    ratio: `rate ${times(faster)}, worker ${times(worker)}, Temporal + PostgreSQL ${times(servers)}`,
    target: 'rate ≥ 1.5 ×, processor time ≤ 0.5 ×',
    isReached: faster >= 1.5 && worker <= 0.5 && servers <= 0.5,
  };
}

function serversMs({ cpuMs }: Batch<BareSpender>): number {
  return cpuMs.Temporal + cpuMs.PostgreSQL;
}

function showSpent({ cpuMs }: Batch): string {
  return Object.entries(cpuMs)
    .map(([name, ms]) => `${name} ${ms.toFixed(1)} ms`)
    .join(', ');
}

/** Measures where the time between the start of a workflow and its end goes, with one at a time. */
async function partsRow({ quick }: Bench, engine: Engine, bare: BareTasks, ours: WholeTasks): Promise<Row> {
  const { client, close } = connectTemporal({ connection: { address: engine.address }, namespace: 'default' });
  const partsOf = async ({ startOne }: Pick<BareTasks, 'startOne'>) => {
    const all: HistoryParts[] = [];
    while (all.length < (quick ? quickSingles : singles)) {
      const handle = client.workflow.getHandle(await startOne());
      // A workflow is started after the response to its create.
      await waitFor('the workflow', () => handle.describe().catch(() => undefined));
      await handle.result();
      all.push(historyParts((await handle.fetchHistory()).events ?? []));
    }
    return showParts(all);
  };
  try {
    return {
      what: `where the time of one workflow goes, one at a time, ${engine.name}`,
      floor: `bare workflow with one empty activity: ${await partsOf(bare)}`,
      measured: await partsOf(ours),
      ratio: '–',
      ...nothingToReach,
    };
  } finally {
    await close();
  }
}

async function eventsOfOne({ address }: Engine, { service }: WholeTasks): Promise<number> {
  const text = `
select id from tasks where state = 'success' and not exists (select from callback_deliveries where task_id = tasks.id)
order by completed_at limit 1`;
  const [row] = await service.db.run<{ id: string }>({ name: 'bench-one-finished', text });
  if (row === undefined) throw new Error('no task without a callback has succeeded');
  const { client, close } = connectTemporal({ connection: { address }, namespace: 'default' });
  const { historyLength } = await client.workflow.getHandle(row.id).describe();
  await close();
  return historyLength;
}
