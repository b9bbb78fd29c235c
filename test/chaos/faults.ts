import type { Client as TemporalClient } from '@temporalio/client';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../src/stores/database.ts';
import { within } from '../../src/temporal/connect.ts';
import type { Random } from './random.ts';
import type { Stack } from './stack.ts';

/** A way to hurt the running system. */
type Fault = { readonly name: string; readonly inject: () => Promise<void> };

export type FaultOptions = {
  readonly stack: Stack;
  readonly db: Database;
  readonly temporal: TemporalClient;
  readonly random: Random;
  readonly durationMs: number;
  /** Pauses between two faults lie between half and one and a half times this. */
  readonly pauseMs: number;
};

/** Hurts the system until the time is over, every kind in turn in a shuffled order; answers how often each was done. */
export async function injectFaults(options: FaultOptions): Promise<ReadonlyMap<string, number>> {
  const { random, pauseMs } = options;
  const faults = faultsOf(options);
  const injected = new Map<string, number>();
  let left: Fault[] = [];
  for (const endsAt = Date.now() + options.durationMs; Date.now() < endsAt;) {
    await delay(random.between(pauseMs / 2, (3 * pauseMs) / 2));
    left = left.length === 0 ? [...random.shuffled(faults)] : left;
    const fault = left.pop();
    // What was to be hurt may be down already, or there is no task to cancel: then nothing was injected.
    const isDone = await fault?.inject().then(
      () => true,
      () => false,
    );
    if (fault !== undefined && isDone === true) injected.set(fault.name, 1 + (injected.get(fault.name) ?? 0));
  }
  return injected;
}

function faultsOf({ stack, db, temporal, random }: FaultOptions): readonly Fault[] {
  const workflow = async (hurt: 'cancel' | 'terminate') => {
    const handle = temporal.workflow.getHandle(await liveTask(db));
    await within(temporal, 3_000, async () => (hurt === 'cancel' ? handle.cancel() : handle.terminate('by chaos')));
  };
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
    { name: 'cut all connections to PostgreSQL', inject: () => cutConnections(db) },
    { name: 'cancel workflow', inject: () => workflow('cancel') },
    { name: 'terminate workflow', inject: () => workflow('terminate') },
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

const selectLive = {
  name: 'chaos-live-task',
  text: `select id from tasks where state in ('waiting', 'queuing', 'generating') order by random() limit 1`,
};

async function liveTask(db: Database): Promise<string> {
  const [task] = await db.run<{ id: string }>(selectLive);
  if (task === undefined) throw new Error('no task is live');
  return task.id;
}

/** As a failover of the database does: the server lives on, and everybody has to connect again. */
async function cutConnections(db: Database): Promise<void> {
  const text = `
select pg_terminate_backend(pid) from pg_stat_activity
where application_name = 'videogen' and datname = current_database() and pid <> pg_backend_pid()`;
  await db.run({ name: 'chaos-cut-connections', text });
}
