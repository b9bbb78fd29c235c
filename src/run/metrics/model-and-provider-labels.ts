import type { Catalogue } from '../../catalogue/file/catalogue-schema-and-types.ts';
import type { EndedJob } from '../../tasks/jobs/job-ends.ts';

/** Stands for all names that have left the catalogue, which bounds the number of series. No name in the catalogue has parentheses. */
export const removedLabel = '(removed)';

/** Labels for the names in events. */
export type NameLabels = ReturnType<typeof createNameLabels>;

export function createNameLabels(catalogue: () => Pick<Catalogue, 'models' | 'providers'>) {
  return {
    model: (name: string) => (catalogue().models.has(name) ? name : removedLabel),
    provider: (name: string) => (catalogue().providers.has(name) ? name : removedLabel),
    job: ({ provider, pool }: Pick<EndedJob, 'provider' | 'pool'>) => {
      const entries = [...catalogue().models.values()].flatMap(({ tiers }) => tiers.flat());
      const entry = entries.find((one) => one.pool === pool);
      return entry === undefined
        ? { provider: removedLabel, model: removedLabel }
        : { provider, model: entry.upstreamModel };
    },
  };
}
