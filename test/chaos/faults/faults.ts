import type { Client as TemporalClient } from '@temporalio/client';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../../src/platform/database/database.ts';
import { callWithin } from '../../../src/temporal/connection/connect.ts';
import { resetToFirstStep } from '../../support/workflows/reset-workflow.ts';
import { type DiskName, fillDisk, type FullDisk } from './full-disks.ts';
import type { Damage } from '../judge/evidence.ts';
import { type Outage, unreachableTemporal } from './temporal-outage.ts';
import type { SmallDisk } from '../../support/servers/small-disk.ts';
import type { Random } from '../seeded-random.ts';
import type { Stack } from '../stack.ts';

/** A way to hurt the running system. */
type Fault = {
  readonly name: string;
  readonly inject: () => Promise<void>;
  /** Other faults go on meanwhile. */
  readonly isBeside?: boolean;
};

export type FaultOptions = {
  readonly stack: Stack;
  readonly db: Database;
  readonly temporal: TemporalClient;
  readonly random: Random;
  readonly durationMs: number;
  /** Pauses between two faults lie between half and one and a half times this. */
  readonly pauseMs: number;
  readonly say: (message: string) => void;
};

/** Runs of this length and more have room for what takes minutes. */
const longRunMs = 4 * 60_000;
/** Beyond the heartbeat timeout of every activity, so that another attempt runs when the worker comes back. */
const longFreezeMs = 45_000;

type Work = FaultOptions & { readonly injected: Map<string, number>; readonly damage: DamageInProgress };

type DamageInProgress = {
  readonly stopped: Set<string>;
  readonly outages: Outage[];
  readonly fullDisks: FullDisk[];
  readonly missed: string[];
};

/** Injects faults until the time is over, every kind once in a shuffled order before one comes again. */
export async function injectFaults(options: FaultOptions): Promise<Damage> {
  const { random, pauseMs, durationMs } = options;
  const damage: DamageInProgress = { stopped: new Set(), outages: [], fullDisks: [], missed: [] };
  const work: Work = { ...options, injected: new Map(), damage };
  const faults = faultsOf(work);
  const startedAt = Date.now();
  const slow = durationMs >= longRunMs ? slowFaultsOf(work) : [];
  const running: Promise<unknown>[] = [];
  for (let left: Fault[] = []; Date.now() < startedAt + durationMs;) {
    await delay(random.between(pauseMs / 2, (3 * pauseMs) / 2));
    const due = slow.findIndex(({ share }) => Date.now() >= startedAt + share * durationMs);
    const [first] = due === -1 ? [] : slow.splice(due, 1);
    left = left.length === 0 ? [...random.shuffled(faults)] : left;
    const fault = first ?? left.pop();
    if (fault === undefined) continue;
    // A fault that is to be the only one waits for those that go on.
    if (first?.isBeside === false) await Promise.all(running);
    const done = inject(work, fault);
    running.push(first === undefined ? done : noteMissed(work, first, done));
    if (fault.isBeside !== true) await done;
  }
  await Promise.all(running);
  damage.missed.push(...slow.map(({ name }) => name).filter((name) => !work.injected.has(name)));
  return { ...damage, injected: work.injected };
}

/** Returns false if nothing was injected: the target may be down already, or there is no task to cancel. */
async function inject({ injected }: Work, { name, inject: hurt }: Fault): Promise<boolean> {
  const isDone = await hurt().then(
    () => true,
    () => false,
  );
  if (isDone) injected.set(name, 1 + (injected.get(name) ?? 0));
  return isDone;
}

/** A slow fault comes once in a run, so a run without it has not tested what it claims to. */
async function noteMissed({ damage }: Work, { name }: Fault, done: Promise<boolean>): Promise<void> {
  if (!(await done)) damage.missed.push(name);
}

function faultsOf(work: Work): readonly Fault[] {
  const { stack, db, random } = work;
  const someWorker = () => random.pick(atLeastOne(stack.workers));
  const someApi = () => random.pick(atLeastOne(stack.apis));
  const freezeMs = () => random.between(500, 4_000);
  return [
    { name: 'kill -9 worker', inject: async () => someWorker().kill() },
    { name: 'kill -9 API', inject: async () => someApi().kill() },
    { name: 'kill -9 PostgreSQL', inject: async () => killServer(stack.postgres.pid) },
    { name: 'kill -9 Temporal', inject: async () => killServer(stack.temporal.pid) },
    { name: 'freeze worker', inject: () => someWorker().freeze(freezeMs()) },
    { name: 'freeze API', inject: () => someApi().freeze(freezeMs()) },
    { name: 'freeze Temporal', inject: () => freezeServer(stack.temporal.pid, freezeMs()) },
    { name: 'cut off Temporal', inject: () => cutOffTemporal(stack, freezeMs()) },
    { name: 'cut all connections to PostgreSQL', inject: () => cutConnections(db) },
    ...diskFaultsOf(work),
    ...workflowFaultsOf(work),
  ];
}

function diskFaultsOf({ stack, db, random, damage }: Work): readonly Fault[] {
  const fill = async (name: DiskName, disk: SmallDisk) => {
    damage.fullDisks.push(await fillDisk({ name, disk, db, apis: stack.apis, random }));
  };
  return [...stack.disks.each].map(([name, disk]) => ({
    name: `full disk: ${name}`,
    isBeside: true,
    inject: () => fill(name, disk),
  }));
}

/** Operators can do this to a task's workflow, while the task runs and after it has ended. */
function workflowFaultsOf({ db, temporal, damage }: Work): readonly Fault[] {
  const { namespace } = temporal.options;
  const handleOf = (taskId: string) => temporal.workflow.getHandle(taskId);
  const remove = async (taskId: string) => {
    await temporal.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId: taskId } });
  };
  const reset = (taskId: string) => resetToFirstStep(temporal, taskId);
  const hurt = async (taskId: string, work: (taskId: string) => Promise<unknown>) => {
    await callWithin(temporal, 3_000, () => work(taskId));
  };
  const stop = async (work: (taskId: string) => Promise<unknown>) => {
    const taskId = await someTask(db, selectLive);
    // Before it is tried: an order whose answer is lost may have been obeyed.
    damage.stopped.add(taskId);
    await hurt(taskId, work);
  };
  return [
    { name: 'cancel workflow', inject: () => stop((taskId) => handleOf(taskId).cancel()) },
    { name: 'terminate workflow', inject: () => stop((taskId) => handleOf(taskId).terminate('by chaos')) },
    { name: 'delete workflow', inject: () => stop(remove) },
    { name: 'reset workflow', inject: async () => hurt(await someTask(db, selectLive), reset) },
    { name: 'reset workflow of a finished task', inject: async () => hurt(await someTask(db, selectEnded), reset) },
    { name: 'delete workflow of a finished task', inject: async () => hurt(await someTask(db, selectEnded), remove) },
  ];
}

type SlowFault = Fault & {
  /** When it is due, as a share of the whole time. */
  readonly share: number;
  readonly isBeside: boolean;
};

function slowFaultsOf(work: Work): SlowFault[] {
  const { stack, db, random, durationMs, damage, say } = work;
  const outageMs = Math.min(120_000, durationMs * 0.4);
  const freeze = () => random.pick(atLeastOne(stack.workers)).freeze(longFreezeMs);
  const cutOff = async () => {
    damage.outages.push(await unreachableTemporal({ stack, db, durationMs: outageMs, say }));
  };
  // Each once in any case, before the outage, which takes long on a slow machine; later as often as the other faults.
  const disks = diskFaultsOf(work).map((fault, index) => ({ ...fault, isBeside: true, share: 0.02 + 0.1 * index }));
  return [
    ...disks,
    { name: `freeze worker for ${longFreezeMs / 1_000} s`, share: 0.15, isBeside: true, inject: freeze },
    { name: `Temporal unreachable for ${outageMs / 1_000} s`, share: 0.4, isBeside: false, inject: cutOff },
  ];
}

function atLeastOne<T>(list: readonly T[]): readonly [T, ...T[]] {
  const [first, ...rest] = list;
  if (first === undefined) throw new Error('the stack has none of them');
  return [first, ...rest];
}

function killServer(pid: number): void {
  process.kill(pid, 'SIGKILL');
}

async function freezeServer(pid: number, ms: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  await delay(ms);
  process.kill(pid, 'SIGCONT');
}

async function cutOffTemporal({ temporalProxy }: Stack, ms: number): Promise<void> {
  temporalProxy.cut();
  await delay(ms);
  temporalProxy.restore();
}

const selectLive = {
  name: 'chaos-live-task',
  text: `select id from tasks where state in ('waiting', 'queuing', 'generating') order by random() limit 1`,
};
const selectEnded = {
  name: 'chaos-ended-task',
  text: `
select id from tasks where state in ('success', 'fail') and completed_at > now() - interval '30 seconds'
order by random() limit 1`,
};

async function someTask(db: Database, statement: { name: string; text: string }): Promise<string> {
  const [task] = await db.run<{ id: string }>(statement);
  if (task === undefined) throw new Error('no task matches');
  return task.id;
}

/** A failover of the database does the same: every client has to connect again. */
async function cutConnections(db: Database): Promise<void> {
  const text = `
select pg_terminate_backend(pid) from pg_stat_activity
where application_name = 'videogen' and datname = current_database() and pid <> pg_backend_pid()`;
  await db.run({ name: 'chaos-cut-connections', text });
}
