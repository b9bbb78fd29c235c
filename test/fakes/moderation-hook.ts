import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

// A FAKE: it flags by words instead of judging. test/counterparts/moderation.test.ts holds its requests and answers against the types of
// OpenAI's SDK, which an installation without the counterparts lacks.

type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } };
export type ModerationRequest = { readonly input: string | Part[]; readonly model?: string };

export type PlainRequest = { readonly model: string; readonly prompt: string; readonly imageUrls: readonly string[] };
export type HookRequest =
  | { readonly shape: 'openai'; readonly headers: IncomingHttpHeaders; readonly body: ModerationRequest }
  | { readonly shape: 'plain'; readonly headers: IncomingHttpHeaders; readonly body: PlainRequest };

export type ModerationHook = {
  readonly openai: string;
  readonly plain: string;
  readonly received: HookRequest[];
  /** Replaces the answers until it is called without a function. */
  answerWith(respond?: (response: ServerResponse, request: IncomingMessage) => unknown): void;
  close(): Promise<void>;
};

/** Text or an address with such a word is flagged for its category. */
const words = { blood: 'violence', nude: 'sexual' } as const;

export async function startModerationHook(): Promise<ModerationHook> {
  const received: HookRequest[] = [];
  let instead: Parameters<ModerationHook['answerWith']>[0];
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const sent = await text(request);
    const { headers, url } = request;
    const isOpenAI = url === '/v1/moderations';
    // Tests send what the types of the SDK allow; a test that sends something else fails when it reads it.
    const one = (
      isOpenAI
        ? { shape: 'openai', headers, body: JSON.parse(sent) as unknown }
        : { shape: 'plain', headers, body: JSON.parse(sent) as unknown }
    ) as HookRequest;
    received.push(one);
    const respond = instead ?? sendVerdict(one);
    respond(response, request);
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a listening TCP server has one
  return {
    openai: `http://127.0.0.1:${port}/v1/moderations`,
    plain: `http://127.0.0.1:${port}/check`,
    received,
    answerWith: (respond) => (instead = respond),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function sendVerdict(request: HookRequest) {
  const verdict = request.shape === 'openai' ? moderated(request.body) : plainVerdict(request.body);
  return (response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(verdict));
}

function plainVerdict({ prompt, imageUrls }: PlainRequest): { readonly allow: boolean; readonly reason?: string } {
  const [category] = categoriesOf([prompt, ...imageUrls].join(' '));
  return category === undefined ? { allow: true } : { allow: false, reason: category };
}

/** One result for all parts of a message, as OpenAI answers. */
export function moderated({ input, model = 'omni-moderation-latest' }: ModerationRequest) {
  const parts = typeof input === 'string' ? [{ type: 'text', text: input } as const] : input;
  const texts = parts.map((part) => (part.type === 'text' ? part.text : part.image_url.url));
  return { id: 'modr-1', model, results: [resultOf(categoriesOf(texts.join(' ')))] };
}

function categoriesOf(content: string): readonly string[] {
  return Object.entries(words)
    .filter(([word]) => content.includes(word))
    .map(([, category]) => category);
}

const textOnly = [
  'harassment',
  'harassment/threatening',
  'hate',
  'hate/threatening',
  'illicit',
  'illicit/violent',
  'sexual/minors',
] as const;
const images = [
  'self-harm',
  'self-harm/instructions',
  'self-harm/intent',
  'sexual',
  'violence',
  'violence/graphic',
] as const;
type TextOnly = (typeof textOnly)[number];
type OfImages = (typeof images)[number];

function resultOf(flagged: readonly string[]) {
  const of = <Name extends string, Value>(names: readonly Name[], value: (name: Name) => Value) =>
    // `fromEntries` loses the names.
    Object.fromEntries(names.map((name) => [name, value(name)])) as Record<Name, Value>;
  const names: readonly (TextOnly | OfImages)[] = [...textOnly, ...images];
  return {
    flagged: flagged.length > 0,
    categories: of(names, (name) => flagged.includes(name)),
    category_scores: of(names, (name) => (flagged.includes(name) ? 0.9 : 0.01)),
    category_applied_input_types: {
      ...of<TextOnly, 'text'[]>(textOnly, () => ['text']),
      ...of<OfImages, ('text' | 'image')[]>(images, () => ['text', 'image']),
    },
  };
}
