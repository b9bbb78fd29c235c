import type { Model, TaskRecord, TaskRequest } from '../../../api/contract.ts';
import { isObject, type InputValues } from '../../models/field-schema-helpers.ts';
import {
  type ModelInputField,
  inputFieldsOf,
  fittedValue,
  isGiven,
  rawFieldValue,
  withFieldValue,
} from '../form/form-fields-from-input-schema.ts';

/** Values that the chosen model does not accept stay for the next one that does. */
export type Draft = {
  readonly model: string;
  readonly input: InputValues;
  readonly callBackUrl: string;
  /** The number of videos of one model, or one of each of several models. */
  readonly variants: VariantCountOrModels;
  /** The models beside the chosen one. */
  readonly otherModels: readonly string[];
};

/** At most this many videos are made and shown side by side. */
export const maxVariants = 4;

export const variantCountOrModelsChoices = ['1', '2', '3', '4', 'models'] as const;
export type VariantCountOrModels = (typeof variantCountOrModelsChoices)[number];

export const emptyDraft: Draft = { model: '', input: {}, callBackUrl: '', variants: '1', otherModels: [] };

/** The draft with the values that the chosen model accepts, and its defaults for the others. */
export function fittedDraft(draft: Draft, model: Model | undefined): Draft {
  if (model === undefined) return draft;
  const input = inputFieldsOf(model).reduce<InputValues>(
    (made, field) => withFieldValue(made, field, fittedValue(field, rawFieldValue(draft.input, field))),
    {},
  );
  return { ...draft, model: model.model, input };
}

/** The input with these values; those of other fields stay, also within an object such as `options`. */
export function mergeInputValues(input: InputValues, values: InputValues): InputValues {
  const merged = Object.entries(values).map(([name, value]) => {
    const before = input[name];
    return [name, isObject(before) && isObject(value) ? { ...before, ...value } : value] as const;
  });
  return { ...input, ...Object.fromEntries(merged) };
}

/** The request of a fitted draft, without optional parts that are empty. */
export function taskRequestOf({ model, input, callBackUrl }: Draft, fields: readonly ModelInputField[]): TaskRequest {
  const sent = fields
    .filter((field) => field.isRequired || isGiven(rawFieldValue(input, field)))
    .reduce<InputValues>(
      (made, field) => withFieldValue(made, field, sentValue(field, rawFieldValue(input, field))),
      {},
    );
  // The form offers what the model's own schema describes, which the types do not know.
  return { model, input: sent, ...(callBackUrl !== '' && { callBackUrl }) } as unknown as TaskRequest;
}

/** The draft holds numbers as typed. The API rejects text that is not a number. */
function sentValue({ control: { kind } }: ModelInputField, value: unknown): unknown {
  const figure = kind === 'number' && typeof value === 'string' ? Number(value) : Number.NaN;
  return Number.isFinite(figure) ? figure : value;
}

/** An earlier request, to be changed and sent again. */
export function draftFromTask({ param }: Pick<TaskRecord, 'param'>): Pick<Draft, 'model' | 'input' | 'callBackUrl'> {
  const { input, model, callBackUrl = '' } = param;
  return { model, input, callBackUrl };
}

/** As the API counts: code points, not UTF-16 units. */
export function codePointCount(text: string): number {
  return [...text].length;
}

/** New parts of the draft, or a function of the current one: an upload ends long after the render in which it began. */
export type DraftChange = Partial<Draft> | ((draft: Draft) => Partial<Draft>);
