import {
  type CallToolResult,
  createMcpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type Tool as Description,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Authentication } from '../http/authentication.ts';
import type { Context } from '../http/context.ts';
import { guardRequest } from '../http/define-endpoint.ts';
import { type HttpError, toHttpError } from '../http/errors.ts';
import type { HttpDeps } from '../http/http-deps.ts';
import { logError } from '../http/middleware/answer-errors.ts';
import type { ModelCatalogue } from '../models/model.ts';
import { describeFieldError, type FieldError } from '../platform/field-errors.ts';
import { isObject } from '../platform/json.ts';
import { requestSchema } from '../tasks/request-schema.ts';
import { type Tool, type ToolCall, tools } from './tools.ts';

export type McpCall = {
  readonly ctx: Context;
  readonly deps: HttpDeps;
  readonly authentication: Authentication;
  readonly body: Readonly<Record<string, unknown>>;
};

const instructions =
  'Generates videos from text and reference media. Each video uses credits of the account; get_price returns how many before. Link to ' +
  'the video and its poster when it has succeeded.';

/** Responds to one message of either era of the protocol. Nothing is kept between messages. */
export async function answerMcp(call: McpCall): Promise<Response> {
  const { ctx, deps, authentication, body } = call;
  const { method, params } = body;
  const tool = method === 'tools/call' && isObject(params) ? toolNamed(params['name']) : undefined;
  if (tool !== undefined) ctx.state.tool = tool.name;
  // Any other message counts as a read.
  else await guardRequest({ ctx, deps, authentication, operation: { path: '/mcp', scope: 'any' } }, async () => {});
  const closed = new AbortController();
  ctx.res.once('close', () => closed.abort());
  const headers = Object.entries(ctx.headers).map(([name, value]): [string, string] => [name, String(value)]);
  const request = new Request(`${deps.publicUrl}/mcp`, { method: 'POST', headers, signal: closed.signal });
  // Tools change only with the catalogue, so a client needs no stream of changes, which would hold its connection.
  return createMcpHandler(() => createServer(call), { maxSubscriptions: 0 }).fetch(request, { parsedBody: body });
}

function toolNamed(name: unknown): Tool | undefined {
  return tools.find((tool) => tool.name === name);
}

function createServer(call: McpCall): Server {
  const info = { name: 'videogen', title: 'Videogen', version: '1' };
  const server = new Server(info, { capabilities: { tools: {} }, instructions });
  server.setRequestHandler('tools/list', () => {
    const { models } = call.deps.catalogue();
    return { tools: tools.map((tool) => describeTool(tool, models)) };
  });
  server.setRequestHandler('tools/call', ({ params }) => {
    const tool = toolNamed(params.name);
    if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `unknown tool ${params.name}`);
    return callTool(tool, params.arguments ?? {}, call);
  });
  return server;
}

function describeTool(tool: Tool, models: ModelCatalogue): Description {
  const { name, title, description, annotations, input = z.strictObject({}), output, takesTaskRequest } = tool;
  const own = z.toJSONSchema(input, { io: 'input' });
  const request = takesTaskRequest === true ? requestSchema(models) : { properties: {}, required: [] };
  const inputSchema = {
    type: 'object',
    properties: { ...request.properties, ...own.properties },
    required: [...request.required, ...(own.required ?? [])],
    additionalProperties: false,
  };
  // A copy has no name, so that the root is an object, as the protocol requires, and not a reference.
  const root = output instanceof z.ZodObject ? z.strictObject(output.shape) : output;
  const outputSchema = z.toJSONSchema(root, { unrepresentable: 'any' });
  // The protocol's types spell JSON out, and these schemas are JSON.
  return { name, title, description, annotations, inputSchema, outputSchema } as unknown as Description;
}

type Given = ToolCall['given'];

/** An error is a result, so that the model reads it. */
async function callTool(tool: Tool, given: Given, { ctx, deps, authentication }: McpCall): Promise<CallToolResult> {
  let result: CallToolResult | undefined;
  try {
    await guardRequest({ ctx, deps, authentication, operation: tool.guards }, async (identity) => {
      if (!('dialect' in identity)) throw new Error(`the tool ${tool.name} is not for clients`);
      // Tools speak our own dialect, whatever the key speaks.
      const call = { identity: { ...identity, dialect: 'native' as const }, ctx, given };
      const { data, text, links = [] } = await tool.run(call, deps);
      result = { structuredContent: { ...data }, content: [{ type: 'text', text }, ...links] };
    });
    if (result === undefined) throw new Error(`the tool ${tool.name} returned nothing`);
    return result;
  } catch (thrown) {
    const error = toHttpError(thrown);
    ctx.state.errorCode = error.code;
    logError(ctx, error, deps.log);
    return errorResult(error);
  }
}

/** The text is for the model; a program reads `error`, which is stable. */
function errorResult({ code: error, envelope: { msg, data }, headers }: HttpError): CallToolResult {
  const { errors = [] } = data as { readonly errors?: readonly FieldError[] };
  const seconds = headers['Retry-After'];
  const hint = seconds === undefined ? [] : [`Retry after ${seconds} s.`];
  const text = [`${error}: ${msg}`, ...errors.slice(1).map(describeFieldError), ...hint].join('\n');
  const structuredContent = { error, msg, data, ...(seconds !== undefined && { retryAfterSeconds: Number(seconds) }) };
  return { isError: true, structuredContent, content: [{ type: 'text', text }] };
}
