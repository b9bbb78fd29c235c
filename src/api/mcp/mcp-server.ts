import { asciiBrandName } from '../../platform/brand/brand.ts';
import type { Logger } from 'pino';
import type { Brand } from '../../platform/brand/brand.ts';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { createMcpHandler, ProtocolError, Server } from '@modelcontextprotocol/server';
import { type RequestBeforeGuards, type GuardDeps, guardThenProceed } from '../core/define-endpoint.ts';
import { type HttpError } from '../core/http-error.ts';
import { toHttpError } from '../core/to-http-error.ts';
import { logError } from '../core/middleware/answer-errors.ts';
import { describeFieldError, type FieldError } from '../../platform/text/field-errors.ts';
import { isObject } from '../../platform/text/json.ts';
import { describeTools } from './describe-tools.ts';
import { type ToolArguments, type Tool, type ToolNeeds, mcpTools } from './mcp-tools.ts';

export type McpServerDeps = GuardDeps & { readonly brand: Brand; readonly log: Logger };
type Deps = McpServerDeps & ToolNeeds;
type OwnTool = Tool<ToolNeeds>;

const toolsByName = new Map<unknown, OwnTool>(mcpTools.map((tool) => [tool.name, tool]));
const instructions =
  'Generates videos. Each uses credits of the account; get_price returns how many before. Link to the video and its poster.';

type McpAnswer = { readonly status: number; readonly contentType: string | null; readonly text: string };

/**
 * Responds to one message of an older or newer version of the protocol. No state remains between messages. The response is returned as a
 * whole, also in the versions that stream it as one event, so that an error can replace it until it is complete.
 */
export async function answerMcp({
  body,
  ...arrival
}: RequestBeforeGuards<Deps> & { readonly body: ToolArguments }): Promise<McpAnswer> {
  const { ctx, deps } = arrival;
  const { method, params } = body;
  const tool = method === 'tools/call' && isObject(params) ? toolsByName.get(params['name']) : undefined;
  // A message that runs no tool counts as a read.
  const countRead = () => guardThenProceed({ ...arrival, operation: { scope: 'any' } }, async () => {});
  if (tool === undefined) await countRead();
  const headers = Object.entries(ctx.headers).map(([name, value]): [string, string] => [name, String(value)]);
  const request = new Request(`${deps.publicUrl}/mcp`, { method: 'POST', headers });
  // Tools change only with the catalogue, so a client needs no stream of changes, which would hold its connection.
  const handler = createMcpHandler(() => createServer(arrival), { maxSubscriptions: 0 });
  const response = await handler.fetch(request, { parsedBody: body });
  const text = await response.text();
  // The protocol refuses some calls of a tool, such as those without a valid id.
  if (tool !== undefined && ctx.state.tool === undefined) await countRead();
  return { status: response.status, contentType: response.headers.get('Content-Type'), text };
}

function createServer(arrival: RequestBeforeGuards<Deps>): Server {
  const server = new Server(serverInfo(arrival.deps.brand.name), { capabilities: { tools: {} }, instructions });
  const { models } = arrival.deps.catalogue();
  server.setRequestHandler('tools/list', () => ({ tools: [...describeTools(models)] }));
  server.setRequestHandler('tools/call', ({ params }) => {
    const tool = toolsByName.get(params.name);
    if (tool === undefined) throw new ProtocolError(-32_602, `unknown tool ${params.name}`);
    return callTool(tool, params.arguments ?? {}, arrival);
  });
  return server;
}

/** Clients display the title, and use the name as a key. */
function serverInfo(brandName: string) {
  return { name: asciiBrandName(brandName).toLowerCase(), title: brandName, version: '1' };
}

/** An error is a result, so that the model reads it. */
async function callTool(
  tool: OwnTool,
  given: ToolArguments,
  arrival: RequestBeforeGuards<Deps>,
): Promise<CallToolResult> {
  const { ctx, deps } = arrival;
  ctx.state.tool = tool.name;
  try {
    return await guardThenProceed({ ...arrival, operation: tool.guards }, async (identity) => {
      if (!('dialect' in identity)) throw new Error(`the tool ${tool.name} is not for clients`);
      // Tools speak our own dialect, also to keys of another one.
      const caller = { ctx, identity: { ...identity, dialect: 'native' as const } };
      const { data, text, links = [] } = await tool.run({ ...caller, given }, deps);
      return { structuredContent: { ...data }, content: [{ type: 'text', text }, ...links] };
    });
  } catch (thrown) {
    const error = toHttpError(thrown);
    ctx.state.errorCode = error.code;
    logError(ctx, error, deps.log);
    return errorResult(error);
  }
}

/**
 * The first text is for the model; a program reads `error` of the second, which is stable. There is no structured content, because
 * clients of the 1.x SDK refuse one that does not match the tool's output schema, also in an error.
 */
function errorResult({ code: error, envelope: { msg, data }, headers }: HttpError): CallToolResult {
  const { errors = [] } = data as { readonly errors?: readonly FieldError[] };
  const seconds = headers['Retry-After'];
  const hint = seconds === undefined ? [] : [`Retry after ${seconds} s.`];
  const text = [`${error}: ${msg}`, ...errors.slice(1).map(describeFieldError), ...hint].join('\n');
  const fields = { error, msg, data, ...(seconds !== undefined && { retryAfterSeconds: Number(seconds) }) };
  const content = [text, JSON.stringify(fields)].map((one) => ({ type: 'text' as const, text: one }));
  return { isError: true, content };
}
