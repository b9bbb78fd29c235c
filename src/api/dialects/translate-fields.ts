import { refuseUnsafeJson } from '../core/server/read-or-save-body-within-limits.ts';
import { invalidRequest } from '../core/http-error.ts';
import type { FieldError } from '../../platform/text/field-errors.ts';
import { isObject } from '../../platform/text/json.ts';
import { isNumberOrBooleanField, mediaFields, type ModelInput } from '../../catalogue/input/task-input.ts';
import { type GivenField, readReference } from './read-frames-and-references.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Leaves out fields that are ignored or have no value. Forms send an empty text for those. */
export function withoutEmptyAndIgnoredFields(input: Fields, ignored: readonly string[]): Fields {
  const isGiven = ([name, value]: readonly [string, unknown]) =>
    value !== null && (value !== '' || name === 'prompt') && !ignored.includes(name);
  return Object.fromEntries(Object.entries(input).filter(isGiven));
}

/** Two spellings of one field are refused, because only one of them could be followed. */
export function duplicateSpellingErrors(fields: readonly GivenField[]): readonly FieldError[] {
  const given = new Map<string, string>();
  return fields.flatMap(({ ours, theirs }) => {
    const first = given.get(ours);
    if (first === undefined) {
      given.set(ours, theirs);
      return [];
    }
    return [{ path: theirs, message: `means the same as ${first}; give one of them` }];
  });
}

/** Returns the values by our names. Numbers and booleans that a form has as text are converted. */
export function translateGivenFields(fields: readonly GivenField[], input: ModelInput | undefined): Fields {
  return Object.fromEntries(fields.map((field) => [field.ours, valueOf(field, input)]));
}

function valueOf({ ours, theirs, value }: GivenField, input: ModelInput | undefined): unknown {
  if (!mediaFields.some(({ name }) => name === ours)) return fieldValueFromText(ours, value, input);
  const addresses = [value].flat().map((item) => addressIn(item, theirs));
  return ours.endsWith('Urls') || addresses.length > 1 ? addresses : addresses[0];
}

/** Converts the numbers and booleans among our fields that are sent as text. */
export function fieldValueFromText(name: string, value: unknown, input: ModelInput | undefined): unknown {
  if (isNumberOrBooleanField(name)) return scalarFromText(value);
  if (name !== 'options' || !isObject(value)) return value;
  const isText = (option: string) => input?.fields.options?.[option]?.type === 'string';
  const options = Object.entries(value);
  return Object.fromEntries(options.map(([option, one]) => [option, isText(option) ? one : scalarFromText(one)]));
}

/** The number or boolean that a text spells, in forms of Python also as `True`; any other value is returned unchanged. */
export function scalarFromText(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (/^(?:true|false)$/i.test(value)) return value.toLowerCase() === 'true';
  return /^-?\d{1,15}(\.\d{1,9})?$/.test(value) ? Number(value) : value;
}

/**
 * The object or list that a text spells, as forms and some clients of MCP have it. Any other value is returned unchanged, and so is a text
 * that a body of a request may not have, such as one with duplicate keys.
 */
export function jsonFromText(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  try {
    refuseUnsafeJson(value);
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}

/** Other values are returned for the parser to refuse. */
function addressIn(value: unknown, path: string): unknown {
  if (isObject(value) && typeof value['file_id'] === 'string') {
    const message = 'is not supported; send the file itself, its data URL, or its http or https URL';
    throw invalidRequest([{ path: `${path}[file_id]`, message }]);
  }
  return readReference(value)?.url ?? value;
}
