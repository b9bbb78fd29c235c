import { type Database, readRow } from './database.ts';
import { type ProviderSwitch, stillWaits, type StrikeReason, takesPlace } from './provider-pools.ts';

// A pool has a limit of jobs at the same time, over all workers. What takes a place is the job's own row, so no crash of ours can
// overbook an upstream. Tasks that find no place wait in order, accounts in rotation, and ask again.

export type PlaceRequest = {
  readonly taskId: string;
  /** Of the row that holds the place; one whose call was not made is used again. */
  readonly ordinal: number;
  readonly accountId: string;
  readonly pool: string;
  readonly provider: string;
  readonly limit: number;
};

export type Admission =
  /** The place is reserved for a minute. */
  | { readonly kind: 'granted' }
  | { readonly kind: 'full'; readonly ahead: number; readonly againInMs: number }
  /** The pool has failed; or one task tries whether it works again, and the others wait for that. */
  | { readonly kind: 'cooling'; readonly reason: StrikeReason | undefined; readonly againInMs: number }
  | {
      readonly kind: 'switched_off';
      readonly state: Exclude<ProviderSwitch, 'enabled'>;
      readonly againInMs: number;
    };

type LockedPool = {
  readonly switch: ProviderSwitch;
  readonly strikes: number;
  readonly reason: StrikeReason | undefined;
  readonly coolingMs: number | undefined;
};

// The lock makes admissions to one pool follow each other. Only a later statement sees what the one before has committed.
const lockPool = {
  name: 'lock-pool',
  text: `
select coalesce(s.state, 'enabled') as switch, strikes, cooling_reason as reason,
  ceil(extract(epoch from cooling_until - clock_timestamp()) * 1000)::bigint as "coolingMs"
from provider_pools p left join provider_switches s on s.provider = p.provider
where pool = $1 for no key update of p`,
};

const selectProbe = {
  name: 'find-probe',
  text: `
select from provider_jobs
where pool = $1 and (task_id, ordinal) <> ($2, $3) and submitted_at is null and outcome is null
  and reserved_at >= (select cooling_until from provider_pools where pool = $1) and ${takesPlace}
limit 1`,
};

const insertPool = {
  name: 'insert-pool',
  text: `insert into provider_pools (pool, provider) values ($1, $2) on conflict do nothing`,
};

// An account comes the later, the more places it holds and the more of its tasks wait in front.
const admit = {
  name: 'admit-to-pool',
  text: `
with occupying as materialized (
  select account_id from provider_jobs where pool = $3 and (task_id, ordinal) <> ($1, $2) and ${takesPlace}
), held as (
  select account_id, count(*) as places from occupying group by account_id
), waiting as (
  select task_id, account_id, asked_at from place_waits w
  where pool = $3 and task_id <> $1 and ${stillWaits}
    and exists (select from tasks t where t.id = w.task_id and t.state not in ('success', 'fail'))
  union all
  select $1, $5, coalesce((select asked_at from place_waits where pool = $3 and task_id = $1), now())
), turns as (
  select task_id, asked_at,
    coalesce(places, 0) + row_number() over (partition by account_id order by asked_at, task_id) as turn
  from waiting left join held using (account_id)
), ahead as (
  select count(*)::int as tasks from turns, turns as own
  where own.task_id = $1 and (turns.turn, turns.asked_at, turns.task_id) < (own.turn, own.asked_at, own.task_id)
), free as (
  select $6 - count(*)::int as places from occupying
), reserved as (
  insert into provider_jobs (task_id, ordinal, provider, pool, account_id, intended_at, reserved_at)
  select $1, $2, $4, $3, $5, null, now() from ahead, free where ahead.tasks < free.places
  on conflict (task_id, ordinal) do update set reserved_at = now(), provider = excluded.provider, pool = excluded.pool
    where provider_jobs.intended_at is null and provider_jobs.outcome is null
  returning task_id
), gone as (
  delete from place_waits where task_id = $1 and exists (select from reserved)
), waits as (
  insert into place_waits (task_id, pool, account_id, due_at)
  select $1, $3, $5, now() + least(120, 2 * (1 + ahead.tasks / greatest($6, 1))) * interval '1 s' from ahead
  where not exists (select from reserved)
  on conflict (pool, task_id) do update set due_at = excluded.due_at
  returning due_at
)
select exists (select from reserved) as "hasPlace", ahead.tasks as ahead,
  (extract(epoch from (select due_at from waits) - now()) * 1000)::bigint as "againInMs"
from ahead`,
};

type Admitted = { readonly hasPlace: boolean; readonly ahead: number; readonly againInMs: number | undefined };

/** How long tasks wait for the one that tries the pool after a failure. */
const probeMs = 5_000;
const switchedOffMs = 30_000;

// A task that waits for a failed pool keeps its turn, and asks again soon: the pool may be back before its cooldown is over. The
// more tasks wait, the less often each asks, for all of them to ask twenty times a second at most.
const waitForPool = {
  name: 'wait-for-pool',
  text: `
insert into place_waits (task_id, pool, account_id, due_at)
select $1, $2, $3, now() + least($4::float8, greatest(5000, (
  select count(*) * 50 from place_waits w where pool = $2 and ${stillWaits}
))) * interval '1 millisecond'
on conflict (pool, task_id) do update set due_at = excluded.due_at
returning ceil(extract(epoch from due_at - now()) * 1000)::bigint as "againInMs"`,
};

/** Reserves a place in the pool for a job of the task, or tells why there is none and when to ask again. */
export async function reservePlace(db: Database, request: PlaceRequest): Promise<Admission> {
  const { taskId, ordinal, accountId, pool, provider, limit } = request;
  return db.transaction(async (run) => {
    const { switch: state, strikes, reason, coolingMs = 0 } = await lockedPool(run, request);
    const againInMs = async (mostMs: number) => {
      const row = await readRow<{ againInMs: number }>({ run }, waitForPool, [taskId, pool, accountId, mostMs]);
      return row?.againInMs ?? mostMs;
    };
    if (state !== 'enabled') return { kind: 'switched_off', state, againInMs: await againInMs(switchedOffMs) };
    if (coolingMs > 0) return { kind: 'cooling', reason, againInMs: await againInMs(coolingMs) };
    const isProbed = strikes > 0 && (await run(selectProbe, [pool, taskId, ordinal])).length > 0;
    if (isProbed) return { kind: 'cooling', reason, againInMs: await againInMs(probeMs) };
    const admitted = await readRow<Admitted>({ run }, admit, [taskId, ordinal, pool, provider, accountId, limit]);
    if (admitted?.hasPlace === true) return { kind: 'granted' };
    return { kind: 'full', ahead: admitted?.ahead ?? 0, againInMs: admitted?.againInMs ?? 0 };
  });
}

async function lockedPool(run: Database['run'], { pool, provider }: PlaceRequest): Promise<LockedPool> {
  const lock = () => readRow<LockedPool>({ run }, lockPool, [pool]);
  const known = await lock();
  if (known !== undefined) return known;
  await run(insertPool, [pool, provider]);
  const made = await lock();
  if (made === undefined) throw new Error(`pool ${pool} is gone`);
  return made;
}

const sweep = {
  name: 'sweep-places',
  text: `
with lapsed as (
  update provider_jobs j set outcome = 'not_created', ended_at = now() from (
    select task_id, ordinal from provider_jobs
    where pool is not null and upstream_ended_at is null and settled_at is null and (outcome is null or outcome = 'abandoned')
      and intended_at is null and exists (select from tasks where id = task_id and state in ('success', 'fail'))
    limit $1
  ) one
  where j.task_id = one.task_id and j.ordinal = one.ordinal and j.intended_at is null and j.outcome is null
)
delete from place_waits w using (
  select task_id, pool from place_waits
  where due_at < now() - interval '10 minutes'
    and exists (select from tasks where id = task_id and state in ('success', 'fail'))
  order by due_at limit $1
) one
where w.task_id = one.task_id and w.pool = one.pool`,
};

/** Tidies up what tasks that have ended left: reservations without a call, and waits for a place; a bounded number. */
export async function sweepPlaces(db: Database, limit: number): Promise<void> {
  await db.run(sweep, [limit]);
}
