import type { z } from 'zod';
import { defaultModels } from '../models.ts';
import { inputLimits } from '../task-input.ts';
import { type Fault, check, fieldOf, fieldsOf } from './faults.ts';
import { type Catalogue, type CatalogueModel, catalogueSchema, type TierEntry } from './models.ts';
import { knownRules, previewProvider, type ProviderSettings, type Lookups } from './providers.ts';
import { contradictionIn, effectiveRules } from './rules.ts';

// From the data of a catalogue file to the catalogue.

export type Resolved = { readonly faults: readonly Fault[]; readonly catalogue?: Omit<Catalogue, 'files'> };

export function resolveCatalogue(data: unknown, checks: Omit<Lookups, 'kinds'>): Resolved {
  const declared = fieldsOf(fieldOf(data, 'providers'));
  const kinds = new Map([
    ...declared.map(([name, settings]) => [name, fieldOf(settings, 'kind') ?? 'none'] as const),
    [previewProvider, 'preview'] as const,
  ]);
  const { data: checked, faults } = check(catalogueSchema({ ...checks, kinds }), data);
  const reserved = declared
    .filter(([name]) => name === previewProvider)
    .map(([name]) => ({ path: ['providers', name], message: 'is the name of a built-in provider; choose another' }));
  if (checked === undefined || reserved.length > 0) return { faults: [...faults, ...reserved] };
  const catalogue = builtCatalogue(checked, checks);
  const contradictions = [...ruleFaults(catalogue), ...deadlineFaults(catalogue, checks.keepsJobsHours)];
  return contradictions.length > 0 ? { faults: contradictions } : { faults, catalogue };
}

type CatalogueData = z.output<ReturnType<typeof catalogueSchema>>;
type ModelData = CatalogueData['models'][number];
type EntryData = NonNullable<ModelData['tiers']>[number][number];
type Providers = Catalogue['providers'];

function builtCatalogue({ creditValue, providers: declared, models }: CatalogueData, checks: Known['checks']) {
  const preview: ProviderSettings = { kind: 'preview' };
  const providers: Providers = new Map<string, ProviderSettings>([
    [previewProvider, preview],
    ...Object.entries(declared),
  ]);
  const taken = new Set(models.flatMap(({ model, aliases = [] }) => [model, ...aliases]));
  const built = models.map((data) => {
    const builtInAliases = defaultModels.find(({ model }) => model === data.model)?.aliases ?? [];
    const free = builtInAliases.filter((alias) => !taken.has(alias));
    return builtModel(data, data.aliases ?? free, { providers, checks });
  });
  return { creditValue, providers, limits: inputLimits, models: new Map(built.map((one) => [one.model, one])) };
}

type Known = { readonly providers: Providers; readonly checks: Pick<Lookups, 'lacksImages' | 'rulesInFile'> };

function builtModel(data: ModelData, aliases: readonly string[], known: Known): CatalogueModel {
  const { providers } = known;
  const { model, title, prices, fit } = data;
  const short = [...new Set(data.providers ?? ['preview'])].map((provider) => [
    { provider, weight: 1, parameters: {} },
  ]);
  const tiers = (data.tiers ?? short).map((tier) => tier.map((entry) => builtEntry(entry, data, known)));
  const names = [...new Set(tiers.flat().map(({ provider }) => provider))];
  return {
    model,
    title,
    aliases,
    prices: prices.map(({ creditsPerSecond, from }) => ({ creditsPerSecond, fromMs: Date.parse(from) })),
    providers: names,
    deadlineMs: data.deadlineSeconds * 1000,
    tiers,
    fit,
    isRemote: names.some((provider) => providers.get(provider)?.kind !== 'preview'),
  };
}

function builtEntry(entry: EntryData, { model: own, rules }: ModelData, { providers, checks }: Known): TierEntry {
  const { model: upstreamModel = own, provider, weight, parameters } = entry;
  const settings: ProviderSettings = providers.get(provider) ?? { kind: 'preview' };
  const shared = settings.kind === 'preview' ? { limit: 10_000, cost: undefined, rules: undefined } : settings;
  const cost = entry.cost ?? shared.cost;
  return {
    provider,
    upstreamModel,
    pool: `${provider}/${upstreamModel}`,
    weight,
    limit: entry.limit ?? shared.limit,
    parameters,
    rules: effectiveRules([...knownRules(settings, upstreamModel, checks), rules, shared.rules, entry.rules]),
    ...(cost !== undefined && { cost }),
  };
}

function ruleFaults({ models }: Pick<Catalogue, 'models'>): readonly Fault[] {
  return [...models.values()].flatMap(({ tiers }, index) =>
    tiers.flatMap((tier, row) =>
      tier.flatMap(({ rules }, column) => {
        const contradiction = contradictionIn(rules);
        if (contradiction === undefined) return [];
        const message = `together with those of model and provider they ${contradiction}`;
        return [{ path: ['models', index, 'tiers', row, column, 'rules'], message }];
      }),
    ),
  );
}

/**
 * A video that its upstream has forgotten cannot be fetched any more, and is paid for. Only files of the kind `http` tell of such
 * upstreams: the other kinds keep a job for as long as the longest deadline that the schema allows.
 */
function deadlineFaults(
  { models, providers }: Pick<Catalogue, 'models' | 'providers'>,
  keepsJobsHours: Lookups['keepsJobsHours'] = () => undefined,
): readonly Fault[] {
  return [...models.values()].flatMap(({ deadlineMs, providers: names }, index) => {
    const limits = names.flatMap((name) => {
      const settings = providers.get(name);
      const hours = settings?.kind === 'http' ? keepsJobsHours(settings.file) : undefined;
      return typeof hours === 'number' ? [{ name, seconds: hours * 3600 }] : [];
    });
    const [shortest] = limits.toSorted((a, b) => a.seconds - b.seconds);
    if (shortest === undefined || deadlineMs <= shortest.seconds * 1000) return [];
    const { name, seconds } = shortest;
    const message = `is ${deadlineMs / 1000}, but provider ${name} forgets a job after ${seconds} seconds; allowed: 10 to ${seconds}`;
    return [{ path: ['models', index, 'deadlineSeconds'], message }];
  });
}
