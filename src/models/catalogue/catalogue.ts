import { unknownName } from '../../platform/did-you-mean.ts';
import { defaultModels } from '../model.ts';
import { standardInput } from '../../tasks/task-input.ts';
import { type CatalogueFiles, crossCheck, type ReferencedFile, type SecretCheck } from './cross-checks.ts';
import { type Catalogue, type CatalogueData, type CatalogueModel, catalogueSchema, type TierEntry } from './models.ts';
import { check, fieldOf, fieldsOf, itemsOf, type Problem } from './problems.ts';
import { arkCreatePath, previewProvider, type ProviderSettings } from './providers.ts';
import { contradictionIn, effectiveRules, type Rules, rulesOfModel } from './rules.ts';

// From the data of a catalogue file to the catalogue: schema, checks between its parts, value, checks of the value.

export type CatalogueWorld = {
  readonly readFile: (kind: 'workflow' | 'http', name: string) => ReferencedFile;
  readonly secretProblem: SecretCheck;
  /** True if the upstream at this address can fetch images from us. */
  readonly isReachableFrom: (baseUrl: string) => boolean;
};

export type Resolved = { readonly problems: readonly Problem[]; readonly catalogue?: Catalogue };

export function resolveCatalogue(data: unknown, world: Partial<CatalogueWorld> = {}): Resolved {
  const { readFile = () => ({}), secretProblem = () => undefined, isReachableFrom = () => true } = world;
  const files = readFiles(data, readFile);
  const { data: checked, problems } = check(catalogueSchema, data);
  const all = [...problems, ...crossCheck(data, files, secretProblem)];
  if (checked === undefined || all.length > 0) return { problems: all };
  const catalogue = buildCatalogue(checked, files, isReachableFrom);
  const contradictions = [...ruleProblems(catalogue), ...deadlineProblems(catalogue, files)];
  return contradictions.length > 0 ? { problems: contradictions } : { problems: [], catalogue };
}

/** Files for the kind `http` that are part of this service, in `assets/providers`. */
const includedFiles = [
  'kie',
  'fal-seedance',
  'replicate-seedance',
  'openrouter',
  'minimax',
  'kling',
  'runway',
  'wan',
  'luma',
  'vidu',
  'pixverse',
  'xai',
  'veo',
];

function readFiles(data: unknown, readFile: CatalogueWorld['readFile']): CatalogueFiles {
  const settings = fieldsOf(fieldOf(data, 'providers')).map(([, one]) => one);
  const http = settings.map((one) => (fieldOf(one, 'kind') === 'http' ? fieldOf(one, 'file') : undefined));
  const entries = itemsOf(fieldOf(data, 'models')).flatMap((model) =>
    itemsOf(fieldOf(model, 'tiers')).flatMap(itemsOf),
  );
  const kindOf = (name: unknown) => fieldOf(fieldOf(fieldOf(data, 'providers'), String(name)), 'kind');
  const workflows = entries.map((entry) => {
    const isComfy = ['comfyui', 'comfy-v2'].includes(String(kindOf(fieldOf(entry, 'provider'))));
    return isComfy ? fieldOf(fieldOf(entry, 'parameters'), 'workflow') : undefined;
  });
  const files = new Map<string, ReferencedFile>();
  for (const [kind, names] of [
    ['http', http],
    ['workflow', workflows],
  ] as const) {
    for (const name of names) {
      if (typeof name !== 'string' || name === '' || files.has(name)) continue;
      const included = kind === 'http' && name.startsWith('builtin:') ? name.slice('builtin:'.length) : undefined;
      const isUnknown = included !== undefined && !includedFiles.includes(included);
      const problem = isUnknown ? unknownName('built-in file', included, includedFiles) : undefined;
      files.set(name, problem === undefined ? readFile(kind, name) : { problem });
    }
  }
  return files;
}

type Reaches = CatalogueWorld['isReachableFrom'];

function buildCatalogue(data: CatalogueData, files: CatalogueFiles, reaches: Reaches): Catalogue {
  const { creditValue, models } = data;
  const providers = new Map<string, ProviderSettings>([
    [previewProvider, { kind: 'preview' }],
    ...Object.entries(data.providers),
  ]);
  const taken = new Set(models.flatMap(({ model, aliases = [] }) => [model, ...aliases]));
  const built = models.map((one): CatalogueModel => {
    const { model, title, prices, fit, input = standardInput } = one;
    const defaultAliases = defaultModels.find((other) => other.model === model)?.aliases ?? [];
    const short = [...new Set(one.providers ?? [previewProvider])].map((provider): EntryData[] => [
      { provider, weight: 1, parameters: {} },
    ]);
    const tiers = (one.tiers ?? short).map((tier) =>
      tier.map((entry): TierEntry => {
        const settings = providers.get(entry.provider) ?? { kind: 'preview' };
        return buildEntry(entry, one, settings, knownRules(settings, entry.model ?? model, files, reaches));
      }),
    );
    const names = [...new Set(tiers.flat().map(({ provider }) => provider))];
    return {
      model,
      title,
      aliases: one.aliases ?? defaultAliases.filter((alias) => !taken.has(alias)),
      input,
      prices: prices.map(({ creditsPerSecond, from }) => ({ creditsPerSecond, fromMs: Date.parse(from) })),
      providers: names,
      deadlineMs: one.deadlineSeconds * 1000,
      tiers,
      fit,
      isRemote: names.some((provider) => provider !== previewProvider),
    };
  });
  const contents = [...files].map(([name, file]) => [name, file.data] as const);
  const byName = new Map(built.map((one) => [one.model, one]));
  return { creditValue, providers, models: byName, files: new Map(contents) };
}

type ModelData = CatalogueData['models'][number];
type EntryData = NonNullable<ModelData['tiers']>[number][number];

function buildEntry(
  entry: EntryData,
  model: ModelData,
  settings: ProviderSettings,
  known: readonly Rules[],
): TierEntry {
  const { model: upstreamModel = model.model, provider, weight, parameters } = entry;
  const shared = settings.kind === 'preview' ? { limit: 10_000, cost: undefined, rules: undefined } : settings;
  const cost = entry.cost ?? shared.cost;
  return {
    provider,
    upstreamModel,
    pool: `${provider}/${upstreamModel}`,
    weight,
    limit: entry.limit ?? shared.limit,
    parameters,
    rules: effectiveRules([...known, model.rules, shared.rules, entry.rules], model.input),
    ...(cost !== undefined && { cost }),
  };
}

const arkImages = { minPx: 300, maxPx: 6000, minAspect: 0.4, maxAspect: 2.5 };

/** Returns what an upstream is known to refuse, before the operator's own rules. */
export function knownRules(
  settings: ProviderSettings,
  upstreamModel: string,
  files: CatalogueFiles = new Map(),
  reaches: Reaches = () => true,
): readonly Rules[] {
  if (settings.kind === 'http') {
    const { images, rules = [] } = files.get(settings.file) ?? {};
    const isUnreachable = images === 'link' && !reaches(settings.baseUrl);
    return [...rulesOfModel(rules, upstreamModel), ...(isUnreachable ? [{ images: { max: 0 } }] : [])];
  }
  // Other paths mean another upstream with the same protocol.
  if (settings.kind === 'ark' && settings.paths.create === arkCreatePath) {
    const isFixed = upstreamModel.includes('seedance-2-5');
    return [{ images: arkImages, ...(isFixed && { ratiosWithImages: ['adaptive'] }) }];
  }
  // Its server stores the first image of a request and drops the others.
  const takesOne = settings.kind === 'openai-videos' && settings.dialect === 'sglang';
  return takesOne ? [{ images: { max: 1 } }] : [];
}

function ruleProblems({ models }: Catalogue): readonly Problem[] {
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

/** An upstream that deletes a job before the task's deadline could lose a paid video. Other kinds keep jobs for a day at least. */
function deadlineProblems({ models, providers }: Catalogue, files: CatalogueFiles): readonly Problem[] {
  return [...models.values()].flatMap(({ deadlineMs, providers: names }, index) => {
    const limits = names.flatMap((name) => {
      const settings = providers.get(name);
      const hours = settings?.kind === 'http' ? files.get(settings.file)?.keepsJobsHours : undefined;
      return hours === undefined ? [] : [{ name, seconds: hours * 3600 }];
    });
    const [shortest] = limits.toSorted((a, b) => a.seconds - b.seconds);
    if (shortest === undefined || deadlineMs <= shortest.seconds * 1000) return [];
    const { name, seconds } = shortest;
    const message = `is ${deadlineMs / 1000}, but provider ${name} deletes a job after ${seconds} seconds; allowed: 10 to ${seconds}`;
    return [{ path: ['models', index, 'deadlineSeconds'], message }];
  });
}
