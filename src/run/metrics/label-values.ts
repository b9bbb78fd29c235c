import type { Catalogue } from '../../catalogue/file/catalogue-schema.ts';
import type { EndedJob } from '../../tasks/jobs/job-ends.ts';

/**
 * Stands for all names that have left the catalogue, which bounds the number of
 * series. No name in the catalogue has parentheses.
 */
export const removed = '(removed)';

/** Labels for the names in events. */
export type Names = ReturnType<typeof namesOf>;

export function namesOf(catalogue: () => Pick<Catalogue, 'models' | 'providers'>) {
  return {
    model: (name: string) => (catalogue().models.has(name) ? name : removed),
    provider: (name: string) => (catalogue().providers.has(name) ? name : removed),
    job: ({ provider, pool }: Pick<EndedJob, 'provider' | 'pool'>) => {
      const entries = [...catalogue().models.values()].flatMap(({ tiers }) => tiers.flat());
      const entry = entries.find((one) => one.pool === pool);
      return entry === undefined ? { provider: removed, model: removed } : { provider, model: entry.upstreamModel };
    },
  };
}
