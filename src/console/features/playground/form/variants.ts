import type { Model, TaskRequest } from '../../../api/contract.ts';
import type { InputValues } from '../../models/field-schema-helpers.ts';
import { fieldWord, valueWord } from '../../models/models-text.ts';
import { type Draft, fittedDraft, maxVariants, taskRequestOf } from '../draft/draft.ts';
import {
  type ModelInputField,
  inputFieldsOf,
  isGiven,
  defaultInputOf,
  rawFieldValue,
  withFieldValue,
} from './form-fields-from-input-schema.ts';
import { type PriceNowAndNext, computePriceNowAndNext } from './price-now-and-next.ts';
import { playgroundText } from '../playground-text.ts';

/** One video that the form generates: a task of its own. */
export type PlannedVideo = {
  readonly label: string;
  readonly model: Model;
  readonly request: TaskRequest;
  readonly price: PriceNowAndNext;
  /** The differences of this model from the form, in words. */
  readonly changes: readonly string[];
};

type Form = { readonly draft: Draft; readonly model: Model; readonly models: readonly Model[]; readonly now: number };

/** The variants of a fitted draft. `seeds`: random ones, for videos of one model when no seed is given. */
export function variantsOf(form: Form, seeds: readonly number[]): readonly PlannedVideo[] {
  return form.draft.variants === 'models'
    ? modelVariants(form)
    : seedVariants(form, Number(form.draft.variants), seeds);
}

/** The chosen model, and the others that are compared with it. */
function modelVariants({ draft, model, models, now }: Form): readonly PlannedVideo[] {
  const others = chosenOtherModels(draft, model, models);
  return [model, ...others].map((one) => ({
    label: one.title,
    changes: one === model ? [] : changesOf(draft, model, one),
    ...variantOf(one, fittedDraft(draft, one), now),
  }));
}

export function chosenOtherModels({ otherModels }: Draft, model: Model, models: readonly Model[]): readonly Model[] {
  return models.filter((one) => one.model !== model.model && otherModels.includes(one.model)).slice(0, maxVariants - 1);
}

function seedVariants({ draft, model, now }: Form, count: number, seeds: readonly number[]): readonly PlannedVideo[] {
  const field = seedField(model);
  return Array.from({ length: count }, (_, index) => {
    const seed = count === 1 || field === undefined ? undefined : seedOf(field, draft.input, seeds, index);
    const input = seed === undefined || field === undefined ? draft.input : withFieldValue(draft.input, field, seed);
    const label = seed === undefined ? playgroundText.variant(index + 1) : playgroundText.seed(seed);
    return { label, changes: [], ...variantOf(model, { ...draft, input }, now) };
  });
}

function variantOf(model: Model, draft: Draft, now: number) {
  const request = taskRequestOf(draft, inputFieldsOf(model));
  return { model, request, price: computePriceNowAndNext(model, request.input, now) };
}

export function seedField(model: Model): ModelInputField | undefined {
  return inputFieldsOf(model).find(
    ({ name, parent, control }) => name === 'seed' && !parent && control.kind === 'number',
  );
}

/** Seeds that follow the given one, or random ones within the bounds of the model. Text that is no number stays: the API rejects it. */
function seedOf(field: ModelInputField, input: InputValues, seeds: readonly number[], index: number): unknown {
  const given = rawFieldValue(input, field);
  const first = isGiven(given) ? Number(given) : (seeds[index] ?? index);
  if (!Number.isInteger(first)) return given;
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = field.control.kind === 'number' ? field.control : {};
  const span = max - min + 1;
  if (!isGiven(given)) return min + (first % span);
  // A seed out of bounds is rejected, not changed.
  return first < min || first > max ? first : min + ((first - min + index) % span);
}

/** Returns what another model leaves out of the form, or takes with another value. */
function changesOf(draft: Draft, model: Model, other: Model): readonly string[] {
  const { input } = fittedDraft(draft, other);
  const fields = inputFieldsOf(other);
  const standards = defaultInputOf(other);
  return inputFieldsOf(model).flatMap((field) => {
    const { name, parent, control } = field;
    const word = fieldWord(name);
    const value = rawFieldValue(draft.input, field);
    // A field that leaves no choice is not among the fields, but has a value.
    const taken = fields.some(({ path }) => path === field.path)
      ? rawFieldValue(input, field)
      : parent
        ? undefined
        : standards[name];
    if (isSame(taken, value)) return [];
    if (!isGiven(taken)) return [playgroundText.without(word)];
    const isText = control.kind === 'media' || control.kind === 'text';
    return [isText ? playgroundText.shortened(word) : `${word} ${valueWord(name, taken)}`];
  });
}

function isSame(one: unknown, other: unknown): boolean {
  return isGiven(one) ? JSON.stringify(one) === JSON.stringify(other) : !isGiven(other);
}

/** Six digits are enough to differ, and can be read and typed. */
export function randomSeed(): number {
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
  return random % 1000000;
}
