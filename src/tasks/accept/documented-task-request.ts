import { z } from 'zod';
import type { WithModels } from '../../catalogue/models/model-type-and-name-lookup.ts';
import {
  defaultOf,
  type FieldName,
  fieldSchema,
  fieldsOfModel,
  type ModelInput,
  fieldsRequiredWith,
} from '../../catalogue/input/task-input.ts';
import type { RefuseUrl } from '../../catalogue/input/url-schema-and-text-checks.ts';
import { callBackUrlSchema, modelNameSchema } from './parse-task-request.ts';

// The create request in documents: the reference, the schemas of `GET /models` and MCP, and samples. No create passes through this file.

const acceptAll: RefuseUrl = () => undefined;

/** The schema of `input` for documents: the fields that the model takes. `exclusive` and `requires` are in the words of JSON Schema. */
function documentedInput(input: ModelInput) {
  const fields = fieldsOfModel(input);
  const shape = fields.map((name) => [name, fieldSchema(input, name, { refuseMediaUrl: acceptAll })]);
  const dependent = fields.flatMap((name) => {
    const others = fieldsRequiredWith(input, name);
    return others.length === 0 ? [] : [[name, others] as const];
  });
  const pairs = input.exclusive.flatMap((names) =>
    names.flatMap((a, index) => names.slice(index + 1).map((b) => ({ not: { required: [a, b] } }))),
  );
  return z.strictObject(Object.fromEntries(shape) as Record<string, z.ZodType>).meta({
    ...(dependent.length > 0 && { dependentRequired: Object.fromEntries(dependent) }),
    ...(pairs.length > 0 && { allOf: pairs }),
  });
}

type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Returns the JSON Schema of `input` for a model, with the defaults. Null, which means the same as absence, is left out. It is made once
 * for each input, because it takes 1.5 ms and `GET /models` has one for each of up to 100 models.
 */
export function inputJsonSchema(input: ModelInput): JsonSchema {
  const schema = schemas.get(input) ?? makeJsonSchema(input);
  schemas.set(input, schema);
  return schema;
}

const schemas = new WeakMap<ModelInput, JsonSchema>();

function makeJsonSchema(input: ModelInput): JsonSchema {
  const {
    $schema: _draft,
    properties,
    ...schema
  } = withoutNull(z.toJSONSchema(documentedInput(input), { io: 'input', unrepresentable: 'any' }));
  // A list of at most none is a field that the model lacks.
  const taken = Object.entries(properties as Record<FieldName, JsonSchema>).filter(
    ([, { maxItems }]) => maxItems !== 0,
  );
  const fields = taken.map(([name, field]) => {
    const standard = defaultOf(input, name as FieldName);
    // An empty list or prompt is the same as none, and no default where the model requires some.
    const hasDefault = standard !== undefined && standard !== '' && !Array.isArray(standard);
    return [name, hasDefault ? { ...field, default: standard } : field] as const;
  });
  return { ...schema, properties: Object.fromEntries(fields) };
}

function withoutNull(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema;
  const [only, ...others] = Array.isArray(anyOf) ? (anyOf as JsonSchema[]).filter(({ type }) => type !== 'null') : [];
  if (only !== undefined && others.length === 0) return withoutNull({ ...only, ...rest });
  // zod writes a type without bounds and null as a list of types.
  const types = (Array.isArray(rest['type']) ? rest['type'] : []).filter((one) => one !== 'null');
  if (anyOf === undefined && types.length === 1) return { ...rest, type: types[0] as unknown };
  if (rest['properties'] === undefined) return schema;
  const fields = Object.entries(rest['properties'] as Record<string, JsonSchema>);
  return { ...rest, properties: Object.fromEntries(fields.map(([name, field]) => [name, withoutNull(field)])) };
}

/** The smallest request for a model: what it requires, and nothing else. */
export function sampleRequest(model: string, input: ModelInput) {
  const { required: names = [] } = inputJsonSchema(input) as { readonly required?: readonly string[] };
  const samples: Readonly<Record<string, unknown>> = {
    prompt: 'A lighthouse in the fog',
    imageUrls: ['https://example.com/image.jpg'],
    firstFrameUrl: 'https://example.com/first.jpg',
    lastFrameUrl: 'https://example.com/last.jpg',
    videoUrls: ['https://example.com/video.mp4'],
    audioUrls: ['https://example.com/audio.mp3'],
  };
  return { model, input: Object.fromEntries(names.map((name) => [name, samples[name]])) };
}

/** The documented body: one shape for all models with the same input. */
export function documentedTaskRequestSchema({ models }: WithModels) {
  const groups = new Map<string, { readonly names: string[]; readonly input: ModelInput }>();
  for (const { model, input } of models.values()) {
    const key = JSON.stringify(input);
    const group = groups.get(key) ?? { names: [], input };
    groups.set(key, group);
    group.names.push(model);
  }
  const shapes = [...groups.values()].map(({ names, input }) =>
    z.strictObject({
      model: modelNameSchema(names),
      input: documentedInput(input),
      callBackUrl: callBackUrlSchema(acceptAll).nullish(),
    }),
  );
  const [first, ...others] = shapes;
  if (first === undefined) throw new Error('a catalogue has at least one model');
  const schema = others.length === 0 ? first : z.union([first, ...others]);
  return schema.meta({
    id: 'TaskRequest',
    example: { model: [...models.keys()].at(-1), input: { prompt: 'A lighthouse in the fog', duration: 5 } },
  });
}
