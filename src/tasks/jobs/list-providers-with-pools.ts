import type { Catalogue } from '../../catalogue/file/catalogue-schema-and-types.ts';
import type { Database } from '../../platform/database/database.ts';
import { listPools, listProviderSwitches } from './provider-pools-and-switches.ts';

/** A provider with its pools. `providerSchema` explains the fields. */
export type ProviderStatus = Awaited<ReturnType<typeof readProviderStatuses>>[number];

/** Every provider of the catalogue, and those that have left it and were switched, or have jobs. */
export async function readProviderStatuses(db: Database, catalogue: Catalogue) {
  const [switches, states] = await Promise.all([listProviderSwitches(db), listPools(db)]);
  const limits = new Map<string, { readonly provider: string; readonly limit: number }>();
  for (const { tiers } of catalogue.models.values()) {
    for (const { pool, provider, limit } of tiers.flat()) limits.set(pool, { provider, limit });
  }
  const providerOf = new Map([
    ...states.map(({ pool, provider }) => [pool, provider] as const),
    ...[...limits].map(([pool, { provider }]) => [pool, provider] as const),
  ]);
  const names = new Set([
    ...catalogue.providers.keys(),
    ...switches.map((one) => one.provider),
    ...providerOf.values(),
  ]);
  return [...names].toSorted().map((provider) => {
    const settings = catalogue.providers.get(provider);
    const isRemote = settings !== undefined && settings.kind !== 'preview';
    const set = switches.find((one) => one.provider === provider);
    const pools = [...providerOf].filter(([, owner]) => owner === provider).map(([pool]) => pool);
    return {
      provider,
      kind: settings?.kind ?? null,
      origin: isRemote ? new URL(settings.baseUrl).origin : null,
      state: set?.state ?? ('enabled' as const),
      reason: set?.reason ?? null,
      who: set?.who ?? null,
      changeTime: set?.changedAt ?? null,
      pools: pools.toSorted().map((pool) => {
        const state = states.find((one) => one.pool === pool);
        return {
          pool,
          limit: limits.get(pool)?.limit ?? null,
          occupying: state?.occupying ?? 0,
          unanswered: state?.unanswered ?? 0,
          waiting: state?.waiting ?? 0,
          oldestWaitMs: state?.oldestWaitMs ?? null,
          consecutiveFailures: state?.failures ?? 0,
          coolingReason: state?.coolingReason ?? null,
          coolingMs: (state?.coolingMs ?? 0) > 0 ? (state?.coolingMs ?? null) : null,
        };
      }),
    };
  });
}
