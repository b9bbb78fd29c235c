import type { Model } from '../../catalogue/models/model.ts';
import type { FieldError } from '../../platform/text/field-errors.ts';
import { isObject } from '../../platform/text/json.ts';

type Rules = {
  /** The client's name of each of our fields. */
  readonly names: Readonly<Record<string, string>>;
  /**
   * Fields of the API that we do not support, with the values that change
   * nothing, such as `watermark: false`. Any other value is refused.
   */
  readonly neutral: Readonly<Record<string, readonly unknown[]>>;
  /** Undefined if the request names no model of the catalogue. */
  readonly model: Model | undefined;
};

/** `name`: the field's documented name. `theirs`: the name in the request. */
type ClientField = { readonly name: string; readonly theirs: string; readonly value: unknown };

/**
 * Sorts the fields of another API's request: `cameraFixed`, an option of the model, is called `camera_fixed` there. Fields that neither
 * the API nor the model has are left as they are, for the parser to accept by our names or to refuse. Returns the client's names of our
 * fields, for errors, and the fields whose values change nothing.
 */
export function readClientFields(given: Iterable<ClientField>, rules: Rules) {
  const { names: theirNames, model } = rules;
  const ours = new Map(Object.entries(theirNames).map(([name, theirName]) => [theirName, name]));
  const input: Record<string, unknown> = {};
  const options: Record<string, unknown> = {};
  const names = Object.fromEntries(Object.entries(theirNames).map(([name, theirName]) => [`input.${name}`, theirName]));
  const errors: FieldError[] = [];
  const neutral: string[] = [];
  const first = new Map<string, unknown>();
  for (const { name, theirs, value } of given) {
    if (first.has(name) && first.get(name) !== value)
      errors.push({ path: theirs, message: 'is given with two values' });
    first.set(name, value);
    const [field, option] = [ours.get(name), camelCase(name)];
    const allowed = Object.hasOwn(rules.neutral, name) ? (rules.neutral[name] ?? []) : undefined;
    if (field !== undefined) input[field] = value;
    else if (Object.hasOwn(model?.input.fields.options ?? {}, option)) {
      options[option] = value;
      names[`input.options.${option}`] = theirs;
    } else if (allowed === undefined) {
      input[name] = value;
      if (theirs !== name) names[`input.${name}`] = theirs;
    } else if (allowed.includes(value)) neutral.push(theirs);
    else errors.push({ path: theirs, message: notSupported(allowed) });
  }
  const own = input['options'];
  if (Object.keys(options).length > 0) input['options'] = { ...(isObject(own) && own), ...options };
  return { input, names, errors, neutral };
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}

function notSupported([neutral]: readonly unknown[]): string {
  const otherwise = neutral === undefined ? '' : ` or send ${JSON.stringify(neutral)}`;
  return `is not supported by this model; leave it out${otherwise}`;
}
