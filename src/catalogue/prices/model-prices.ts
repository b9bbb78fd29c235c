import type { OptionValue } from '../input/extra-model-options.ts';
import type { FieldName, TaskInput } from '../input/task-input.ts';
import type { Resolution } from '../input/resolutions-ratios-and-field-bounds.ts';

// The prices of a model: which one applies to an input, and when. It imports types only, because the console computes its live price
// with these functions.

/** The highest amount of credits for a second or for a video. */
export const maxPriceCredits = 1_000_000;
export const maxPriceNameLength = 100;

/** The name of a price without conditions, unless the catalogue gives it another one. */
export const standardPriceName = 'standard';

/** Reference media whose presence may decide a price. */
export const pricedMedia = [
  'imageUrls',
  'firstFrameUrl',
  'lastFrameUrl',
  'videoUrls',
  'audioUrls',
] as const satisfies readonly FieldName[];
export type PricedMedia = (typeof pricedMedia)[number];

export const presences = ['present', 'absent'] as const;
export type Presence = (typeof presences)[number];

/** Conditions on the input of a task, which must all hold. Without any, a price applies to every input. */
export type PriceConditions = {
  readonly resolution?: Resolution | undefined;
  readonly generateAudio?: boolean | undefined;
  readonly options?: Readonly<Record<string, OptionValue>> | undefined;
} & { readonly [Name in PricedMedia]?: Presence | undefined };

/** A video costs both amounts together, from an instant on. */
export type PriceAmounts = {
  readonly creditsPerSecond: number;
  readonly creditsPerVideo: number;
  /** Unix milliseconds. They are charged for tasks created at or after this instant. */
  readonly fromMs: number;
};

export type CataloguePrice = {
  /** Unique in its model. Tasks store it, and operators override the price by it. */
  readonly name: string;
  readonly when: PriceConditions;
  /** In the order of their beginning; the latest that have begun are charged. */
  readonly amounts: readonly PriceAmounts[];
};

/** Amounts with the name of their price. */
export type AmountsWithPriceName = PriceAmounts & { readonly name: string };

/** The fields that may decide a price: those of a validated input, or of a draft in the console. */
export type PricedInput = {
  readonly [Name in 'resolution' | 'generateAudio' | 'options' | PricedMedia]?: TaskInput[Name] | undefined;
};

export function matchesConditions(when: PriceConditions, input: PricedInput): boolean {
  const { resolution, generateAudio, options = {} } = when;
  return (
    (resolution === undefined || input.resolution === resolution) &&
    (generateAudio === undefined || input.generateAudio === generateAudio) &&
    Object.entries(options).every(([name, value]) => input.options?.[name] === value) &&
    pricedMedia.every((name) => when[name] === undefined || when[name] === presenceOf(input[name]))
  );
}

/** An empty list means absent, as in the validation of requests. */
function presenceOf(value: string | readonly string[] | undefined): Presence {
  return value === undefined || (Array.isArray(value) && value.length === 0) ? 'absent' : 'present';
}

/**
 * Returns all amounts that could apply to an input, so that the first ones that have begun apply: in the order of the prices, and of one
 * price the latest first. The accept statement chooses among them by the clock of the database.
 */
export function matchingAmountsInOrder(
  rows: readonly CataloguePrice[],
  input: PricedInput,
): readonly AmountsWithPriceName[] {
  return rows
    .filter(({ when }) => matchesConditions(when, input))
    .flatMap(({ name, amounts }) => amounts.toReversed().map((one) => ({ name, ...one })));
}

/** Returns the price of an input at an instant; undefined if none has begun. */
export function priceOfInputAt(
  rows: readonly CataloguePrice[],
  input: PricedInput,
  atMs: number,
): AmountsWithPriceName | undefined {
  return matchingAmountsInOrder(rows, input).find(({ fromMs }) => fromMs <= atMs);
}

export function creditsForDuration(
  { creditsPerSecond, creditsPerVideo }: Pick<PriceAmounts, 'creditsPerSecond' | 'creditsPerVideo'>,
  durationSeconds: number,
): number {
  return durationSeconds * creditsPerSecond + creditsPerVideo;
}

/** Returns equal texts for conditions that mean the same. */
export function conditionsKey(when: PriceConditions): string {
  return JSON.stringify(conditionsOf(when));
}

/** A field or an option, and the value that it must have. */
export type Condition = {
  readonly field: 'resolution' | 'generateAudio' | 'options' | PricedMedia;
  /** The option's name, for a condition on an option. */
  readonly option?: string;
  readonly value: OptionValue;
};

/** Returns the conditions one by one in a fixed order. */
export function conditionsOf(when: PriceConditions): readonly Condition[] {
  const { resolution, generateAudio, options = {} } = when;
  const named = Object.entries(options).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [
    ...(resolution === undefined ? [] : [{ field: 'resolution', value: resolution } as const]),
    ...(generateAudio === undefined ? [] : [{ field: 'generateAudio', value: generateAudio } as const]),
    ...named.map(([option, value]) => ({ field: 'options', option, value }) as const),
    ...pricedMedia.flatMap((field) => {
      const presence = when[field];
      return presence === undefined ? [] : [{ field, value: presence }];
    }),
  ];
}

/** Returns the name of a price that the catalogue gives none, such as `1080p silent with videoUrls`. */
export function nameFromConditions(when: PriceConditions): string {
  const words = conditionsOf(when).map(({ field, option, value }) => {
    if (field === 'resolution') return value;
    if (field === 'generateAudio') return value === true ? 'with sound' : 'silent';
    if (field === 'options')
      return typeof value === 'boolean' ? `${option} ${value ? 'on' : 'off'}` : `${option} ${value}`;
    return `${value === 'present' ? 'with' : 'without'} ${field}`;
  });
  return words.length === 0 ? standardPriceName : words.join(' ');
}
