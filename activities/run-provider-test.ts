import { Context } from '@temporalio/activity';
import type { ProviderTestReport } from '../src/catalogue/providers/provider-test-outcome.ts';
import type { CatalogueModel } from '../src/catalogue/file/catalogue-schema-and-types.ts';
import type { ProviderTester } from '../src/providers/open-providers.ts';

export type ProviderTestDeps = {
  readonly models: () => ReadonlyMap<string, CatalogueModel>;
  readonly testProvider: ProviderTester;
};

/** Tests a provider with one request that costs nothing. Only workers have the keys of providers. */
export function createProviderTestActivity(deps: ProviderTestDeps) {
  return async ({ provider }: { readonly provider: string }): Promise<ProviderTestReport> => {
    const entries = [...deps.models().values()].flatMap(({ tiers }) => tiers.flat());
    const entry = entries.find((one) => one.provider === provider);
    if (entry === undefined) return { outcome: 'not_tested', detail: 'no model of the catalogue uses it' };
    return await deps.testProvider(entry, Context.current().cancellationSignal);
  };
}
