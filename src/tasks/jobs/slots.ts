import type { Database } from '../../platform/database/database.ts';
import { maybeOne, noRows, one } from '../../platform/database/declare-statements.ts';
import {
  isReservedJobSql,
  type ProviderSwitchPosition,
  type CooldownReason,
  jobMayStillRunSql,
  takesSlotSql,
} from './provider-pools-and-switches.ts';
import type { JobRowKey } from './provider-jobs.ts';
import { finishedTaskSql } from '../../catalogue/tasks/task-state-sql.ts';

// A pool has a limit of jobs at the same time, over all workers. The job's own row in `provider_jobs` takes the slot, so no crash of
// ours can overbook an upstream. Tasks without a slot wait in `slot_waits` and repeat their request:
//
// - Each request of an account that joins the queue gets the account's next ticket. The lowest ticket is next, so accounts alternate and
//   an account's own tasks keep their order. A newcomer starts at the ticket that the pool has reached.
// - A task that was declined by the upstream goes behind the next task of its account, so that one bad request does not block the queue.
// - A free slot is offered to the first task of the queue. If it does not repeat its request in time, the slot is offered to the next.

/** A job's row whose create was not sent is used again. */
export type SlotRequest = JobRowKey & {
  readonly accountId: string;
  readonly pool: string;
  readonly provider: string;
  readonly limit: number;
};

export type Admission =
  /** The slot is leased for a minute, and for longer while the attempt is alive. */
  | { readonly kind: 'granted' }
  | { readonly kind: 'full'; readonly againInMs: number }
  /** The circuit breaker is open; or it is half open, and another task tries whether the upstream works again. */
  | { readonly kind: 'cooling'; readonly reason: CooldownReason | undefined; readonly againInMs: number }
  | {
      readonly kind: 'switched_off';
      readonly state: Exclude<ProviderSwitchPosition, 'enabled'>;
      readonly againInMs: number;
    };

type LockedPool = {
  readonly switch: ProviderSwitchPosition;
  readonly failures: number;
  readonly reason: CooldownReason | undefined;
  readonly coolingMs: number | undefined;
};

// The lock serializes the admissions to a pool. Only a later statement reads what the previous admission has committed.
const lockPool = maybeOne<LockedPool, [pool: string]>({
  name: 'lock-pool',
  text: `
select coalesce(s.state, 'enabled') as switch, failures, cooling_reason as reason,
  ceil(extract(epoch from cooling_until - clock_timestamp()) * 1000)::bigint as "coolingMs"
from provider_pools p left join provider_switches s on s.provider = p.provider
where pool = $1 for no key update of p`,
});

const insertPool = noRows<[pool: string, provider: string]>({
  name: 'insert-pool',
  text: `insert into provider_pools (pool, provider) values ($1, $2) on conflict do nothing`,
});

/** A task repeats its request after two seconds, and later the more tasks are in front of it. */
const [minPauseSeconds, maxPauseSeconds] = [2, 120];
/** At this position in front of each slot the longest pause is reached, so no more rows are counted. */
const countedPerSlot = maxPauseSeconds / minPauseSeconds;
/** The interval at which the first tasks of the queue check whether a pool that takes no job takes jobs again. */
const closedPauseSeconds = 5;
const offerTime = `interval '15 s'`;
/** A task overdue by this much is assumed to wait for another provider. Longer than a restart of all workers, which must not change the order. */
const absence = `interval '5 minutes'`;

// $7 is how many of the slots the circuit breaker and the operator's switch allow to be taken now. No part reads more rows than the
// pool has slots, or a fixed number for each slot, however many tasks wait. A repeated attempt keeps its valid reservation.
const admit = one<Admitted, readonly unknown[]>({
  name: 'admit-to-pool',
  text: `
with taken as (
  select count(*)::int as slots, max(ticket) filter (where account_id = $5) as ticket,
    count(*) filter (where submitted_at is null and outcome is null and reserved_at >= (
      select cooling_until from provider_pools where pool = $3
    )) as probes
  from provider_jobs where pool = $3 and (task_id, ordinal) <> ($1, $2) and ${takesSlotSql}
), own as materialized (
  select coalesce(
    (select ticket from slot_waits where pool = $3 and task_id = $1),
    (select case when outcome is null then ticket else ticket + 1 end from provider_jobs
      where task_id = $1 and pool = $3 and (outcome is null or outcome = 'not_created') order by ordinal desc limit 1),
    greatest(
      (select ticket from provider_pools where pool = $3),
      (select ticket + 1 from taken),
      (select max(ticket) + 1 from slot_waits where pool = $3 and account_id = $5)
    )
  ) as ticket, coalesce((select queued_at from slot_waits where pool = $3 and task_id = $1), now()) as queued_at
), ahead as materialized (
  select task_id, ticket, queued_at from slot_waits
  where pool = $3 and (ticket, queued_at, task_id) < ((select ticket from own), (select queued_at from own), $1)
    and (offered_until is null or offered_until > now()) and due_at > now() - ${absence}
  order by ticket, queued_at, task_id limit $6 * ${countedPerSlot}
), queue as (
  select greatest(0, least($6 - slots, $7 - probes)) as free, case when exists (
    select from provider_jobs where task_id = $1 and ordinal = $2 and pool = $3 and ${isReservedJobSql}
  ) then 0 else (select count(*)::int from ahead) end as ahead from taken
), reserved as (
  insert into provider_jobs (task_id, ordinal, provider, pool, account_id, reserved_at, ticket)
  select $1, $2, $4, $3, $5, now(), ticket from own, queue where ahead < free
  on conflict (task_id, ordinal) do update
    set reserved_at = now(), provider = excluded.provider, pool = excluded.pool, ticket = excluded.ticket
    where provider_jobs.intended_at is null and provider_jobs.outcome is null
  returning ticket
), reached as (
  update provider_pools set ticket = greatest(provider_pools.ticket, reserved.ticket, (
    select ticket from slot_waits where pool = $3 and task_id <> $1 order by ticket, queued_at, task_id limit 1
  )) from reserved where pool = $3
), offered as (
  update slot_waits set offered_until = greatest(due_at, now()) + ${offerTime}
  where pool = $3 and offered_until is null
    and task_id in (select task_id from ahead order by ticket, queued_at, task_id limit (select free from queue))
), left_queues as (
  delete from slot_waits where (pool, task_id) in (select pool, task_id from slot_waits where task_id = $1 for update skip locked)
    and exists (select from reserved)
), waits as (
  insert into slot_waits (pool, task_id, account_id, ticket, queued_at, due_at)
  select $3, $1, $5, ticket, queued_at,
    now() + least(${maxPauseSeconds}, greatest($8::int, ${minPauseSeconds} * (1 + ahead / $6))) * interval '1 s'
  from own, queue where not exists (select from reserved)
  on conflict (pool, task_id) do update set due_at = excluded.due_at, offered_until = null
  returning due_at
)
select exists (select from reserved) as "hasSlot", probes > 0 as "isProbed",
  (extract(epoch from (select due_at from waits) - now()) * 1000)::bigint as "againInMs"
from taken`,
});

type Admitted = { readonly hasSlot: boolean; readonly isProbed: boolean; readonly againInMs: number | undefined };

/** Leases a slot of the pool for a job of the task, or returns why there is none and when to repeat the request. */
export async function reserveSlot(db: Database, request: SlotRequest): Promise<Admission> {
  const { taskId, ordinal, accountId, pool, provider, limit } = request;
  return db.transaction(async (run) => {
    const { switch: state, failures, reason, coolingMs = 0 } = await lockedPool({ run }, request);
    const isOpen = state === 'enabled' && coolingMs <= 0;
    // After a cooldown the breaker is half open: one task tries the upstream.
    const allowed = isOpen ? (failures > 0 ? 1 : limit) : 0;
    const pauseSeconds = allowed < limit ? closedPauseSeconds : minPauseSeconds;
    const values = [taskId, ordinal, pool, provider, accountId, limit, allowed, pauseSeconds];
    const { hasSlot, isProbed, againInMs = 0 } = await admit({ run }, ...values);
    if (hasSlot) return { kind: 'granted' };
    if (state !== 'enabled') return { kind: 'switched_off', state, againInMs };
    if (!isOpen || isProbed) return { kind: 'cooling', reason, againInMs };
    return { kind: 'full', againInMs };
  });
}

async function lockedPool(db: Pick<Database, 'run'>, { pool, provider }: SlotRequest): Promise<LockedPool> {
  const known = await lockPool(db, pool);
  if (known !== undefined) return known;
  await insertPool(db, pool, provider);
  const made = await lockPool(db, pool);
  if (made === undefined) throw new Error(`pool ${pool} not found after its creation`);
  return made;
}

/** Removes reservations of ended tasks, and waits of tasks that have ended or wait elsewhere; a bounded number. */
export const sweepSlots = noRows<[limit: number]>({
  name: 'sweep-slots',
  text: `
with expired as (
  update provider_jobs j set outcome = 'not_created', ended_at = now() from (
    select task_id, ordinal from provider_jobs
    where pool is not null and upstream_ended_at is null and ${jobMayStillRunSql}
      and intended_at is null and exists (select from tasks where id = task_id and ${finishedTaskSql})
    limit $1
  ) one
  where j.task_id = one.task_id and j.ordinal = one.ordinal and j.intended_at is null and j.outcome is null
)
delete from slot_waits w using (
  select task_id, pool from slot_waits
  where queued_at < now() - interval '10 minutes' and (due_at < now() - interval '1 hour'
    or exists (select from tasks where id = task_id and ${finishedTaskSql}))
  order by queued_at limit $1
) one
where w.task_id = one.task_id and w.pool = one.pool`,
});
