import type { Command } from 'commander';
import { createInterface } from 'node:readline';
import { isObject, parsedJson } from '../../../platform/text/json.ts';
import { messageOf } from '../../../platform/setup-errors-and-error-messages.ts';
import { addCommand } from '../add-command.ts';
import { addServiceOptions, readServiceOptions, type ServiceOptions } from '../generate/service-options.ts';

export function addMcpCommand(program: Command): void {
  const command = addCommand(program, 'mcp', '', '--base-url https://videogen.example.com').description(
    'connect an MCP client that starts programs (stdio) to the MCP endpoint of a running service',
  );
  addServiceOptions(command).action(async (options: ServiceOptions) => {
    const { baseUrl, key } = await readServiceOptions(options);
    await bridge(`${baseUrl.replace(/\/+$/, '')}/mcp`, key);
  });
}

type Message = Readonly<Record<string, unknown>>;

/** Posts each line of standard input to the endpoint, and prints the responses as they come. Ends with the input, after the last response. */
async function bridge(endpoint: string, key: string): Promise<void> {
  const running = new Map<unknown, AbortController>();
  const forwarded = new Set<Promise<void>>();
  /** The version that the client of an older protocol negotiated; later ones name it in each message. */
  let negotiated: string | undefined;

  const forward = async (line: string): Promise<void> => {
    const message = parsed(line);
    if (message === undefined) return print(errorOf(null, -32_700, 'the line is not a JSON object'));
    const { id, method, params } = message;
    const { requestId, ...others } = isObject(params) ? params : {};
    // The endpoint stores no state: the end of the connection cancels a request.
    if (method === 'notifications/cancelled') return running.get(requestId)?.abort();
    const cancelled = new AbortController();
    if (id !== undefined) running.set(id, cancelled);
    try {
      const headers = { authorization: `Bearer ${key}`, ...headersOf(method, others, negotiated) };
      const response = await fetch(endpoint, { method: 'POST', headers, body: line, signal: cancelled.signal });
      const answers = messagesOf(await response.text());
      const [first] = answers;
      if (method === 'initialize' && isObject(first?.['result']))
        negotiated = String(first['result']['protocolVersion']);
      if (id === undefined) return;
      const isProtocol = first?.['jsonrpc'] === '2.0';
      for (const answer of isProtocol ? answers : [refusalOf(id, response.status, first)]) print(answer);
    } catch (error) {
      if (id !== undefined && !cancelled.signal.aborted)
        print(
          errorOf(
            id,
            -32_000,
            `the service is unreachable: ${messageOf(error instanceof Error ? (error.cause ?? error) : error)}`,
          ),
        );
    } finally {
      running.delete(id);
    }
  };

  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === '') continue;
    const one = forward(line).finally(() => forwarded.delete(one));
    forwarded.add(one);
  }
  await Promise.all(forwarded);
}

function parsed(text: string): Message | undefined {
  const value = parsedJson(text);
  return isObject(value) ? value : undefined;
}

/** Returns the headers that the protocol requires. They repeat parts of the body. */
function headersOf(method: unknown, params: Message, negotiated: string | undefined) {
  const meta = isObject(params['_meta']) ? params['_meta'] : {};
  const named = meta['io.modelcontextprotocol/protocolVersion'];
  const version = typeof named === 'string' ? named : negotiated;
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(version !== undefined && { 'mcp-protocol-version': version }),
    ...(typeof named === 'string' && typeof method === 'string' && { 'mcp-method': method }),
    ...(typeof named === 'string' && typeof params['name'] === 'string' && { 'mcp-name': params['name'] }),
  };
}

/** The messages of a JSON body, or of a stream of events. */
function messagesOf(body: string): readonly Message[] {
  const events = [...body.matchAll(/^data: ?(.*)$/gm)].map(([, data = '']) => data);
  return (events.length > 0 ? events : [body]).map(parsed).filter((message) => message !== undefined);
}

/** A refusal of the API before the protocol: its message has our stable code. */
function refusalOf(id: unknown, status: number, envelope: Message = {}): Message {
  const { error = `HTTP ${status}`, msg = 'no response of the MCP endpoint' } = envelope;
  return errorOf(id, -32_000, `${String(error)}: ${String(msg)}`);
}

function errorOf(id: unknown, code: number, message: string): Message {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

function print(message: Message): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
