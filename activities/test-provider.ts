import { Context } from '@temporalio/activity';
import type { ProviderTest } from '../src/tasks/ports.ts';
import type { ActivityDeps } from './deps.ts';

/** Tests a provider with one request that costs nothing. Only workers have the keys of providers. */
export function createTestProvider(deps: ActivityDeps) {
  return async ({ provider }: { readonly provider: string }): Promise<ProviderTest> => {
    const entries = [...deps.models.values()].flatMap(({ tiers }) => tiers.flat());
    const entry = entries.find((one) => one.provider === provider);
    if (entry === undefined) return { outcome: 'not_tested', detail: 'no model of the catalogue uses it' };
    return await deps.testProvider(entry, Context.current().cancellationSignal);
  };
}
