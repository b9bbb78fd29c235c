import type { ModelsByName } from '../../catalogue/models/model-type-and-name-lookup.ts';
import { inputJsonSchema } from '../../tasks/accept/documented-task-request.ts';
import { type FieldName, inputFieldNames } from '../../catalogue/input/task-input.ts';
import { isObject } from '../../platform/text/json.ts';
import { type JsonSchema, type ToolSchema, simplifyJsonSchema } from './simplify-json-schema.ts';

/** A field that differs between models is described by what is the same in all of them. */
const fieldTexts: Readonly<Record<FieldName, string>> = {
  prompt: 'The video in words.',
  negativePrompt: 'What the video should not show.',
  resolution: 'Size of the video.',
  duration: 'Seconds.',
  ratio: 'Width to height.',
  generateAudio: 'Whether the video has sound.',
  imageUrls: 'URLs of reference images.',
  firstFrameUrl: 'URL of the image with which the video begins.',
  lastFrameUrl: 'URL of the image with which the video ends.',
  videoUrls: 'URLs of reference videos.',
  audioUrls: 'URLs of reference audio.',
  seed: 'Repeats a video.',
  options: 'Options of the model.',
};

/**
 * The arguments of a create request for all models, as one object, because agents refuse tools whose arguments are a union. The service
 * has the exact rules of each model, and `list_models` states them.
 */
export function taskRequestToolSchema(models: ModelsByName): Required<Pick<ToolSchema, 'properties' | 'required'>> {
  const inputs = [...models.values()].map(({ input }) => inputJsonSchema(input) as ObjectSchema);
  const names = inputFieldNames.filter((name) => inputs.some(({ properties }) => takes(properties[name])));
  const fields = names.map((name) => [name, fieldOf(name, inputs)] as const);
  const required = names.filter((name) => inputs.every((input) => input.required?.includes(name) === true));
  return {
    properties: {
      model: { type: 'string', enum: [...models.keys()] },
      input: { type: 'object', properties: Object.fromEntries(fields), required },
      callBackUrl: { type: 'string', description: 'URL that receives a callback at the end.' },
    },
    required: ['model', 'input'],
  };
}

type ObjectSchema = {
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
};

/** A list that must be empty is no field. */
function takes(field: JsonSchema | undefined): field is JsonSchema {
  return field !== undefined && field['maxItems'] !== 0;
}

function fieldOf(name: FieldName, inputs: readonly ObjectSchema[]): ToolSchema {
  const given = inputs.map(({ properties }) => properties[name]).filter(takes);
  const merged = name === 'options' ? optionsOf(given) : merge(given, fieldTexts[name]);
  if (given.length === inputs.length) return merged;
  return { ...merged, description: `${merged.description ?? ''} Only for models that list it.`.trim() };
}

/** One schema for all variants of a field. */
function merge(variants: readonly JsonSchema[], text: string): ToolSchema {
  const [only, ...others] = [...new Set(variants.map((one) => JSON.stringify(one)))];
  if (only !== undefined && others.length === 0) {
    const schema = simplifyJsonSchema(variants[0] ?? {});
    const described = schema.description ?? '';
    return { ...schema, description: described.startsWith('Default') ? `${text} ${described}` : described || text };
  }
  const { description: _each, ...schema } = simplifyJsonSchema({ anyOf: variants });
  return { ...schema, description: `${text} Values differ: see list_models.`.trim() };
}

function optionsOf(variants: readonly JsonSchema[]): ToolSchema {
  const all = variants.flatMap(({ properties }) => Object.entries(isObject(properties) ? properties : {}));
  const names = [...new Set(all.map(([name]) => name))];
  const properties = names.map((name) => {
    const ofName = all.flatMap(([one, schema]) => (one === name && isObject(schema) ? [schema] : []));
    const { description, ...schema } = merge(ofName, '');
    return [name, description === '' || description === undefined ? schema : { ...schema, description }] as const;
  });
  return {
    type: 'object',
    description: 'Options of the model: see list_models.',
    properties: Object.fromEntries(properties),
  };
}
