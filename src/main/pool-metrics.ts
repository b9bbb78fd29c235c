import { Gauge } from 'prom-client';
import type { Catalogue } from '../domain/catalogue/models.ts';
import { type PresentedProvider, presentProviders } from '../http/presenters/provider.ts';
import type { Metrics } from '../metrics.ts';
import type { Database } from '../stores/database.ts';
import { providerStates } from '../stores/provider-pools.ts';

/**
 * What all workers together know of the upstreams of the catalogue, read from the database at each scrape; the last known state
 * while that is unavailable. Providers and models that have left the catalogue are left out, which bounds the labels.
 */
export function exportPoolMetrics({ registry }: Metrics, db: Database, catalogue: () => Catalogue): void {
  const registers = [registry];
  let reading: Promise<readonly PresentedProvider[] | undefined> | undefined;
  const readAll = async () => {
    const all = await presentProviders(db, catalogue());
    return all.filter(({ origin }) => origin !== null);
  };
  // The gauges of one scrape share what is read.
  const read = () =>
    (reading ??= readAll()
      .catch(() => undefined)
      .finally(() => (reading = undefined)));
  type Pool = PresentedProvider['pools'][number];
  const ofPools = (name: string, help: string, valueOf: (pool: Pool) => number) => {
    const gauge: Gauge<'provider' | 'model'> = new Gauge({
      name: `videogen_provider_${name}`,
      help,
      labelNames: ['provider', 'model'],
      registers,
      collect: async () => {
        const providers = await read();
        if (providers === undefined) return;
        gauge.reset();
        for (const { provider, pools } of providers) {
          for (const pool of pools) {
            if (pool.limit === null) continue;
            gauge.set({ provider, model: pool.pool.slice(provider.length + 1) }, valueOf(pool));
          }
        }
      },
    });
  };
  ofPools('places', 'Jobs that the catalogue allows at the same time', ({ limit }) => limit ?? 0);
  ofPools('places_taken', 'Jobs that run, or may run because their answer was lost', ({ occupying }) => occupying);
  ofPools('tasks_waiting', 'Tasks that wait for a place', ({ waiting }) => waiting);
  const longest = 'How long the first of the tasks that wait for a place has waited';
  ofPools('longest_wait_seconds', longest, ({ oldestWaitMs }) => (oldestWaitMs ?? 0) / 1000);
  const cooldown = 'For how long no task is given to it after its failures; 0 when it works';
  ofPools('cooldown_seconds', cooldown, ({ coolingMs }) => (coolingMs ?? 0) / 1000);
  const switches = new Gauge({
    name: 'videogen_provider_switch',
    help: 'What the operator has set: 1 for the state in force, 0 for the others',
    labelNames: ['provider', 'state'] as const,
    registers,
    collect: async () => {
      const providers = await read();
      if (providers === undefined) return;
      switches.reset();
      for (const { provider, state } of providers)
        for (const each of providerStates) switches.set({ provider, state: each }, each === state ? 1 : 0);
    },
  });
}
