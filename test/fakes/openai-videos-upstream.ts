import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { DialectName } from '../../src/providers/openai-videos/videos-dialects.ts';
import { fakeVideoPath, send, sendFakeVideo, startRestartableServer } from './restartable-server.ts';
import { type BookedState, createBooks, type OwnBooks, type RunningUpstream } from './upstream-books.ts';

// A FAKE: a server of `/v1/videos` in one of its dialects, which makes no videos. How each one answers is from the code of
// vLLM-Omni 0.30 and SGLang 0.5 and from the documentation of OpenRouter and OpenAI.

export type VideosUpstream = RunningUpstream & {
  readonly books: OwnBooks;
  /** Every create, in order: its media type, and its fields as text; files count as their sizes in bytes. */
  readonly creates: readonly Create[];
  /** The next create is refused with this. */
  refuse(status: number, body: object): void;
  /** Changes the record of every job. */
  embellish(fields: object): void;
  /** The HTTP status of every record. */
  fail(status: number): void;
};

type Create = { readonly contentType: string; readonly fields: Readonly<Record<string, unknown>> };

type Service = {
  readonly dialect: DialectName;
  /** Undefined for a server without authentication. */
  readonly key: string | undefined;
  readonly books: OwnBooks;
  readonly creates: Create[];
  readonly jobs: Map<string, { readonly createdAt: number; readonly prompt: string }>;
  refusal: { readonly status: number; readonly body: object } | undefined;
  extra: object;
  status: number | undefined;
};

export async function startVideosUpstream(dialect: DialectName, key: string | undefined): Promise<VideosUpstream> {
  const books = createBooks();
  const service: Service = {
    dialect,
    key,
    books,
    creates: [],
    jobs: new Map(),
    refusal: undefined,
    extra: {},
    status: undefined,
  };
  const forget = async () => {
    if (!isInMemory(dialect)) return;
    for (const id of service.jobs.keys()) await books.end(id, 'failed');
    service.jobs.clear();
  };
  const server = await startRestartableServer((request, response) => answer(service, request, response), forget);
  return {
    ...server,
    books,
    creates: service.creates,
    videoPath: fakeVideoPath,
    refuse: (status, body) => (service.refusal = { status, body }),
    embellish: (fields) => (service.extra = fields),
    fail: (status) => (service.status = status),
  };
}

function isInMemory(dialect: DialectName): boolean {
  return dialect === 'vllm-omni' || dialect === 'sglang';
}

async function answer(service: Service, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { dialect, key, books, jobs } = service;
  const bytes = await buffer(request).catch(() => undefined);
  if (bytes === undefined) return;
  const { pathname } = new URL(request.url ?? '', 'http://fake');
  if (key !== undefined && request.headers.authorization !== `Bearer ${key}`)
    return send(response, 401, fault(dialect, 'bad key'));
  const [, id, content] = /^\/v1\/videos(?:\/([^/]+))?(\/content)?$/.exec(pathname) ?? [];
  if (!pathname.startsWith('/v1/videos')) return send(response, 404, { detail: 'Not Found' });
  if (request.method === 'POST') return await create(service, request, bytes, response);
  if (id === undefined) {
    if (!isInMemory(dialect)) return send(response, 404, fault(dialect, 'no list here'));
    const newest = [...jobs.keys()].toReversed().slice(0, 100);
    return send(response, 200, { object: 'list', data: newest.map((name) => record(service, name)), has_more: false });
  }
  if (!jobs.has(id)) return send(response, 404, fault(dialect, 'Video not found'));
  const state = books.find(id)?.state;
  if (content !== undefined) {
    if (state !== 'succeeded') return send(response, 404, fault(dialect, 'Generation is still in-progress'));
    return await sendFakeVideo(request, response);
  }
  if (request.method === 'DELETE') return remove(service, id, response);
  const shown = record(service, id);
  send(response, service.status ?? statusOf(dialect, shown), shown);
}

/** vLLM-Omni answers a read of a failed job with the status of its error. */
function statusOf(dialect: DialectName, { status, error }: JobRecord): number {
  if (dialect !== 'vllm-omni' || status !== 'failed') return 200;
  const code = typeof error === 'object' ? error?.code : undefined;
  return typeof code === 'number' ? code : 500;
}

async function create(
  service: Service,
  request: IncomingMessage,
  bytes: Buffer,
  response: ServerResponse,
): Promise<void> {
  const { dialect, books, creates, jobs, refusal } = service;
  if (refusal !== undefined) {
    service.refusal = undefined;
    return send(response, refusal.status, refusal.body);
  }
  const contentType = request.headers['content-type'] ?? '';
  const isForm = contentType.startsWith('multipart/form-data');
  if (!isForm && dialect === 'vllm-omni')
    return send(response, 422, { detail: [{ loc: ['body', 'prompt'], type: 'missing' }] });
  const fields = isForm
    ? await formFields(contentType, bytes)
    : (JSON.parse(bytes.toString()) as Record<string, unknown>); // a fake trusts what it is sent
  if (dialect === 'vllm-omni' && isTooMuchForH3(fields))
    return send(response, 400, { detail: 'fl2va takes at most 2 images' });
  creates.push({ contentType: isForm ? 'multipart/form-data' : contentType, fields });
  const id = newId(dialect);
  const prompt = String(fields['prompt']);
  books.begin({ id, prompt });
  jobs.set(id, { createdAt: Math.floor(Date.now() / 1000), prompt });
  send(response, dialect === 'openrouter' ? 202 : 200, record(service, id));
}

/** A proxy such as LiteLLM packs its own names into the id: 310 characters for MiniMax-H3 on vLLM. */
function newId(dialect: DialectName): string {
  if (dialect === 'vllm-omni') return `video_gen_${randomUUID().replaceAll('-', '')}`;
  return dialect === 'generic' ? `video_${randomBytes(228).toString('base64url')}` : randomUUID();
}

/** MiniMax-H3 takes images for the first and the last frame, unless the request names a task. */
function isTooMuchForH3({ model, extra_params: extra, input_references: references }: Create['fields']): boolean {
  const { task = 'fl2va' } = JSON.parse(typeof extra === 'string' ? extra : '{}') as { task?: string }; // the provider writes JSON
  return String(model).includes('MiniMax-H3') && task === 'fl2va' && Array.isArray(references) && references.length > 2;
}

async function formFields(contentType: string, bytes: Buffer): Promise<Record<string, unknown>> {
  const form = await new Response(Uint8Array.from(bytes), { headers: { 'content-type': contentType } }).formData();
  const fields: Record<string, unknown> = {};
  for (const name of new Set(form.keys())) {
    const values = form.getAll(name).map((value) => (typeof value === 'string' ? value : value.size));
    fields[name] = values.length === 1 ? values[0] : values;
  }
  return fields;
}

/** vLLM-Omni aborts the job; SGLang only forgets it; OpenAI's own deletes ended ones alone. */
function remove(service: Service, id: string, response: ServerResponse): void {
  const { dialect, books, jobs } = service;
  const isRunning = books.find(id)?.state === 'running';
  if (dialect === 'openrouter') return send(response, 405, fault(dialect, 'method not allowed'));
  if (dialect === 'generic' && isRunning) return send(response, 400, fault(dialect, 'the video is in progress'));
  const shown = record(service, id);
  jobs.delete(id);
  if (dialect === 'vllm-omni') books.cancel(id);
  send(
    response,
    200,
    dialect === 'sglang' ? { ...shown, status: 'deleted' } : { id, deleted: true, object: 'video.deleted' },
  );
}

type JobRecord = {
  readonly id: string;
  readonly status?: unknown;
  readonly error?: string | { readonly code?: unknown } | null;
};

const words: Record<BookedState, string> = {
  running: 'in_progress',
  succeeded: 'completed',
  failed: 'failed',
  canceled: 'failed',
};

function record({ dialect, books, jobs, extra }: Service, id: string): JobRecord {
  const state = books.find(id)?.state ?? 'failed';
  const { createdAt, prompt = '' } = jobs.get(id) ?? {};
  const status = words[state];
  const hasFailed = status === 'failed';
  if (dialect === 'openrouter') {
    const polling = { id, polling_url: `/api/v1/videos/${id}`, status: state === 'running' ? 'pending' : status };
    const ended = state === 'succeeded' && {
      unsigned_urls: [`https://example.com/v1/videos/${id}/content?index=0`],
      usage: { cost: 0.5 },
    };
    return { ...polling, ...ended, ...(hasFailed && { error: 'the upstream failed' }), ...extra };
  }
  const failure = dialect === 'sglang' ? { message: 'out of memory' } : { code: 500, message: 'out of memory' };
  const shown = {
    id,
    object: 'video',
    model: 'model',
    status,
    progress: state === 'succeeded' ? 100 : 40,
    created_at: createdAt,
    size: '1280x720',
    seconds: '5',
    ...(dialect === 'vllm-omni' && { prompt }),
    ...(dialect === 'sglang' && { file_path: `/srv/outputs/${id}.mp4` }),
    error: hasFailed ? failure : null,
    ...extra,
  };
  return shown;
}

function fault(dialect: DialectName, message: string): object {
  return isInMemory(dialect)
    ? { detail: message }
    : { error: { code: 'not_ok', message, type: 'invalid_request_error' } };
}
