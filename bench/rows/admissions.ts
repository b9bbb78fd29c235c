import type { Bench, Rows } from '../bench.ts';
import { interleaved } from '../rounds.ts';
import { showMs, times } from '../row.ts';
import { benchAccounts, benchService, unreachableAddress } from '../service.ts';
import { median, percentile } from '../statistics.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { endProviderJob } from '../../src/tasks/jobs/job-ends.ts';
import { reserveSlot } from '../../src/tasks/jobs/slots.ts';

const limit = 8;
const provider = 'bench';
const sizes = [10, 1_000, 10_000] as const;
const quickSizes = [10, 20, 40] as const;
const targetMs = 5;

/**
 * Measures how the next task of the queue gets the slot of a job that has
 * ended, and how the last task of the queue is refused one.
 */
export async function* admissionRows(bench: Bench): Rows {
  const service = await benchService(bench, unreachableAddress);
  try {
    const { db } = service;
    const [account] = await benchAccounts(db, 1);
    if (account === undefined) throw new Error('no account');
    const { accountId } = account;
    const chosen = bench.quick ? quickSizes : sizes;
    const [fewest, some, most] = chosen.map((size) => size.toLocaleString('en'));
    const queues = [];
    for (const size of chosen) queues.push(await fillQueue(db, accountId, size));
    const [few, more, many] = queues;
    if (few === undefined || more === undefined || many === undefined) throw new Error('no queue');
    const turns = bench.quick ? 5 : admissionsInRound;
    const rounds = await interleaved(bench, {
      few: () => admit(db, accountId, few, turns),
      more: () => admit(db, accountId, more, turns),
      many: () => admit(db, accountId, many, turns),
    });
    for (const kind of ['next', 'last'] as const) {
      const ms = (name: keyof typeof rounds) => rounds[name].flatMap((round) => round[kind]);
      const shown = (name: keyof typeof rounds) =>
        `p50 ${showMs(median(ms(name)))}, p99 ${showMs(percentile(ms(name), 99))}`;
      const slowest = median(ms('many'));
      yield {
        what: kind === 'next' ? 'slot of a provider for the next waiting task' : 'request of the last waiting task',
        floor: `${fewest} wait: ${shown('few')}`,
        measured: `${some} wait: ${shown('more')}; ${most} wait: ${shown('many')}`,
        ratio: times(slowest / median(ms('few'))),
        target: `p50 ≤ ${targetMs} ms`,
        isReached: slowest <= targetMs,
      };
    }
  } finally {
    await service.close();
  }
}

/** A task with the ordinal of its next job. */
type Waiter = { readonly taskId: string; readonly ordinal: number };
type Queue = { readonly pool: string; readonly running: Waiter[]; readonly waiting: Waiter[] };

/** Fills every slot of the pool with a job, and queues `size` tasks. */
async function fillQueue(db: Database, accountId: string, size: number): Promise<Queue> {
  const pool = `${provider}/${size}`;
  const rows = await db.run<{ id: string }>(
    {
      name: 'bench-add-tasks',
      text: `
insert into tasks (id, account_id, model, price_name, param, credits_charged, request_sha256, deadline_ms, state)
select gen_random_uuid(), $1, 'm', 'standard', '{"model":"m","input":{}}', 1, sha256(n::text::bytea), 1800000, 'queuing' from generate_series(1, $2::int) n
returning id`,
    },
    [accountId, size + limit],
  );
  const tasks = rows.map(({ id }) => ({ taskId: id, ordinal: 1 }));
  const [running, waiting] = [tasks.slice(0, limit), tasks.slice(limit)];
  for (const task of running) await reserveSlot(db, { ...task, accountId, pool, provider, limit });
  await db.run(
    {
      name: 'bench-add-waits',
      text: `
insert into slot_waits (pool, task_id, account_id, ticket, due_at)
select $1, id, $2, ${limit} + n, now() + interval '1 hour' from unnest($3::uuid[]) with ordinality as waits (id, n)`,
    },
    [pool, accountId, waiting.map(({ taskId }) => taskId)],
  );
  await db.run({ name: 'bench-analyze', text: 'analyze' });
  return { pool, running, waiting };
}

type Times = { readonly next: readonly number[]; readonly last: readonly number[] };

const admissionsInRound = 50;

/**
 * Measures admissions. The task whose job has ended joins the queue again, so
 * that the length of the queue is constant.
 */
async function admit(
  db: Database,
  accountId: string,
  { pool, running, waiting }: Queue,
  turns: number,
): Promise<Times> {
  const measured: { next: number[]; last: number[] } = { next: [], last: [] };
  const measure = async (waiter: Waiter, wanted: 'granted' | 'full') => {
    const startedAt = performance.now();
    const { kind } = await reserveSlot(db, { ...waiter, accountId, pool, provider, limit });
    if (kind !== wanted) throw new Error(`${kind} instead of ${wanted}`);
    return performance.now() - startedAt;
  };
  for (let turn = 0; turn < turns; turn += 1) {
    const [ended, next] = [running.shift(), waiting.shift()];
    if (ended === undefined || next === undefined) throw new Error('the queue is empty');
    await endProviderJob(db, { ...ended, outcome: 'fail' });
    measured.next.push(await measure(next, 'granted'));
    running.push(next);
    const last = { ...ended, ordinal: ended.ordinal + 1 };
    measured.last.push(await measure(last, 'full'));
    waiting.push(last);
  }
  return measured;
}
