import { z } from 'zod';
import type { ModelCatalogue } from '../models/model.ts';
import { callBackUrlSchema, inputJsonSchema, type JsonSchema } from './task-request.ts';

type ObjectSchema = { readonly properties: Readonly<Record<string, JsonSchema>>; readonly required: readonly string[] };

/**
 * The schema of a create request for all models, as one object, because MCP
 * clients refuse tools whose arguments are a union. The parser of the request
 * has the rules between the fields of a model, and its errors name them.
 */
export function requestSchema(models: ModelCatalogue): ObjectSchema {
  const { $schema: _draft, ...callBackUrl } = z.toJSONSchema(callBackUrlSchema());
  return {
    properties: {
      model: { type: 'string', enum: [...models.keys()] },
      input: inputOfModels(models),
      callBackUrl,
    },
    required: ['model', 'input'],
  };
}

type NamedInput = { readonly model: string; readonly schema: ObjectSchema };

function inputOfModels(models: ModelCatalogue) {
  const inputs: readonly NamedInput[] = [...models.values()].map(({ model, input }) => ({
    model,
    // The schema of an object has its properties.
    schema: inputJsonSchema(input) as ObjectSchema,
  }));
  const names = [...new Set(inputs.flatMap(({ schema }) => Object.keys(schema.properties)))];
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, fieldOfModels(name, inputs)])),
    required: names.filter((name) => inputs.every(({ schema }) => schema.required.includes(name))),
    additionalProperties: false,
  };
}

/** A field that differs between models, or that some do not take, names the models of each of its schemas. */
function fieldOfModels(name: string, inputs: readonly NamedInput[]): JsonSchema {
  const modelsOf = new Map<string, readonly string[]>();
  for (const { model, schema } of inputs) {
    const field = JSON.stringify(schema.properties[name]);
    if (field !== undefined) modelsOf.set(field, [...(modelsOf.get(field) ?? []), model]);
  }
  const variants = [...modelsOf].map(([field, models]) => {
    const schema = JSON.parse(field) as JsonSchema;
    return models.length === inputs.length ? schema : { title: `For ${models.join(', ')}`, ...schema };
  });
  const [only, ...others] = variants;
  return only !== undefined && others.length === 0 ? only : { anyOf: variants };
}
