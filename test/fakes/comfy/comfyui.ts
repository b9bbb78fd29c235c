import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { fakeVideoPath, send, sendFakeVideo, startRestartableServer } from '../restartable-server.ts';
import { createBooks, type OwnBooks, type RunningUpstream } from '../upstream-books.ts';

// A FAKE: a ComfyUI server that runs no graph. How it answers was recorded from ComfyUI 0.8. A graph needs one text of the class
// CLIPTextEncode, by which the tests find their jobs in the books.

export type Graph = Readonly<
  Record<string, { readonly class_type: string; readonly inputs: Readonly<Record<string, unknown>> }>
>;

export type FakeComfyui = RunningUpstream & {
  readonly books: OwnBooks;
  /** Every graph that was begun, in order; one id may come several times, as in the real server. */
  readonly graphs: readonly Graph[];
  /** Uploaded images: the name under which a graph finds them, and their bytes. */
  readonly images: ReadonlyMap<string, number>;
  /** True: jobs wait in the queue from now on. False: they run when they come. */
  hold(isHeld: boolean): void;
  /** The outputs of the workflow, instead of a video. */
  write(outputs: object): void;
  /** The next prompts are refused with this body. */
  refuse(body: object | undefined): void;
  /** The node classes that it has, each with the inputs that it needs. */
  readonly classes: Map<string, readonly string[]>;
};

/** Some of the classes that every ComfyUI has. */
const coreClasses: Readonly<Record<string, readonly string[]>> = {
  CLIPLoader: ['clip_name', 'type'],
  CLIPTextEncode: ['text', 'clip'],
  CreateVideo: ['images', 'fps'],
  KSampler: ['model', 'seed', 'steps', 'cfg', 'sampler_name', 'scheduler', 'positive', 'negative'].concat([
    'latent_image',
    'denoise',
  ]),
  LoadImage: ['image'],
  SaveVideo: ['video', 'filename_prefix', 'format', 'codec'],
  SaveWEBM: ['images', 'filename_prefix', 'codec', 'fps', 'crf'],
  UNETLoader: ['unet_name', 'weight_dtype'],
  VAEDecode: ['samples', 'vae'],
  VAELoader: ['vae_name'],
  Wan22ImageToVideoLatent: ['vae', 'width', 'height', 'length', 'batch_size'],
};

type Service = {
  readonly books: OwnBooks;
  readonly graphs: Graph[];
  readonly images: Map<string, number>;
  /** Lost in a restart, as queue and history are. */
  readonly jobs: Map<string, { readonly graph: Graph; readonly isPending: boolean; end?: 'interrupted' }>;
  readonly files: Set<string>;
  readonly classes: Map<string, readonly string[]>;
  isHeld: boolean;
  outputs: object | undefined;
  refusal: object | undefined;
};

export async function startFakeComfyui(): Promise<FakeComfyui> {
  const books = createBooks();
  const service: Service = {
    books,
    graphs: [],
    images: new Map(),
    jobs: new Map(),
    files: new Set(),
    classes: new Map(Object.entries(coreClasses)),
    isHeld: false,
    outputs: undefined,
    refusal: undefined,
  };
  const forget = async () => {
    for (const id of service.jobs.keys()) await books.end(id, 'failed');
    service.jobs.clear();
  };
  const server = await startRestartableServer((request, response) => answer(service, request, response), forget);
  const writing: OwnBooks = {
    ...books,
    end: async (id, state) => {
      await books.end(id, state);
      const stem = prefixOf(service.jobs.get(id)?.graph) ?? `ComfyUI_${id}`;
      if (state === 'succeeded') service.files.add(`${stem}_00001_.mp4`);
    },
  };
  return {
    ...server,
    books: writing,
    graphs: service.graphs,
    images: service.images,
    classes: service.classes,
    videoPath: fakeVideoPath,
    hold: (isHeld) => (service.isHeld = isHeld),
    write: (outputs) => (service.outputs = outputs),
    refuse: (body) => (service.refusal = body),
  };
}

function inputOf(graph: Graph | undefined, className: string, name: string): string | undefined {
  const value = Object.values(graph ?? {}).find(({ class_type }) => class_type === className)?.inputs[name];
  return typeof value === 'string' ? value : undefined;
}

function prefixOf(graph: Graph | undefined): string | undefined {
  return inputOf(graph, 'SaveVideo', 'filename_prefix');
}

async function answer(service: Service, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { books, jobs } = service;
  const bytes = await buffer(request);
  const url = new URL(request.url ?? '', 'http://fake');
  const json = () => JSON.parse(bytes.toString()) as Record<string, unknown>; // a fake trusts what it is sent
  const [, historyOf] = /^\/history\/(.+)$/.exec(url.pathname) ?? [];
  const [, cancelled] = /^\/api\/jobs\/(.+)\/cancel$/.exec(url.pathname) ?? [];
  if (historyOf !== undefined) return send(response, 200, history(service, historyOf));
  if (cancelled !== undefined) {
    interrupt(service, cancelled);
    return send(response, 200, {});
  }
  switch (`${request.method} ${url.pathname}`) {
    case 'GET /object_info':
      return send(response, 200, Object.fromEntries([...service.classes].map(([name, needs]) => [name, info(needs)])));
    case 'GET /queue':
      return send(response, 200, {
        queue_running: inQueue(service, false),
        queue_pending: inQueue(service, true),
      });
    case 'POST /queue':
      for (const id of (json()['delete'] ?? []) as string[]) {
        if (jobs.get(id)?.isPending !== true) continue;
        books.cancel(id);
        jobs.delete(id);
      }
      return send(response, 200, {});
    case 'POST /interrupt':
      interrupt(service, String(json()['prompt_id']));
      return send(response, 200, {});
    case 'POST /prompt':
      return prompt(service, json(), response);
    case 'POST /upload/image':
      return send(response, 200, await stored(service, request, bytes));
    case 'HEAD /view':
    case 'GET /view':
      return await view(service, url.searchParams, request, response);
    default:
      return send(response, 404, {});
  }
}

function info(needs: readonly string[]): object {
  const required = Object.fromEntries(needs.map((name) => [name, ['STRING', {}]]));
  return { input: { required, optional: {} }, input_order: { required: needs }, output: [], output_node: false };
}

function prompt(service: Service, body: Record<string, unknown>, response: ServerResponse): void {
  const { books, graphs, jobs, refusal, isHeld } = service;
  if (refusal !== undefined) return send(response, 400, refusal);
  const graph = body['prompt'] as Graph;
  const id = String(body['prompt_id']);
  graphs.push(graph);
  books.begin({ id, prompt: inputOf(graph, 'CLIPTextEncode', 'text') ?? '' });
  jobs.set(id, { graph, isPending: isHeld });
  send(response, 200, { prompt_id: id, number: graphs.length, node_errors: {} });
}

function inQueue({ books, jobs }: Service, isPending: boolean): readonly unknown[] {
  const entries = [...jobs].filter(([id, job]) => job.isPending === isPending && books.find(id)?.state === 'running');
  return entries.map(([id, { graph }], index) => [index, id, graph, { client_id: id }, ['9']]);
}

function interrupt({ books, jobs }: Service, id: string): void {
  const job = jobs.get(id);
  if (job === undefined || books.find(id)?.state !== 'running') return;
  if (job.isPending) jobs.delete(id);
  else job.end = 'interrupted';
  books.cancel(id);
}

function history({ books, jobs, outputs }: Service, id: string): object {
  const job = jobs.get(id);
  const state = books.find(id)?.state;
  if (job === undefined || state === undefined || state === 'running') return {};
  const messages: unknown[] = [['execution_start', { prompt_id: id }]];
  if (job.end === 'interrupted') messages.push(['execution_interrupted', { prompt_id: id, node_id: '3' }]);
  if (state === 'failed') {
    messages.push([
      'execution_error',
      { node_id: '3', exception_type: 'torch.OutOfMemoryError', exception_message: 'out of memory' },
    ]);
  }
  if (state === 'succeeded') messages.push(['execution_success', { prompt_id: id }]);
  const [, subfolder = '', stem = ''] = /^(?:(.*)\/)?(.*)$/.exec(prefixOf(job.graph) ?? `ComfyUI_${id}`) ?? [];
  const images = [{ filename: `${stem}_00001_.mp4`, subfolder, type: 'output' }];
  return {
    [id]: {
      prompt: [1, id, job.graph, {}, ['9']],
      outputs: state === 'succeeded' ? (outputs ?? { '9': { images, animated: [true] } }) : {},
      status: { status_str: state === 'succeeded' ? 'success' : 'error', completed: state === 'succeeded', messages },
    },
  };
}

async function stored({ images }: Service, request: IncomingMessage, bytes: Buffer): Promise<object> {
  const headers = { 'content-type': request.headers['content-type'] ?? '' };
  const form = await new Response(Uint8Array.from(bytes), { headers }).formData();
  const file = form.get('image');
  if (!(file instanceof File)) throw new Error('no image in the upload');
  const given = form.get('subfolder');
  const subfolder = typeof given === 'string' ? given : '';
  images.set(`${subfolder === '' ? '' : `${subfolder}/`}${file.name}`, file.size);
  return { name: file.name, subfolder, type: 'input' };
}

async function view({ files }: Service, asked: URLSearchParams, request: IncomingMessage, response: ServerResponse) {
  const name = [asked.get('subfolder'), asked.get('filename')].filter((part) => part !== null && part !== '').join('/');
  if (!files.has(name)) return send(response, 404, {});
  await sendFakeVideo(request, response);
}
