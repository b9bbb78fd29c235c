import type { Actor } from '../../accounts/operators/actors-and-actions.ts';
import type { Database } from '../../platform/database/database.ts';
import { many, noRows, one } from '../../platform/database/declare-statements.ts';
import { jobStateTable, jobMayExistSql } from './job-states.ts';
import { changeWithAudit } from '../../accounts/operators/audit-log.ts';

// A pool is a provider with one of its models. It has a concurrency limit, and a circuit breaker whose cooldown grows with each failure
// in a row; `coolDown` in end-job-and-decide-next.ts has its times. The operator's switch is for the whole provider.

/** A reservation that is neither renewed nor used for a create within this time has expired. */
const lease = `interval '60 s'`;

/** Condition on a row of `provider_jobs` whose reservation is valid and was not used for a create. */
export const isReservedJobSql = `${jobStateTable.reserved.row} and outcome is null and reserved_at > now() - ${lease}`;

/** Condition on a row of `provider_jobs` whose job may still run upstream. */
export const jobMayStillRunSql = `settled_at is null and (${jobMayExistSql})`;

/** Condition on a row of `provider_jobs` that takes a slot. So do a create without a response and a job that may still run. */
export const takesSlotSql = `upstream_ended_at is null and ${jobMayStillRunSql}
    and (intended_at is not null or reserved_at > now() - ${lease})`;

export const cooldownReasons = ['busy', 'overloaded', 'unreachable', 'operator', 'unknown'] as const;
export type CooldownReason = (typeof cooldownReasons)[number];

export type PoolFailure = {
  readonly pool: string;
  readonly provider: string;
  readonly reason: CooldownReason;
  /** Length of the first cooldown; each further one is twice as long. */
  readonly baseMs: number;
  readonly maxMs: number;
  /** True for a reason that all models of the provider share, such as a rejected key. */
  readonly isOfProvider: boolean;
};

/** Starts a cooldown of the pool. Failures during a cooldown do not count. */
export const startCooldown = noRows<[failure: PoolFailure]>({
  name: 'record-pool-failure',
  text: `
update provider_pools set failures = failures + 1, cooling_reason = $4,
  cooling_until = now() + least($6::float8, $5::float8 * power(2, least(failures, 16))) * interval '1 millisecond'
where (pool = $1 or ($3 and provider = $2)) and (cooling_until is null or cooling_until <= now())`,
  values: (failure) => {
    const { pool, provider, isOfProvider, reason, baseMs, maxMs } = failure;
    return [pool, provider, isOfProvider, reason, baseMs, maxMs];
  },
});

/** Starts or extends a cooldown that ends when the operator has fixed the provider. */
export const holdPoolForOperator = noRows<[pool: string, provider: string, holdMs: number]>({
  name: 'hold-pool',
  text: `
insert into provider_pools (pool, provider, failures, cooling_until, cooling_reason)
values ($1, $2, 1, now() + $3::float8 * interval '1 millisecond', 'operator')
on conflict (pool) do update set failures = greatest(provider_pools.failures, 1), cooling_reason = 'operator',
  cooling_until = greatest(provider_pools.cooling_until, excluded.cooling_until)`,
});

/** Closes the circuit breaker, because the upstream has accepted a job. */
export const closeBreaker = noRows<[pool: string]>({
  name: 'close-breaker',
  text: `update provider_pools set failures = 0, cooling_until = null, cooling_reason = null where pool = $1 and failures > 0`,
});

/** Ends the pool's cooldown if it has one of these reasons. */
export const endCooldown = noRows<[pool: string, reasons: readonly CooldownReason[]]>({
  name: 'end-cooldown',
  text: `
update provider_pools set failures = 0, cooling_until = null, cooling_reason = null
where pool = $1 and cooling_reason = any($2)`,
});

/** `draining` creates no job; `off` sends no request at all, not even about running jobs. */
export const providerSwitchPositions = ['enabled', 'draining', 'off'] as const;
export type ProviderSwitchPosition = (typeof providerSwitchPositions)[number];

type Switching = { readonly provider: string; readonly state: ProviderSwitchPosition; readonly reason: string };

const writeSwitch = one<{ before: ProviderSwitchPosition; cleared: boolean }, [set: Switching, who: string]>({
  name: 'set-provider-switch',
  text: `
with before as (select state from provider_switches where provider = $1),
written as (
  insert into provider_switches (provider, state, reason, who) values ($1, $2, $3, $4)
  on conflict (provider) do update set state = $2, reason = $3, who = $4, changed_at = now()
  where provider_switches.state <> $2
), cleared as (
  update provider_pools set failures = 0, cooling_until = null, cooling_reason = null
  where provider = $1 and $2 = 'enabled' and failures > 0 returning pool
)
select coalesce((select state from before), 'enabled') as before, exists (select from cleared) as cleared`,
  values: ({ provider, state, reason }, who) => [provider, state, reason, who],
});

/** Sets the operator's switch. Enabling a provider ends its cooldowns. The audit log records changes only. */
export async function setProviderSwitchAs(db: Database, actor: Actor, set: Switching): Promise<void> {
  await changeWithAudit(db, actor, async (transaction) => {
    const { before, cleared } = await writeSwitch(transaction, set, actor.name);
    const { provider, state, reason } = set;
    if (before === state && !cleared) return { answer: undefined };
    return { answer: undefined, done: { action: 'providers.set', details: { provider, state, before, reason } } };
  });
}

export type StoredSwitch = {
  readonly provider: string;
  readonly state: ProviderSwitchPosition;
  readonly reason: string;
  readonly who: string;
  /** Unix milliseconds. */
  readonly changedAt: number;
};

/** Lists the providers whose switch was ever set; the others are enabled. */
export const listProviderSwitches = many<StoredSwitch>({
  name: 'list-provider-switches',
  text: `select provider, state, reason, who, changed_at as "changedAt" from provider_switches order by provider`,
});

/** A pool for operators. A pool has a row from the first request for a slot on. */
export type PoolState = {
  readonly pool: string;
  readonly provider: string;
  readonly failures: number;
  readonly coolingReason: CooldownReason | undefined;
  /** Remaining cooldown; undefined or 0 without one. */
  readonly coolingMs: number | undefined;
  readonly occupying: number;
  readonly unanswered: number;
  readonly waiting: number;
  readonly oldestWaitMs: number | undefined;
};

export const listPools = many<PoolState>({
  name: 'list-provider-pools',
  text: `
select pool, provider, failures, cooling_reason as "coolingReason",
  greatest(0, extract(epoch from cooling_until - now()) * 1000)::bigint as "coolingMs", taken.slots as occupying, taken.unanswered,
  waiting.tasks as waiting, (extract(epoch from now() - waiting.since) * 1000)::bigint as "oldestWaitMs"
from provider_pools p
cross join lateral (
  select count(*)::int as slots, count(*) filter (where intended_at is not null and job_id is null)::int as unanswered
  from provider_jobs j
  where j.pool = p.pool and ${takesSlotSql}
) taken
cross join lateral (
  select count(*)::int as tasks, min(queued_at) as since from slot_waits w where w.pool = p.pool
) waiting
order by pool`,
});
