import type { Catalogue, CatalogueModel } from '../../catalogue/file/catalogue-schema-and-types.ts';
import type { Database } from '../../platform/database/database.ts';
import { many } from '../../platform/database/declare-statements.ts';
import { rejectedCodes } from '../../catalogue/tasks/fail-codes-and-outcomes.ts';
import { type CooldownReason, listProviderSwitches, type StoredSwitch } from './provider-pools-and-switches.ts';

// Customers learn about trouble with models from facts that were recorded, without the names of providers.

/**
 * `slow`: every provider of the model is busy. `unavailable`: none accepts tasks. `failing`: most of its last jobs failed.
 * Times are Unix milliseconds. `retryAt` is the earliest next attempt, and `endsAt` an estimate of the end: when the service probably
 * accepts jobs again and the tasks that wait have begun. Undefined: unknown, as when only an operator ends the trouble.
 */
export type ModelTrouble = {
  readonly model: string;
  readonly title: string;
  readonly state: 'slow' | 'unavailable' | 'failing';
  readonly retryAt: number | undefined;
  readonly endsAt: number | undefined;
};

type Cooling = { readonly reason: CooldownReason; readonly until: number };

/** The circuit breaker, the last jobs and the queue of a pool. */
type PoolHealth = {
  readonly pool: string;
  /** Undefined while the breaker is closed. */
  readonly cooling: Cooling | undefined;
  /** Jobs that ended lately, by success or because of the provider. */
  readonly ended: number;
  readonly failed: number;
  /** From the first of these jobs until now. */
  readonly endedInMs: number | undefined;
  readonly waiting: number;
};

const [maxJobs, maxWaiting] = [100, 1_000];

// After a cooldown, the breaker closes with the next accepted job; until then the pool is still in trouble. Reservations that no create
// used, and jobs that were abandoned, for example because the client cancelled the task, are no failures of the provider.
const readPoolHealth = many<PoolHealth, [pools: readonly string[]]>({
  name: 'read-pool-health',
  text: `
select named.pool, ended.jobs as ended, ended.failed, ended.ms as "endedInMs", waiting.tasks as waiting,
  case when failures > 0 and cooling_until > now() - interval '10 minutes' then json_build_object(
    'reason', cooling_reason, 'until', floor(extract(epoch from cooling_until) * 1000)
  ) end as cooling
from unnest($1::text[]) named (pool)
left join provider_pools p on p.pool = named.pool
cross join lateral (
  select count(*)::int as jobs, count(*) filter (where outcome in ('fail', 'not_created'))::int as failed,
    (extract(epoch from now() - min(ended_at)) * 1000)::float8 as ms
  from (
    select outcome, fail_code, ended_at, intended_at from provider_jobs j
    where j.pool = named.pool and ended_at > now() - interval '15 minutes' order by ended_at desc limit ${maxJobs}
  ) last
  where intended_at is not null and (outcome in ('success', 'late_success', 'not_created')
    or (outcome = 'fail' and coalesce(fail_code, '') <> all ($2)))
) ended
cross join lateral (
  select count(*)::int as tasks from (
    select from slot_waits w where w.pool = named.pool limit ${maxWaiting}
  ) first
) waiting`,
  values: (pools) => [pools, rejectedCodes],
});

/** Lists the models that are in trouble at each of their providers, and those whose jobs fail much. */
export async function listModelTroubles(
  db: Database,
  { models }: Pick<Catalogue, 'models'>,
): Promise<readonly ModelTrouble[]> {
  const pools = new Set([...models.values()].flatMap(({ tiers }) => tiers.flat().map(({ pool }) => pool)));
  const [health, switches] = await Promise.all([readPoolHealth(db, [...pools]), listProviderSwitches(db)]);
  return [...models.values()].flatMap((model) => troubleOf(model, health, switches) ?? []);
}

function troubleOf(
  { model, title, tiers }: CatalogueModel,
  health: readonly PoolHealth[],
  switches: readonly StoredSwitch[],
): ModelTrouble | undefined {
  const entries = tiers.flat();
  const isEnabled = (provider: string) => switches.every((one) => one.provider !== provider || one.state === 'enabled');
  const names = entries.filter(({ provider }) => isEnabled(provider)).map(({ pool }) => pool);
  const pools = health.filter(({ pool }) => names.includes(pool));
  if (entries.length === 0) return undefined;
  const cooling = pools.flatMap((one) => (one.cooling === undefined ? [] : { ...one, cooling: one.cooling }));
  if (cooling.length < pools.length) {
    return failsMuch(pools) ? { model, title, state: 'failing', retryAt: undefined, endsAt: undefined } : undefined;
  }
  const [next] = cooling.toSorted((one, other) => one.cooling.until - other.cooling.until);
  return {
    model,
    title,
    state: cooling.some(({ cooling: { reason } }) => reason === 'busy') ? 'slow' : 'unavailable',
    retryAt: next?.cooling.until,
    endsAt: next && estimatedEnd(next, next.cooling),
  };
}

/** The failures of fewer jobs may be chance. */
const minJobs = 5;

/**
 * True if more than half of the last jobs failed. With a second provider that
 * works, the failures of the first are at most half, and the tasks succeed.
 */
function failsMuch(pools: readonly PoolHealth[]): boolean {
  const sum = (of: 'ended' | 'failed') => pools.reduce((total, pool) => total + pool[of], 0);
  return sum('ended') >= minJobs && sum('failed') > sum('ended') / 2;
}

/**
 * The next attempt is the estimate of when the provider is back: it follows the provider's `Retry-After`, or a cooldown that has doubled
 * with each failure and so is about as long as the trouble has lasted. The tasks that wait begin after it, at the pace of the last jobs.
 */
function estimatedEnd({ waiting, ended, failed, endedInMs = 0 }: PoolHealth, { reason, until }: Cooling) {
  if (reason === 'operator' || waiting >= maxWaiting) return undefined;
  const succeeded = ended - failed;
  const perTaskMs = succeeded === 0 ? 0 : endedInMs / succeeded;
  return Math.round(Math.max(until, Date.now()) + waiting * perTaskMs);
}
