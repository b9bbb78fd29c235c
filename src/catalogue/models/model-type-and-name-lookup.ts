import { findNearestName } from '../../platform/text/did-you-mean.ts';
import { type ModelInput, standardModelInput } from '../input/task-input.ts';
import { type CataloguePrice, standardPriceName } from '../prices/model-prices.ts';

export type Model = {
  readonly model: string;
  readonly title: string;
  /** Plain text for customers: the strengths of the model. */
  readonly description?: string | undefined;
  /** Further names that clients of the dialect `kie` and of other APIs may use; their records show the first one. */
  readonly aliases?: readonly string[];
  readonly input: ModelInput;
  /** In the order in which they are decided; the last one applies to every input. */
  readonly prices: readonly CataloguePrice[];
  /** Providers in the order in which they are tried. */
  readonly providers: readonly string[];
  /** Limits generation, counted from its first start. */
  readonly deadlineMs: number;
  /** True if the last frame of its videos is stored, too. */
  readonly lastFrame?: boolean;
  /** The policy for videos that fall short of their orders; `fail` by default. */
  readonly shortfall?: ShortfallPolicy;
};

/** `fail` refunds in full, `refund` delivers and refunds the difference of the price, `accept` delivers at the full price. */
export const shortfallPolicies = ['fail', 'refund', 'accept'] as const;
export type ShortfallPolicy = (typeof shortfallPolicies)[number];

export type ModelsByName = ReadonlyMap<string, Model>;

/** The installation's models. The parser of requests, the OpenAPI document and `GET /models` are made from this one value. */
export type WithModels = { readonly models: ModelsByName };

export const defaultDeadlineMs = 30 * 60_000;

/** The price of a model that costs the same for every input. */
function perSecond(creditsPerSecond: number): CataloguePrice {
  return { name: standardPriceName, when: {}, amounts: [{ creditsPerSecond, creditsPerVideo: 0, fromMs: 0 }] };
}

const preview = {
  description:
    'The built-in preview: a renderer that draws your prompt on a landscape, for trying out the API. It is not an AI model.',
  input: standardModelInput,
  providers: ['preview'],
  deadlineMs: defaultDeadlineMs,
};

/** The catalogue of an installation that has no file of its own. */
export const defaultModels: readonly Model[] = [
  {
    model: 'videogen-2.0',
    title: 'Standard video generation',
    aliases: [
      'bytedance/seedance-2',
      'bytedance/seedance-2-5',
      'bytedance/seedance-1.5-pro',
      'bytedance/v1-pro-text-to-video',
    ],
    prices: [perSecond(41)],
    ...preview,
  },
  {
    model: 'videogen-2.0-fast',
    title: 'Faster video generation',
    aliases: ['bytedance/seedance-2-fast', 'bytedance/seedance-2-mini', 'bytedance/v1-lite-text-to-video'],
    prices: [perSecond(33)],
    ...preview,
  },
];

export function indexModelsByName(models: readonly Model[]): ModelsByName {
  return new Map(models.map((model) => [model.model, model]));
}

/** Resolves an alias; any other name is returned unchanged. */
export function modelNameFromAlias(models: ModelsByName, name: string): string {
  if (models.has(name)) return name;
  return [...models.values()].find(({ aliases = [] }) => aliases.includes(name))?.model ?? name;
}

/**
 * Returns the model's name for clients of the dialect `kie` and of other APIs: the one that the request of a task had, else its first
 * alias, else its own name.
 */
export function requestedNameOrAlias(models: ModelsByName, model: string, requested?: string): string {
  return requested ?? models.get(model)?.aliases?.[0] ?? model;
}

/** Every name that clients of the dialect `kie` and of other APIs may use. */
export function modelNamesAndAliases(models: ModelsByName): readonly string[] {
  return [...new Set([...models.values()].flatMap(({ model, aliases = [] }) => [...aliases, model]))];
}

export function unknownModelRefusal(models: ModelsByName, name: string): string | undefined {
  return models.has(name) ? undefined : `unknown model, ${hint(name, [...models.keys()])}`;
}

export type PriceNameOrRefusal =
  | { readonly ok: true; readonly name: string }
  | { readonly ok: false; readonly message: string };

/** Finds a price of a known model by its name, which may be left out if the model has only one. */
export function checkOrDefaultPriceName(
  models: ModelsByName,
  model: string,
  name: string | undefined,
): PriceNameOrRefusal {
  const names = (models.get(model)?.prices ?? []).map((price) => price.name);
  const [only, ...others] = names;
  if (name === undefined) {
    if (only !== undefined && others.length === 0) return { ok: true, name: only };
    return { ok: false, message: `is required, because ${model} has several prices: ${names.join(', ')}` };
  }
  return names.includes(name) ? { ok: true, name } : { ok: false, message: `unknown price, ${hint(name, names)}` };
}

function hint(unknown: string, known: readonly string[]): string {
  const meant = findNearestName(unknown, known);
  return meant === undefined ? `must be one of ${known.join(', ')}` : `did you mean ${meant}?`;
}
