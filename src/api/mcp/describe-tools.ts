import type { Tool as Description } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { ModelsByName } from '../../catalogue/models/model-type-and-name-lookup.ts';
import { taskRequestToolSchema } from './task-request-tool-schema.ts';
import { simplifyJsonSchema } from './simplify-json-schema.ts';
import { type Tool, mcpTools } from './mcp-tools.ts';

/** The tools as clients list them, with the models of the catalogue in their schemas. */
export function describeTools(models: ModelsByName): readonly Description[] {
  return mcpTools.map((tool) => describeTool(tool, models));
}

function describeTool(tool: Tool, models: ModelsByName): Description {
  const { name, title, description, annotations, input = z.strictObject({}), output, takesTaskRequest } = tool;
  const own = simplifyJsonSchema(z.toJSONSchema(input, { io: 'input' }));
  const request = takesTaskRequest === true ? taskRequestToolSchema(models) : { properties: {}, required: [] };
  const required = [...request.required, ...(own.required ?? [])];
  const inputSchema = {
    type: 'object',
    properties: { ...request.properties, ...own.properties },
    ...(required.length > 0 && { required }),
  };
  // The protocol's types spell JSON out, and these schemas are JSON.
  return {
    name,
    title,
    description,
    annotations,
    inputSchema,
    outputSchema: outline(output),
  } as unknown as Description;
}

/** The fields of a result, without those that may be null, which the subset cannot say. Programs read the API's own documents. */
function outline(output: z.ZodType) {
  const { properties = {}, required = [] } = z.toJSONSchema(output, { unrepresentable: 'any' });
  const fields = Object.entries(properties).flatMap(([name, field]) => {
    if (typeof field !== 'object' || typeof field.type !== 'string') return [];
    const { type, items } = field;
    const itemType = typeof items === 'object' && !Array.isArray(items) ? (items.type ?? 'object') : 'object';
    return [[name, type === 'array' ? { type, items: { type: itemType } } : { type }] as const];
  });
  const names = fields.map(([name]) => name);
  const always = required.filter((name) => names.includes(name));
  return { type: 'object', properties: Object.fromEntries(fields), ...(always.length > 0 && { required: always }) };
}
