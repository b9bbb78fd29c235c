import type { Catalogue, CatalogueModel } from '../models/catalogue/models.ts';
import type { Database } from '../platform/database/database.ts';
import { many } from '../platform/database/statement.ts';
import { type CooldownReason, listProviderSwitches, type SetSwitch } from './provider-pools.ts';

// Customers learn about trouble with models from facts that were recorded, without the names of providers.

/**
 * `slow`: every provider of the model is busy. `unavailable`: none accepts tasks. `retryAt`, in Unix milliseconds, is the earliest next
 * attempt; undefined if only an operator ends the trouble.
 */
export type ModelTrouble = {
  readonly model: string;
  readonly title: string;
  readonly state: 'slow' | 'unavailable';
  readonly retryAt: number | undefined;
};

type TroubledPool = {
  readonly pool: string;
  readonly reason: CooldownReason;
  readonly coolingUntil: number;
};

/** After a cooldown, the breaker closes with the next accepted job; until then the pool is still in trouble. */
const listTroubledPools = many<TroubledPool>({
  name: 'list-troubled-pools',
  text: `
select pool, cooling_reason as reason, cooling_until as "coolingUntil" from provider_pools
where failures > 0 and cooling_until > now() - interval '10 minutes'`,
});

/** Lists the models that are in trouble at each of their providers. */
export async function listModelTroubles(
  db: Database,
  { models }: Pick<Catalogue, 'models'>,
): Promise<readonly ModelTrouble[]> {
  const [pools, switches] = await Promise.all([listTroubledPools(db), listProviderSwitches(db)]);
  return [...models.values()].flatMap((model) => troubleOf(model, pools, switches) ?? []);
}

function troubleOf(
  { model, title, tiers }: CatalogueModel,
  pools: readonly TroubledPool[],
  switches: readonly SetSwitch[],
): ModelTrouble | undefined {
  const entries = tiers.flat();
  const troubles = entries.map(({ pool, provider }) => {
    const isSwitchedOff = switches.some((one) => one.provider === provider && one.state !== 'enabled');
    return isSwitchedOff ? 'switched_off' : pools.find((one) => one.pool === pool);
  });
  if (entries.length === 0 || troubles.includes(undefined)) return undefined;
  const cooling = troubles.filter((trouble) => trouble !== undefined && trouble !== 'switched_off');
  const isBusy = cooling.some(({ reason }) => reason === 'busy');
  const attempts = cooling.map(({ coolingUntil }) => coolingUntil);
  return {
    model,
    title,
    state: isBusy ? 'slow' : 'unavailable',
    retryAt: attempts.length === 0 ? undefined : Math.min(...attempts),
  };
}
