import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { frameSize } from '../../src/catalogue/media/frame-size.ts';
import { type Ratio, ratios, type Resolution } from '../../src/catalogue/input/resolutions-ratios-and-field-bounds.ts';
import { fakeVideoPath, send, sendFakeVideo, startRestartableServer } from './restartable-server.ts';
import { createBooks, type OwnBooks, type RunningUpstream } from './upstream-books.ts';

// A FAKE: Ark as its documents and other people's clients describe it, without the videos. Its jobs wait in a queue until the test
// starts or ends them.

export type ArkUpstream = RunningUpstream & {
  readonly books: OwnBooks;
  /** The body of every create, in order. */
  readonly creates: readonly Create[];
  /** `METHOD path` of every request, in order, without the id of a job. */
  readonly requests: string[];
  /** A job leaves the queue. */
  start(id: string): void;
  /** Lists do not show what is created from now on, until it is false again. */
  lag(isLagging: boolean): void;
  /** The next create is refused with it. */
  refuse(status: number, code: string, message: string): void;
};

/** The fields of a create that the fake reads. */
type Create = {
  readonly model: string;
  readonly content: readonly Part[];
  readonly ratio?: string;
  readonly resolution?: string;
  readonly duration?: number;
  readonly generate_audio?: boolean;
  readonly safety_identifier?: string;
  readonly execution_expires_after?: number;
};

type Part = {
  readonly type: string;
  readonly text?: string;
  readonly role?: string;
} & Readonly<Partial<Record<'image_url' | 'video_url' | 'audio_url', { readonly url: string }>>>;

type Kept = { readonly create: Create; readonly createdAt: number; isStarted: boolean; isListed: boolean };

type Service = Required<ArkOptions> & {
  readonly books: OwnBooks;
  readonly creates: Create[];
  readonly requests: string[];
  readonly jobs: Map<string, Kept>;
  isLagging: boolean;
  refusal: { readonly status: number; readonly body: object } | undefined;
};

type ArkOptions = {
  readonly key: string;
  /** As MiniMax has it: other paths, and a record in `task`. */
  readonly isWrapped?: boolean;
  /** Its file is the video of every job; it has 720p by default. */
  readonly videoPath?: string;
};

export async function startArkUpstream({
  key,
  isWrapped = false,
  videoPath = fakeVideoPath,
}: ArkOptions): Promise<ArkUpstream> {
  const books = createBooks();
  const state = { creates: [], requests: [], jobs: new Map<string, Kept>(), isLagging: false, refusal: undefined };
  const service: Service = { key, isWrapped, videoPath, books, ...state };
  const server = await startRestartableServer((request, response) => answer(service, request, response));
  return {
    ...server,
    books,
    creates: service.creates,
    requests: service.requests,
    videoPath,
    start: (id) => {
      const job = service.jobs.get(id);
      if (job !== undefined) job.isStarted = true;
    },
    lag: (isLagging) => {
      service.isLagging = isLagging;
      if (!isLagging) for (const job of service.jobs.values()) job.isListed = true;
    },
    refuse: (status, code, message) => (service.refusal = { status, body: fault(code, message) }),
  };
}

const paths = { create: '/contents/generations/tasks', jobs: '/contents/generations/tasks' };
const wrappedPaths = { create: '/v2/video_generation', jobs: '/v2/query/video_generation' };

async function answer(service: Service, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request).catch(() => undefined);
  if (body === undefined) return;
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://fake');
  // The address of a video is signed, and is not Ark's own API.
  if (pathname.startsWith('/video/')) return await sendFakeVideo(request, response, service.videoPath);
  if (request.headers.authorization !== `Bearer ${service.key}`) {
    return send(response, 401, fault('AuthenticationError', 'The API key in the request is missing or invalid.'));
  }
  const { create: createPath, jobs } = service.isWrapped ? wrappedPaths : paths;
  const id = pathname.startsWith(`${jobs}/`) ? decodeURIComponent(pathname.slice(jobs.length + 1)) : undefined;
  service.requests.push(`${request.method} ${id === undefined ? pathname : `${jobs}/{id}`}`);
  const origin = `http://${request.headers.host}`;
  // The fake trusts what it is sent as far as it does not check it below.
  if (request.method === 'POST' && pathname === createPath)
    return create(service, JSON.parse(body) as Create, response);
  if (request.method === 'GET' && pathname === jobs) return list(service, searchParams, origin, response);
  if (id === undefined || !service.jobs.has(id)) {
    return send(response, 404, fault('NotFound.', 'The specified task is not found.'));
  }
  if (request.method === 'DELETE') return remove(service, id, response);
  send(response, 200, service.isWrapped ? { task: record(service, id, origin) } : record(service, id, origin));
}

function create(service: Service, sent: Create, response: ServerResponse): void {
  const { books, creates, jobs, isLagging, isWrapped } = service;
  const refusal = service.refusal ?? refusalOf(sent);
  service.refusal = undefined;
  if (refusal !== undefined) return send(response, refusal.status, refusal.body);
  const id = `cgt-20261122${String(creates.length).padStart(6, '0')}-abcde`;
  creates.push(sent);
  books.begin({ id, prompt: promptOf(sent) });
  jobs.set(id, { create: sent, createdAt: Date.now(), isStarted: false, isListed: !isLagging });
  send(response, 200, isWrapped ? { task_id: id } : { id });
}

function promptOf({ content }: Create): string {
  return content.map(({ text: words = '' }) => words).join('');
}

/** The documented refusals of a create: an input that is not allowed, and the moderation of its words. */
function refusalOf(sent: Create): { readonly status: number; readonly body: object } | undefined {
  const { model, content, ratio = 'adaptive', resolution = '720p', duration = 5 } = sent;
  const images = content.filter(({ type }) => type === 'image_url');
  const wrong =
    (!model && 'model') ||
    (images.length > 1 && images.some(({ role }) => role === undefined) && 'role must be specified') ||
    (!ratios.includes(ratio as Ratio) && 'ratio') || // `includes` takes no other strings
    mediaFault(content) ||
    (!['480p', '720p', '1080p', '4k'].includes(resolution) && 'resolution') ||
    (!(Number.isInteger(duration) && duration >= 4 && duration <= 15) && 'duration');
  if (typeof wrong === 'string') {
    return { status: 400, body: fault('InvalidParameter', `The parameter is not valid: ${wrong}`) };
  }
  if (!promptOf(sent).includes('forbidden')) return undefined;
  return { status: 400, body: fault('InputTextSensitiveContentDetected', 'The input text may be sensitive.') };
}

const imageRoles = ['first_frame', 'last_frame', 'reference_image'];

/** First frame, both frames, and references are three scenes that exclude each other. Ark fetches videos and sounds. */
function mediaFault(content: readonly Part[]): string | false {
  const roles = content.flatMap(({ role = [] }) => role);
  const frames = roles.filter((role) => role.endsWith('_frame'));
  const isFetched = ({ type, video_url: video, audio_url: audio }: Part) =>
    type === 'image_url' || type === 'text' || /^https?:/.test((video ?? audio)?.url ?? '');
  const isKnown = ({ type, role }: Part) =>
    role === undefined || (type === 'image_url' ? imageRoles.includes(role) : role === `reference_${type.slice(0, 5)}`);
  if (!content.every(isFetched)) return 'url';
  if (!content.every(isKnown) || (frames.length > 0 && frames[0] !== 'first_frame')) return 'role';
  return frames.length > 0 && frames.length < roles.length && 'first/last frame cannot be mixed with reference media';
}

function list({ books, jobs, ...service }: Service, query: URLSearchParams, origin: string, response: ServerResponse) {
  const [pageNumber, pageSize] = [Number(query.get('page_num') ?? 1), Number(query.get('page_size') ?? 10)];
  const [ids, model] = [query.getAll('filter.task_ids'), query.get('filter.model')];
  const fitting = [...jobs].filter(
    ([id, job]) =>
      job.isListed && (ids.length === 0 || ids.includes(id)) && (model === null || job.create.model === model),
  );
  const newest = fitting.map(([id]) => record({ books, jobs, ...service }, id, origin)).toReversed();
  const items = newest.slice((pageNumber - 1) * pageSize, pageNumber * pageSize);
  send(response, 200, { total: newest.length, items });
}

/** Only a job in the queue can be cancelled; of one that has ended the record is removed. */
function remove({ books, jobs }: Service, id: string, response: ServerResponse): void {
  const state = books.find(id)?.state;
  if (state === 'canceled' || (state === 'running' && jobs.get(id)?.isStarted === true)) {
    return send(response, 409, fault('InvalidAction', 'The status of the task does not allow this.'));
  }
  if (state === 'running') books.cancel(id);
  else jobs.delete(id);
  send(response, 200, {});
}

function record({ books, jobs, isWrapped }: Service, id: string, origin: string): object {
  const kept = jobs.get(id);
  const state = books.find(id)?.state ?? 'failed';
  if (kept === undefined) return {};
  const { model, ratio, resolution, duration = 5, ...sent } = kept.create;
  const waiting = kept.isStarted ? 'running' : 'queued';
  const status = { running: waiting, succeeded: 'succeeded', failed: 'failed', canceled: 'cancelled' }[state];
  // `refusalOf` has checked both.
  const { widthPx, heightPx } = frameSize(
    (resolution ?? '720p') as Resolution,
    (ratio ?? 'adaptive') as Ratio,
    undefined,
  );
  const tokens = (widthPx * heightPx * 24 * duration) / 1024;
  const url = `${origin}/video/${id}.mp4?X-Tos-Signature=x`;
  const moderated = promptOf(kept.create).includes('indecent');
  return {
    id,
    model,
    status,
    ...(state === 'succeeded' && {
      content: isWrapped ? { url } : { video_url: url },
      usage: { completion_tokens: tokens, total_tokens: tokens },
    }),
    error: state !== 'failed' ? null : moderated ? outputFault : { code: 'InternalServiceError', message: 'oh' },
    created_at: Math.floor(kept.createdAt / 1000),
    updated_at: Math.floor(Date.now() / 1000),
    resolution,
    ratio: ratio === 'adaptive' ? '16:9' : ratio,
    duration,
    framespersecond: 24,
    service_tier: 'default',
    execution_expires_after: sent.execution_expires_after ?? 172_800,
    generate_audio: sent.generate_audio,
    safety_identifier: sent.safety_identifier,
  };
}

const outputFault = {
  code: 'OutputVideoSensitiveContentDetected.PolicyViolation',
  message: 'The output video may contain sensitive information.',
};

function fault(code: string, message: string): object {
  return { error: { code, message: `${message} Request id: 0217`, param: '', type: 'BadRequest' } };
}
