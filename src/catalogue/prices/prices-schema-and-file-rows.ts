import { z } from 'zod';
import { resolutions } from '../input/resolutions-ratios-and-field-bounds.ts';
import {
  type Condition,
  conditionsKey,
  conditionsOf,
  nameFromConditions,
  maxPriceCredits,
  maxPriceNameLength,
  type PricedMedia,
  pricedMedia,
  type CataloguePrice,
  presences,
} from './model-prices.ts';

// The prices of a model in the catalogue. Rows with the same conditions are one price over time.

const presence = z.enum(presences).optional();
const media = Object.fromEntries(pricedMedia.map((name) => [name, presence])) as Record<PricedMedia, typeof presence>;

/** The conditions of a price. The catalogue and the API spell them alike. */
export const priceConditionsSchema = z.strictObject({
  resolution: z.enum(resolutions).optional(),
  generateAudio: z.boolean().optional(),
  options: z.record(z.string(), z.union([z.boolean(), z.number(), z.string()])).optional(),
  ...media,
});

const nameError = `must be 1 to ${maxPriceNameLength} characters on one line, without white space at its ends`;
const priceName = z
  .string()
  .min(1, { error: nameError })
  .max(maxPriceNameLength, { error: nameError })
  .refine((name) => name === name.trim() && !/[\p{Cc}\p{Cs}\p{Bidi_Control}]/u.test(name), { error: nameError });

const credits = z.int().min(0).max(maxPriceCredits).default(0);
const instantError = 'must be an instant, such as 2027-01-01T00:00:00Z';

const row = z
  .strictObject({
    name: priceName.optional().meta({ description: 'By default made from the conditions, such as 1080p silent.' }),
    when: priceConditionsSchema
      .optional()
      .meta({ description: 'Conditions, which must all hold. The first price whose conditions hold applies.' }),
    creditsPerSecond: credits,
    creditsPerVideo: credits.meta({ description: 'Added once for each video.' }),
    from: z.iso
      .datetime({ offset: true, error: instantError })
      .refine((from) => Date.parse(from) >= 0, { error: instantError })
      .default('1970-01-01T00:00:00Z'),
  })
  .refine(({ creditsPerSecond, creditsPerVideo }) => creditsPerSecond + creditsPerVideo > 0, {
    error: 'must have creditsPerSecond or creditsPerVideo of at least 1',
  });

export type PriceData = z.output<typeof row>;

export type PlacedRow = { readonly index: number; readonly row: PriceData; readonly fromMs: number };
/** The rows of one price, which have the same conditions. */
export type PriceWithPlacedRows = {
  readonly when: NonNullable<PriceData['when']>;
  readonly conditions: readonly Condition[];
  readonly rows: readonly PlacedRow[];
};

export const pricesSchema = z
  .array(row)
  .min(1)
  .max(1000)
  .superRefine((rows, context) => {
    // Rows with invalid conditions cannot be compared.
    if (context.issues.some(({ path }) => path?.[1] === 'when')) return;
    const issue = (path: PropertyKey[], message: string) => context.addIssue({ code: 'custom', path, message });
    const prices = groupRowsByConditions(rows);
    for (const price of prices) for (const [path, message] of timeProblems(price)) issue([...path], message);
    for (const [path, message] of nameProblems(prices)) issue([...path], message);
    const standard = prices.find(({ conditions }) => conditions.length === 0);
    if (standard === undefined)
      return issue([], 'must end with a price without when, which applies to every other input');
    if (!standard.rows.some(({ fromMs }) => fromMs <= Date.now())) {
      issue([], standard === prices[0] ? 'must have a price in force' : 'must have a price without when in force');
    }
    for (const {
      rows: [first],
    } of prices.slice(prices.indexOf(standard) + 1))
      if (first !== undefined)
        issue([first.index], 'must come before the price without when, which applies to every input');
  });

/** The rows of each price, in the order of the first ones. */
export function groupRowsByConditions(rows: readonly PriceData[]): readonly PriceWithPlacedRows[] {
  const prices = new Map<string, { readonly when: NonNullable<PriceData['when']>; readonly rows: PlacedRow[] }>();
  for (const [index, one] of rows.entries()) {
    const { when = {}, from } = one;
    const key = conditionsKey(when);
    const price = prices.get(key) ?? { when, rows: [] };
    prices.set(key, price);
    price.rows.push({ index, row: one, fromMs: Date.parse(from) });
  }
  return [...prices.values()].map((price) => ({ ...price, conditions: conditionsOf(price.when) }));
}

type Found = readonly (readonly [path: readonly PropertyKey[], message: string])[];

function timeProblems({ rows }: PriceWithPlacedRows): Found {
  return rows.flatMap(({ index, fromMs }, nth) => {
    const twin = rows.slice(0, nth).find((other) => other.fromMs === fromMs);
    return twin === undefined
      ? []
      : [[[index], `begins at the same instant as prices[${twin.index}], which has the same when`]];
  });
}

/** Messages refer to rows by their position, because they must not repeat values of the file. */
function nameProblems(prices: readonly PriceWithPlacedRows[]): Found {
  const owners = new Map<string, number>();
  return prices.flatMap((price): Found => {
    const named = price.rows.filter(({ row: { name } }) => name !== undefined);
    const [first] = named;
    const other = named.find(({ row: { name } }) => name !== first?.row.name);
    if (first !== undefined && other !== undefined) {
      return [[[other.index, 'name'], `must be that of prices[${first.index}], which has the same when`]];
    }
    const at = first ?? price.rows[0];
    const name = nameOf(price);
    const owner = owners.get(name);
    if (at === undefined) return [];
    if (owner === undefined) owners.set(name, at.index);
    else return [[[at.index], `has the name of prices[${owner}], which has another when; add a name of its own`]];
    const isUsable = priceName.safeParse(name).success || first !== undefined;
    return isUsable ? [] : [[[at.index], `needs a name, because its conditions are too long for one`]];
  });
}

function nameOf({ when, rows }: PriceWithPlacedRows): string {
  return rows.find(({ row: { name } }) => name !== undefined)?.row.name ?? nameFromConditions(when);
}

/** Returns the prices of the model; the amounts of each in the order of their beginning. */
export function pricesFromRows(rows: readonly PriceData[]): readonly CataloguePrice[] {
  return groupRowsByConditions(rows).map((price) => ({
    name: nameOf(price),
    when: price.when,
    amounts: price.rows
      .map(({ row: { creditsPerSecond, creditsPerVideo }, fromMs }) => ({ creditsPerSecond, creditsPerVideo, fromMs }))
      .toSorted((a, b) => a.fromMs - b.fromMs),
  }));
}

export function priceAsFileRows({ name, when, amounts }: CataloguePrice): readonly object[] {
  return amounts.map(({ fromMs, ...charged }) => ({ name, when, ...charged, from: new Date(fromMs).toISOString() }));
}
