import { unknownNameMessage } from '../../platform/text/did-you-mean.ts';
import { optionValueSchema } from '../input/extra-model-options.ts';
import { type ModelInput, fieldsRequiredWith } from '../input/task-input.ts';
import { type Condition, matchesConditions, type PricedInput, type PricedMedia, pricedMedia } from './model-prices.ts';
import {
  type PriceWithPlacedRows,
  type PlacedRow,
  type PriceData,
  groupRowsByConditions,
} from './prices-schema-and-file-rows.ts';
import type { FileProblem } from '../file/file-data-and-problems.ts';

// Checks the prices of a model against its input: no condition may be impossible, and no row unreachable.

export function priceProblems(rows: readonly PriceData[], input: ModelInput): readonly FileProblem[] {
  const prices = groupRowsByConditions(rows);
  const impossible = prices.flatMap(({ conditions, rows: [first] }) =>
    conditions.flatMap((condition): readonly FileProblem[] => {
      const message = conditionProblem(condition, input);
      const { field, option } = condition;
      if (message === undefined || first === undefined) return [];
      return [{ path: [first.index, 'when', field, ...(option === undefined ? [] : [option])], message }];
    }),
  );
  return impossible.length > 0 ? impossible : unreachableProblems(prices, input);
}

function conditionProblem({ field, option, value }: Condition, { fields }: ModelInput): string | undefined {
  if (field === 'resolution') {
    const { values } = fields.resolution;
    return values.some((one) => one === value)
      ? undefined
      : `must be sold by this model, which has ${values.join(', ')}`;
  }
  if (field === 'generateAudio') {
    const { fixed } = fields.generateAudio;
    return fixed === undefined || fixed === value ? undefined : `must be ${fixed}, which the input of this model fixes`;
  }
  if (field === 'options') {
    const options = fields.options ?? {};
    const bounds = Object.hasOwn(options, option ?? '') ? options[option ?? ''] : undefined;
    if (bounds === undefined) return unknownNameMessage('option of this model', option ?? '', Object.keys(options));
    return optionValueSchema(bounds).safeParse(value).error?.issues[0]?.message;
  }
  const isTaken = field === 'imageUrls' ? fields.imageUrls.max > 0 : fields[field] !== undefined;
  return isTaken ? undefined : 'must be a field of this model, which does not take it';
}

/** Tables that distinguish more inputs than this are only compared row by row. */
const maxInputs = 5_000;

/** Prices apply in their order, so a row applies only to inputs that no earlier price covers when the row begins. */
function unreachableProblems(prices: readonly PriceWithPlacedRows[], input: ModelInput): readonly FileProblem[] {
  const inputs = distinctInputs(prices, input);
  const reached = inputs === undefined ? undefined : reachedRows(prices, inputs);
  return prices.flatMap((price, nth) =>
    price.rows.flatMap((row): readonly FileProblem[] => {
      const earlier = prices.slice(0, nth).find((other) => covers(other, price, row));
      if (earlier !== undefined) {
        const [first] = earlier.rows;
        return [
          { path: [row.index], message: `can never apply, because prices[${first?.index}] always applies first` },
        ];
      }
      if (reached === undefined || reached.has(row)) return [];
      return [{ path: [row.index], message: reasonOf(price, inputs ?? []) }];
    }),
  );
}

/** Returns true if the other price has fewer or the same conditions and is in force when the row begins. */
function covers(other: PriceWithPlacedRows, price: PriceWithPlacedRows, row: PlacedRow): boolean {
  const isWider = other.conditions.every((one) =>
    price.conditions.some(
      ({ field, option, value }) => field === one.field && option === one.option && value === one.value,
    ),
  );
  return isWider && beginOf(other) <= row.fromMs;
}

function beginOf({ rows }: PriceWithPlacedRows): number {
  return Math.min(...rows.map(({ fromMs }) => fromMs));
}

function reachedRows(prices: readonly PriceWithPlacedRows[], inputs: readonly PricedInput[]): ReadonlySet<PlacedRow> {
  const reached = new Set<PlacedRow>();
  const begins = prices.map((price) => ({ price, beginsMs: beginOf(price) }));
  for (const one of inputs) {
    let coveredFromMs = Infinity;
    for (const { price, beginsMs } of begins) {
      if (!matchesConditions(price.when, one)) continue;
      for (const row of price.rows) if (row.fromMs < coveredFromMs) reached.add(row);
      coveredFromMs = Math.min(coveredFromMs, beginsMs);
    }
  }
  return reached;
}

function reasonOf({ when, conditions }: PriceWithPlacedRows, inputs: readonly PricedInput[]): string {
  if (conditions.length === 0)
    return 'can never apply, because earlier prices cover every input; leave out the when of the last of them';
  if (!inputs.some((one) => matchesConditions(when, one)))
    return 'can never apply, because this model takes no input that meets its when';
  return 'can never apply, because earlier prices cover every input that meets its when';
}

/** Returns one input for each combination of values that the conditions distinguish; undefined if there are too many. */
function distinctInputs(prices: readonly PriceWithPlacedRows[], input: ModelInput): readonly PricedInput[] | undefined {
  const used = new Set(prices.flatMap(({ conditions }) => conditions.map(({ field }) => field)));
  const hasMedia = pricedMedia.some((name) => used.has(name));
  const choices: readonly (readonly PricedInput[])[] = [
    ...(used.has('resolution') ? [input.fields.resolution.values.map((resolution) => ({ resolution }))] : []),
    ...(used.has('generateAudio') ? [soundsOf(input).map((generateAudio) => ({ generateAudio }))] : []),
    ...(hasMedia ? pricedMedia.map((name) => mediaChoices(input, name)) : []),
    ...optionChoices(prices, input),
  ];
  let inputs: readonly PricedInput[] = [{}];
  for (const values of choices) {
    if (inputs.length * values.length > maxInputs) return undefined;
    inputs = inputs.flatMap((one) =>
      values.map((value) => ({ ...one, ...value, options: { ...one.options, ...value.options } })),
    );
  }
  return hasMedia ? inputs.filter((one) => isAllowed(one, input)) : inputs;
}

function soundsOf({ fields: { generateAudio } }: ModelInput): readonly boolean[] {
  return generateAudio.fixed === undefined ? [true, false] : [generateAudio.fixed];
}

function mediaChoices({ fields }: ModelInput, name: PricedMedia): readonly PricedInput[] {
  const given: PricedInput =
    name === 'firstFrameUrl' || name === 'lastFrameUrl' ? { [name]: 'given' } : { [name]: ['given'] };
  const bounds = fields[name];
  if (bounds === undefined || ('max' in bounds && bounds.max === 0)) return [{}];
  const isRequired = 'max' in bounds ? (bounds.min ?? 0) > 0 : bounds.required === true;
  return isRequired ? [given] : [{}, given];
}

/** Stands for all values of an option that no price names. */
const anotherValue = '\u0000';

function optionChoices(
  prices: readonly PriceWithPlacedRows[],
  { fields }: ModelInput,
): readonly (readonly PricedInput[])[] {
  const named = prices.flatMap(({ conditions }) => conditions.filter(({ field }) => field === 'options'));
  return [...new Set(named.flatMap(({ option }) => option ?? []))].map((name) => {
    const bounds = fields.options?.[name];
    const mentioned = named.filter(({ option }) => option === name).map(({ value }) => value);
    const allowed = bounds?.type === 'boolean' ? [true, false] : (bounds?.values ?? [...mentioned, anotherValue]);
    const given = [...new Set(allowed)].map((value) => ({ options: { [name]: value } }));
    return bounds?.default === undefined ? [{}, ...given] : given;
  });
}

/** Checks how the media fields of a model depend on each other; other fields can always be sent in a way that allows them. */
function isAllowed(one: PricedInput, input: ModelInput): boolean {
  const present = pricedMedia.filter((name) => one[name] !== undefined);
  const isPresent = (name: string) => present.some((other) => other === name);
  return (
    input.exclusive.every((names) => names.filter(isPresent).length <= 1) &&
    present.every((name) =>
      fieldsRequiredWith(input, name).every(
        (other) => isPresent(other) || !pricedMedia.some((known) => known === other),
      ),
    )
  );
}
