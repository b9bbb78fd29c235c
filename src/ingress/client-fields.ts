import type { Model } from '../models/model.ts';
import type { FieldError } from '../platform/field-errors.ts';
import { isObject } from '../platform/json.ts';

type Rules = {
  /** The client's name of each of our fields. */
  readonly names: Readonly<Record<string, string>>;
  /**
   * Fields of the API that we do not support, with the value that changes
   * nothing, such as `watermark: false`. Any other value is refused; a field
   * whose neutral value is undefined is always refused.
   */
  readonly neutral: Readonly<Record<string, unknown>>;
  /** Undefined if the request names no model of the catalogue. */
  readonly model: Model | undefined;
};

/**
 * Sorts the fields of another API's request: `cameraFixed`, an option of the model, is called `camera_fixed` there. Fields that neither
 * the API nor the model has are left as they are, for the parser to accept by our names or to refuse. Returns the client's names of our
 * fields, for errors.
 */
export function readClientFields(given: Iterable<readonly [name: string, value: unknown]>, rules: Rules) {
  const { names: theirs, neutral, model } = rules;
  const ours = new Map(Object.entries(theirs).map(([name, theirName]) => [theirName, name]));
  const input: Record<string, unknown> = {};
  const options: Record<string, unknown> = {};
  const names = Object.fromEntries(Object.entries(theirs).map(([name, theirName]) => [`input.${name}`, theirName]));
  const errors: FieldError[] = [];
  const first = new Map<string, unknown>();
  for (const [name, value] of given) {
    if (first.has(name) && first.get(name) !== value) errors.push({ path: name, message: 'is given with two values' });
    first.set(name, value);
    const [field, option] = [ours.get(name), camelCase(name)];
    if (field !== undefined) input[field] = value;
    else if (Object.hasOwn(model?.input.fields.options ?? {}, option)) {
      options[option] = value;
      names[`input.options.${option}`] = name;
    } else if (!Object.hasOwn(neutral, name)) input[name] = value;
    else if (neutral[name] !== value) errors.push({ path: name, message: notSupported(neutral[name]) });
  }
  const own = input['options'];
  if (Object.keys(options).length > 0) input['options'] = { ...(isObject(own) && own), ...options };
  return { input, names, errors };
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}

function notSupported(neutral: unknown): string {
  const otherwise = neutral === undefined ? '' : ` or send ${JSON.stringify(neutral)}`;
  return `is not supported by this model; leave it out${otherwise}`;
}
