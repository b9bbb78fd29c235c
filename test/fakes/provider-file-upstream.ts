import { randomInt } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { v4 as uuid } from 'uuid';
import type { JsonValue } from '../../src/platform/text/json.ts';
import type { ExampleExchange } from '../../src/catalogue/providers/provider-file-example-schema.ts';
import type { ProviderFile } from '../../src/catalogue/providers/provider-file-schema.ts';
import { fakeVideoPath, sendFakeVideo, startRestartableServer } from './restartable-server.ts';
import { createBooks, type FetchedImage, type OwnBooks, type RunningUpstream } from './upstream-books.ts';

// A FAKE: an upstream that makes no videos and answers with the example of a provider file: the documented answers, with the ids,
// prompts and addresses of its own jobs in place of the documented ones. Its jobs survive a restart, as those of a hosted service.

export type ScriptedUpstream = RunningUpstream & {
  readonly books: OwnBooks;
  readonly fetched: readonly FetchedImage[];
  /** The headers of every request, in order. */
  readonly headers: readonly IncomingMessage['headers'][];
  /** The body of every create, in order. */
  readonly creates: readonly JsonValue[];
};

export async function startScriptedUpstream(file: ProviderFile): Promise<ScriptedUpstream> {
  const books = createBooks();
  const headers: IncomingMessage['headers'][] = [];
  const fetched: FetchedImage[] = [];
  const creates: JsonValue[] = [];
  const keyHeader = file.auth.kind === 'header' ? file.auth.name.toLowerCase() : 'authorization';
  const fileId = fileIdIn(file.example);
  const script: Script = { ...file.example, keyHeader, fileId, books, jobs: [], fetched, creates };
  const server = await startRestartableServer(async (request, response) => {
    headers.push(request.headers);
    await respond(script, request, response);
  });
  return {
    ...server,
    books,
    headers,
    fetched,
    creates,
    videoPath: fakeVideoPath,
  };
}

type ScriptedJob = { readonly id: string; readonly prompt: string; readonly jobKey: string };
type Script = ProviderFile['example'] & {
  readonly keyHeader: string;
  /** Under which an answer has the video of its job, for a second request; here it is the id of the job. */
  readonly fileId: string | undefined;
  readonly books: OwnBooks;
  readonly jobs: ScriptedJob[];
  readonly fetched: FetchedImage[];
  readonly creates: JsonValue[];
};
type Answer = { readonly status: number; readonly answer?: JsonValue | undefined };

async function respond(script: Script, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request).catch(() => undefined);
  if (body === undefined) return;
  const { headers, method = '', url = '' } = request;
  const { host = '' } = headers;
  // Clients of tests without a catalogue send a bearer token to every upstream.
  const hasKey = headers[script.keyHeader] !== undefined || headers.authorization !== undefined;
  if (url.startsWith('/files/')) return await sendFakeVideo(request, response);
  const { status, answer: json }: Answer = hasKey
    ? ((await replyTo(script, `${method} ${url}`, body, host)) ?? { status: 404 })
    : { status: 401 };
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(json === undefined ? '' : JSON.stringify(json));
}

async function replyTo(script: Script, line: string, body: string, host: string): Promise<Answer | undefined> {
  const questions = script.exchanges.filter(({ step }) => step !== 'create');
  const asked = questions.flatMap(({ step, request, second }) => {
    const first = jobNamed(script, line, request);
    const next = second === undefined ? undefined : jobNamed(script, line, second.request);
    return [
      ...(first === undefined ? [] : [{ step, ...first }]),
      ...(next === undefined ? [] : [{ step: 'result', ...next }]),
    ];
  });
  // Our name for a job and the upstream's may stand at the same place.
  const { step, job } = asked.find((one) => one.job !== undefined) ?? asked[0] ?? {};
  if (step === 'find') return lookUp(script, job, host);
  if (step === 'status' || step === 'cancel') return tell(script, step, job, host);
  if (step === 'result') return job && filled(script, statusOf(script, job)?.second, [job], host);
  const uploaded = script.exchanges.flatMap(({ uploads }) => uploads).find((upload) => upload.request === line);
  if (uploaded !== undefined) return uploaded;
  const created = exchangeFor(script, 'create', 'accepted');
  if (created === undefined || !line.startsWith(created.request.split(' ')[0] ?? '')) return undefined;
  const sent = JSON.parse(body) as JsonValue; // the clients of these upstreams send nothing else
  for (const link of linksIn(sent)) script.fetched.push({ link, bytes: await fetchImage(link) });
  script.creates.push(sent);
  const begun = begin(script, sent, created.sends ?? null);
  return filled(script, created, [begun], host);
}

function linksIn(sent: JsonValue): readonly string[] {
  if (typeof sent === 'string') return sent.includes('/media/') ? [sent] : [];
  return typeof sent === 'object' && sent !== null ? Object.values(sent).flatMap(linksIn) : [];
}

async function fetchImage(link: string): Promise<Buffer> {
  const response = await fetch(link);
  if (!response.ok) throw new Error(`${link} answered ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}

function exchangeFor(
  { exchanges }: Script,
  step: ExampleExchange['step'],
  ...meanings: readonly ExampleExchange['means'][]
) {
  return exchanges.find((exchange) => exchange.step === step && meanings.includes(exchange.means));
}

/** The job that a request names, when the request is like the documented one; the newest when it names none. */
function jobNamed(
  script: Script,
  line: string,
  documented: string,
): { readonly job?: ScriptedJob | undefined } | undefined {
  const inLine = (one: string | undefined) => one !== undefined && documented.includes(one);
  const [field, placeholder = script.job.id] = inLine(script.jobKey)
    ? (['jobKey', script.jobKey] as const)
    : (['id', [script.job.id, script.fileId].find(inLine)] as const);
  const path = escaped(documented.replace(script.baseUrl, '')).replace(escaped(placeholder), '([^/?&]+)');
  const match = new RegExp(`^${path}(?:[?&].*)?$`).exec(line);
  if (match === null) return undefined;
  const [, name] = match;
  return { job: name === undefined ? script.jobs.at(-1) : script.jobs.find((job) => job[field] === name) };
}

/** The id that a second request takes from the first one's response, unless it is the id of the job. */
function fileIdIn({ exchanges, job }: ProviderFile['example']): string | undefined {
  return exchanges
    .flatMap(({ answer, second }) =>
      second === undefined ? [] : textsIn(answer ?? null).map((one) => ({ one, second })),
    )
    .find(({ one, second }) => one !== '' && !second.request.includes(job.id) && second.request.endsWith(one))?.one;
}

function textsIn(value: JsonValue): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function escaped(literal: string): string {
  return literal.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

function begin(script: Script, sent: JsonValue, documented: JsonValue): ScriptedJob {
  const job = {
    id: newId(script),
    prompt: textAt(documented, sent, script.input.prompt),
    jobKey: textAt(documented, sent, script.jobKey),
  };
  script.jobs.push(job);
  script.books.begin(job);
  return job;
}

/** An id of digits may be a number in answers. */
function newId({ job }: Script): string {
  return /^\d+$/.test(job.id) ? String(randomInt(10 ** 14, 2 * 10 ** 14)) : uuid();
}

/** The text that stands in `sent` where the documented request has `value`; empty when there is none. */
function textAt(documented: JsonValue, sent: JsonValue | undefined, value: string): string {
  if (documented === value) return typeof sent === 'string' ? sent : '';
  if (typeof documented !== 'object' || documented === null) return '';
  // An object or an array, of which any field may be read.
  const fields = typeof sent === 'object' && sent !== null ? (sent as Readonly<Record<string, JsonValue>>) : {};
  const texts = Object.entries(documented).map(([name, inner]) => textAt(inner, fields[name], value));
  return texts.find((found) => found !== '') ?? '';
}

function tell(
  script: Script,
  step: 'status' | 'cancel',
  job: ScriptedJob | undefined,
  host: string,
): Answer | undefined {
  if (job === undefined) return exchangeFor(script, step, 'missing', 'ended');
  if (step === 'status') return filled(script, statusOf(script, job), [job], host);
  script.books.cancel(job.id);
  const isStopped = script.books.find(job.id)?.state === 'canceled';
  return filled(
    script,
    exchangeFor(script, step, ...(isStopped ? (['cancelled'] as const) : (['ended', 'runs_on'] as const))),
    [job],
    host,
  );
}

function statusOf(script: Script, { id }: ScriptedJob): ExampleExchange | undefined {
  const state = script.books.find(id)?.state ?? 'failed';
  return exchangeFor(script, 'status', state === 'canceled' || state === 'failed' ? 'upstream' : state);
}

/** One job that the request names, or the list of all, the newest first. */
function lookUp(script: Script, job: ScriptedJob | undefined, host: string): Answer | undefined {
  const found = exchangeFor(script, 'find', 'found');
  const isList = found?.request.includes(script.jobKey) === false;
  if (!isList && job === undefined) return exchangeFor(script, 'find', 'unknown', 'later');
  return filled(script, found, isList ? script.jobs.toReversed() : job === undefined ? [] : [job], host);
}

/** The documented answer with our jobs in it; a list that has the documented job has one item for each. */
function filled(
  script: Script,
  documented: Answer | undefined,
  jobs: readonly ScriptedJob[],
  host: string,
): Answer | undefined {
  if (documented?.answer === undefined) return documented;
  const listed = (value: JsonValue): JsonValue => {
    if (typeof value !== 'object' || value === null) return value;
    if (!Array.isArray(value)) {
      return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, listed(inner)]));
    }
    const items = value as readonly JsonValue[]; // an array of JSON
    return items.flatMap((item) => (jobIs(item) ? jobs.map((job) => replaced(item, job)) : [listed(item)]));
  };
  const jobIs = (item: JsonValue) => typeof item === 'object' && JSON.stringify(item).includes(script.job.id);
  const replaced = (value: JsonValue, { id, prompt, jobKey }: ScriptedJob): JsonValue => {
    const words = JSON.stringify(value)
      .replaceAll(script.video, `http://${host}/files/${id}.mp4`)
      .replaceAll(script.baseUrl, `http://${host}`)
      .replaceAll(script.job.id, id)
      .replaceAll(script.fileId ?? script.job.id, id)
      .replaceAll(script.jobKey, jobKey)
      .replaceAll(JSON.stringify(script.input.prompt), JSON.stringify(prompt))
      .replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, JSON.stringify(new Date().toISOString()));
    return JSON.parse(words) as JsonValue; // it was JSON before
  };
  const answer = listed(documented.answer);
  const [job] = jobs;
  return { status: documented.status, answer: jobs.length === 1 && job !== undefined ? replaced(answer, job) : answer };
}
