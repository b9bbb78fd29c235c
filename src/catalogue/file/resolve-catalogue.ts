import { defaultModels } from '../models/model-type-and-name-lookup.ts';
import { type ModelInput, standardModelInput } from '../input/task-input.ts';
import { type CoveredEntry, coverageProblemsAndIgnores } from './field-coverage.ts';
import { type ReferencedFilesByName, crossCheck, type ReferencedFile, type SecretCheck } from './cross-checks.ts';
import {
  type Catalogue,
  type CatalogueData,
  type CatalogueModel,
  catalogueSchema,
  type TierEntry,
} from './catalogue-schema-and-types.ts';
import { upstreamSizeProblems, withResolutionOfOwnSize } from '../input/entry-size-parameters.ts';
import { fieldsPassedByEntry } from '../input/fields-sent-upstream.ts';
import { priceProblems } from '../prices/price-problems.ts';
import { pricesFromRows } from '../prices/prices-schema-and-file-rows.ts';
import {
  tierEntriesWithPaths,
  parseFileData,
  fieldOrUndefined,
  fieldPairsOrNone,
  itemsOrNone,
  type FileProblem,
} from './file-data-and-problems.ts';
import { arkCreatePath, declaresParameter, previewProviderName, type ProviderSettings } from './provider-schema.ts';
import { type LocateFile, locateSample } from '../models/model-sample.ts';
import { readsTextCommands } from '../models/text-commands.ts';
import { contradictionIn, effectiveRules, type Rules, rulesForUpstreamModel } from '../models/input-rules.ts';

// From the data of a catalogue file to the catalogue: schema, checks between its parts, value, checks of the value.

export type ResolveCatalogueDeps = {
  readonly locate: LocateFile;
  readonly readFile: (kind: 'workflow' | 'http', name: string) => ReferencedFile;
  readonly secretProblem: SecretCheck;
  /** True if the upstream at this address can fetch images from us. */
  readonly isReachableFrom: (baseUrl: string) => boolean;
};

export type CatalogueOrProblems = { readonly problems: readonly FileProblem[]; readonly catalogue?: Catalogue };

export function resolveCatalogue(data: unknown, world: Partial<ResolveCatalogueDeps> = {}): CatalogueOrProblems {
  const { readFile = () => ({}), secretProblem = () => undefined, isReachableFrom = () => true } = world;
  const { locate = (path: string) => ({ path }) } = world;
  const files = readFiles(data, readFile);
  const { data: checked, problems } = parseFileData(catalogueSchema, data);
  const all = [...problems, ...crossCheck(data, files, secretProblem)];
  if (checked === undefined || all.length > 0) return { problems: all };
  const { catalogue, problems: uncovered } = buildCatalogue(checked, files, isReachableFrom, locate);
  const contradictions = [
    ...checked.models.flatMap(({ prices, input = standardModelInput }, index) =>
      priceProblems(prices, input).map(({ path, message }) => ({
        path: ['models', index, 'prices', ...path],
        message,
      })),
    ),
    ...ruleProblems(catalogue),
    ...uncovered,
    ...deadlineProblems(catalogue, files),
    ...paidRepeatProblems(checked),
    ...upstreamSizeProblems([...catalogue.models.values()], (name) => catalogue.providers.get(name)?.kind),
  ];
  return contradictions.length > 0 ? { problems: contradictions } : { problems: [], catalogue };
}

function readFiles(data: unknown, readFile: ResolveCatalogueDeps['readFile']): ReferencedFilesByName {
  const settings = fieldPairsOrNone(fieldOrUndefined(data, 'providers')).map(([, one]) => one);
  const http = settings.map((one) =>
    fieldOrUndefined(one, 'kind') === 'http' ? fieldOrUndefined(one, 'file') : undefined,
  );
  const entries = itemsOrNone(fieldOrUndefined(data, 'models')).flatMap((model) =>
    itemsOrNone(fieldOrUndefined(model, 'tiers')).flatMap(itemsOrNone),
  );
  const kindOf = (name: unknown) =>
    fieldOrUndefined(fieldOrUndefined(fieldOrUndefined(data, 'providers'), String(name)), 'kind');
  const workflows = entries.map((entry) => {
    const hasWorkflow = declaresParameter(kindOf(fieldOrUndefined(entry, 'provider')), 'workflow');
    return hasWorkflow ? fieldOrUndefined(fieldOrUndefined(entry, 'parameters'), 'workflow') : undefined;
  });
  const files = new Map<string, ReferencedFile>();
  for (const [kind, names] of [
    ['http', http],
    ['workflow', workflows],
  ] as const) {
    for (const name of names) {
      if (typeof name !== 'string' || name === '' || files.has(name)) continue;
      files.set(name, readFile(kind, name));
    }
  }
  return files;
}

type Reaches = ResolveCatalogueDeps['isReachableFrom'];

function buildCatalogue(
  data: CatalogueData,
  files: ReferencedFilesByName,
  reaches: Reaches,
  locate: LocateFile,
): Required<CatalogueOrProblems> {
  const { creditValue, models } = data;
  const packages = new Map(Object.entries(data.packages));
  const providers: Providers = new Map<string, ProviderSettings>([
    [previewProviderName, { kind: 'preview' }],
    ...Object.entries(data.providers),
  ]);
  const taken = new Set(models.flatMap(({ model, aliases = [] }) => [model, ...aliases]));
  const problems: FileProblem[] = [];
  const built = models.map((one, index): CatalogueModel => {
    const { model, title, description, prices, fit, lastFrame, shortfall, moderation } = one;
    const defaultAliases = defaultModels.find((other) => other.model === model)?.aliases ?? [];
    const { tiers, problems: found } = buildTiers(one, ['models', index], { providers, files, reaches });
    const { sample, problems: unreadable } = locateSample(one.sample, locate);
    problems.push(
      ...found,
      ...unreadable.map(({ file, message }) => ({ path: ['models', index, 'sample', file], message })),
    );
    const names = [...new Set(tiers.flat().map(({ provider }) => provider))];
    return {
      model,
      title,
      ...(description !== undefined && { description }),
      ...(sample !== undefined && { sample }),
      aliases: one.aliases ?? defaultAliases.filter((alias) => !taken.has(alias)),
      input: one.input ?? standardInputOf(tiers),
      prices: pricesFromRows(prices),
      providers: names,
      deadlineMs: one.deadlineSeconds * 1000,
      tiers,
      fit,
      lastFrame,
      ...(shortfall !== 'fail' && { shortfall }),
      ...(moderation !== undefined && { moderation }),
      isRemote: names.some((provider) => provider !== previewProviderName),
    };
  });
  const contents = [...files].map(([name, file]) => [name, file.data] as const);
  const byName = new Map(built.map((one) => [one.model, one]));
  return { problems, catalogue: { creditValue, packages, providers, models: byName, files: new Map(contents) } };
}

/** The input of a model that declares none: without sound if no provider makes any. */
function standardInputOf(tiers: CatalogueModel['tiers']): ModelInput {
  if (!tiers.flat().every(({ rules }) => rules.audio === 'never')) return standardModelInput;
  return { ...standardModelInput, fields: { ...standardModelInput.fields, generateAudio: { fixed: false } } };
}

type Providers = ReadonlyMap<string, ProviderSettings>;
type World = { readonly providers: Providers; readonly files: ReferencedFilesByName; readonly reaches: Reaches };
type Tiers = { readonly tiers: CatalogueModel['tiers']; readonly problems: readonly FileProblem[] };

function buildTiers(one: ModelData, path: FileProblem['path'], { providers, files, reaches }: World): Tiers {
  const short = [...new Set(one.providers ?? [previewProviderName])].map((provider): EntryData[] => [
    { provider, weight: 1, parameters: {} },
  ]);
  const canFetch = (settings: ProviderSettings) => settings.kind === 'preview' || reaches(settings.baseUrl);
  const covered = (one.tiers ?? short).map((tier, row) =>
    tier.map((data, column): CoveredEntry => {
      const settings = providers.get(data.provider) ?? { kind: 'preview' };
      const entry = buildEntry(
        data,
        one,
        settings,
        knownUpstreamRules(settings, data.model ?? one.model, files, reaches),
      );
      const passes = fieldsPassedByEntry(entry, settings, { files, canFetch });
      const passesIfReachable = fieldsPassedByEntry(entry, settings, { files, canFetch: () => true });
      const at = [...path, ...(one.tiers === undefined ? ['providers', row] : ['tiers', row, column])];
      return { entry, kind: settings.kind, path: at, passes, passesIfReachable };
    }),
  );
  const tiers = covered.map((tier) => tier.map(({ entry }) => entry));
  // A model without a declared input has that of the specification, of which an upstream may ignore a part.
  if (one.input === undefined) return { tiers, problems: [] };
  const { ignores, problems } = coverageProblemsAndIgnores(one.input, covered.flat(), [...path, 'input']);
  const narrowed = tiers.map((tier) =>
    tier.map((entry): TierEntry => {
      const ignored = ignores.get(entry);
      return ignored === undefined ? entry : { ...entry, ignores: ignored };
    }),
  );
  return { tiers: narrowed, problems: [...problems, ...fixedResolutions(one.input, covered.flat())] };
}

/** A parameter of the operator must not replace the resolution that the client pays for. */
function fixedResolutions({ fields }: ModelInput, entries: readonly CoveredEntry[]): readonly FileProblem[] {
  if (fields.resolution.values.length < 2) return [];
  const fixed = entries.filter(({ entry, kind }) => kind === 'ark' && Object.hasOwn(entry.parameters, 'resolution'));
  return fixed.map(({ path }) => ({
    path: [...path, 'parameters', 'resolution'],
    message: 'must be left out, because clients choose the resolution of this model',
  }));
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
  const shared = settings.kind === 'preview' ? noShared : settings;
  const cost = entry.cost ?? shared.cost;
  const repeats = (entry.onRefusedOutput ?? shared.onRefusedOutput) === 'resubmit';
  return {
    provider,
    upstreamModel,
    pool: `${provider}/${upstreamModel}`,
    weight,
    limit: entry.limit ?? shared.limit,
    parameters: withResolutionOfOwnSize(settings.kind, parameters, model.input),
    rules: effectiveRules([...known, model.rules, shared.rules, entry.rules], model.input),
    ...(cost !== undefined && { cost }),
    ...(repeats && { onRefusedOutput: 'resubmit' as const }),
  };
}

const noShared = { limit: 10_000, cost: undefined, rules: undefined, onRefusedOutput: undefined };

const onlyFrames = { framesWithReferences: false };
const arkImages = { minPx: 300, maxPx: 6000, minAspect: 0.4, maxAspect: 2.5 };

/** Returns what an upstream is known to refuse, before the operator's own rules. */
export function knownUpstreamRules(
  settings: ProviderSettings,
  upstreamModel: string,
  files: ReferencedFilesByName = new Map(),
  reaches: Reaches = () => true,
): readonly Rules[] {
  const commands = readsTextCommands(upstreamModel) ? [{ textCommands: true }] : [];
  if (settings.kind === 'http') {
    const { images, rules = [] } = files.get(settings.file) ?? {};
    const isUnreachable = images === 'link' && !reaches(settings.baseUrl);
    return [
      ...rulesForUpstreamModel(rules, upstreamModel),
      ...commands,
      ...(isUnreachable ? [{ images: { max: 0 } }] : []),
    ];
  }
  // Other paths mean another upstream with the same protocol.
  if (settings.kind === 'ark' && settings.paths.create === arkCreatePath) {
    const isFixed = upstreamModel.includes('seedance-2-5');
    return [
      {
        images: arkImages,
        ...onlyFrames,
        lastFrameAlone: false,
        textCommands: true,
        ...(isFixed && { ratiosWithImages: ['adaptive'] }),
      },
    ];
  }
  if (settings.kind === 'ark') return commands;
  if (settings.kind !== 'openai-videos') return [];
  // These servers and OpenRouter begin the video with the frame and drop the references. SGLang stores the first image only.
  const { dialect } = settings;
  return [
    ...commands,
    {
      ...onlyFrames,
      ...(dialect === 'vllm-omni' && { lastFrameAlone: false }),
      ...(dialect === 'sglang' && { images: { max: 1 } }),
    },
  ];
}

function ruleProblems({ models }: Catalogue): readonly FileProblem[] {
  return tierEntriesWithPaths([...models.values()]).flatMap(({ entry, path }) => {
    const contradiction = contradictionIn(entry.rules);
    if (contradiction === undefined) return [];
    const message = `together with those of model and provider they ${contradiction}`;
    return [{ path: [...path, 'rules'], message }];
  });
}

/** A second job must not follow a paid one. */
function paidRepeatProblems({ providers, models }: CatalogueData): readonly FileProblem[] {
  const ofProviders = Object.entries(providers).map(([name, settings]) => {
    return { ...settings, provider: name, path: ['providers', name] };
  });
  const ofEntries = tierEntriesWithPaths(models).map(({ entry, path }) => ({ ...entry, path }));
  const paid = [...ofProviders, ...ofEntries].filter(({ provider, onRefusedOutput }) => {
    return onRefusedOutput === 'resubmit' && providers[provider]?.failedJobs !== 'free';
  });
  const message = 'must be fail unless the provider has failedJobs: free, because the refused job is paid';
  return paid.map(({ path }) => ({ path: [...path, 'onRefusedOutput'], message }));
}

/** An upstream that deletes a job before the task's deadline could lose a paid video. Other kinds keep jobs for a day at least. */
function deadlineProblems({ models, providers }: Catalogue, files: ReferencedFilesByName): readonly FileProblem[] {
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
