import { type Clock, systemClock } from './clock.ts';
import type {
  Callback,
  CallbackQuery,
  CancelledTask,
  Catalogue,
  CreatedTask,
  Credits,
  DeletedTask,
  KeyRequest,
  Keys,
  LedgerEntry,
  LedgerQuery,
  ListedTask,
  NewApiKey,
  RevokedKey,
  TaskPage,
  TaskPrice,
  TaskQuery,
  TaskRecord,
  TaskRequest,
  TaskTimeline,
  UploadedMedia,
} from './contract.ts';
import { download, type DownloadOptions } from './download.ts';
import { generate, type GeneratedVideo, type GenerateOptions } from './generate.ts';
import { idempotencyKeyOf } from './idempotency-key.ts';
import { itemsOf } from './pages.ts';
import { read, send } from './send.ts';
import type { CallDefaults, CallOptions, Transport } from './transport.ts';
import { upload, type UploadOptions } from './upload.ts';
import { waitForTask, type WaitOptions } from './wait-for-task.ts';

export type ClientOptions = CallDefaults & {
  /** The address of the service, for example `https://video.example.com`. */
  readonly baseUrl: string;
  /** An API key, `vg_…`. It spends credits: keep it out of public pages. */
  readonly key: string;
  /** The runtime's own by default. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  readonly clock?: Clock | undefined;
};

export type CreateOptions = CallOptions & {
  /** A new one by default. To repeat a create after a crash of your program, choose it and store it with your order. */
  readonly idempotencyKey?: string | undefined;
};

/** Every call throws VideogenError if it fails after its retries. */
export type Client = {
  /** Creates a task, waits for its end, and returns a link to its video. Throws `no_video` if the task fails. */
  generate(request: TaskRequest, options?: GenerateOptions): Promise<GeneratedVideo>;
  /** Creates a task and charges it once: the idempotency key is the same for all attempts. */
  createTask(request: TaskRequest, options?: CreateOptions): Promise<CreatedTask>;
  /** Returns the price of a request, which it checks as `createTask` does, without creating a task. */
  priceTask(request: TaskRequest, options?: CallOptions): Promise<TaskPrice>;
  /** Uploads a reference image, video or audio file. Its `url` goes into one of its `fields` of a request's input. */
  upload(file: Blob | Uint8Array, options?: UploadOptions): Promise<UploadedMedia>;
  /** Returns a task's record, with fresh links. */
  recordInfo(taskId: string, options?: CallOptions): Promise<TaskRecord>;
  /** Waits until a task has ended, in success or failure, and returns its record. */
  waitForTask(taskId: string, options?: WaitOptions): Promise<TaskRecord>;
  /** Opens the video of a successful task: `body` of the response is its stream, `blob()` all of it. */
  download(taskId: string, options?: DownloadOptions): Promise<Response>;
  /** Returns a task with its steps, ledger entries and callback. */
  timeline(taskId: string, options?: CallOptions): Promise<TaskTimeline>;
  /** Ends an unfinished task and refunds it in full. */
  cancelTask(taskId: string, options?: CallOptions): Promise<CancelledTask>;
  /** Deletes the content of a finished task: prompt, images, video and callback. Safe to repeat. */
  deleteTask(taskId: string, options?: CallOptions): Promise<DeletedTask>;
  /** Yields the account's tasks, newest first. Reads the next page when it is needed. */
  tasks(query?: TaskQuery, options?: CallOptions): AsyncGenerator<ListedTask, void, undefined>;
  /** Returns a page of the account's tasks, newest first. */
  listTasks(query?: TaskQuery, options?: CallOptions): Promise<TaskPage>;
  /** Returns the balance and a page of the ledger, newest first. */
  credits(query?: LedgerQuery, options?: CallOptions): Promise<Credits>;
  /** Yields the entries of the ledger, newest first. */
  ledger(query?: LedgerQuery, options?: CallOptions): AsyncGenerator<LedgerEntry, void, undefined>;
  /** Yields the account's callbacks with their delivery attempts, newest first. */
  callbacks(query?: CallbackQuery, options?: CallOptions): AsyncGenerator<Callback, void, undefined>;
  /** Lists the models with their prices, and the account's limits. */
  models(options?: CallOptions): Promise<Catalogue>;
  /** Lists the account's API keys, without their secrets. */
  listKeys(options?: CallOptions): Promise<Keys>;
  /** Creates an API key. Makes one attempt by default, because a repetition could leave a second key. */
  createKey(request: KeyRequest, options?: CallOptions): Promise<NewApiKey>;
  /** Revokes an API key, permanently. Safe to repeat. */
  revokeKey(keyId: string, options?: CallOptions): Promise<RevokedKey>;
};

/** Creates a client of one service with one key. Throws a TypeError for an invalid address or key. */
export function createClient(options: ClientOptions): Client {
  const transport = transportOf(options);
  return {
    generate: (request, call = {}) => generate(transport, request, call),
    createTask: (request, { idempotencyKey, ...call } = {}) =>
      send(transport, '/api/v1/jobs/createTask', request, {
        ...call,
        idempotencyKey: idempotencyKeyOf(idempotencyKey),
      }),
    priceTask: (request, call) => send(transport, '/api/v1/jobs/price', request, call),
    upload: (file, call = {}) => upload(transport, file, call),
    recordInfo: (taskId, call) => read(transport, '/api/v1/jobs/recordInfo', { taskId }, call),
    waitForTask: (taskId, wait = {}) => waitForTask(transport, taskId, wait),
    download: (taskId, call = {}) => download(transport, taskId, call),
    timeline: (taskId, call) => read(transport, '/api/v1/jobs/timeline', { taskId }, call),
    cancelTask: (taskId, call) => send(transport, '/api/v1/jobs/cancelTask', { taskId }, call),
    deleteTask: (taskId, call) => send(transport, '/api/v1/jobs/deleteTask', { taskId }, call),
    listTasks: (query = {}, call) => read(transport, '/api/v1/jobs/listTasks', query, call),
    credits: (query = {}, call) => read(transport, '/api/v1/credits', query, call),
    models: (call) => read(transport, '/api/v1/models', {}, call),
    listKeys: (call) => read(transport, '/api/v1/keys', {}, call),
    createKey: (request, call) => send(transport, '/api/v1/keys', request, { ...call, maxTries: call?.maxTries ?? 1 }),
    revokeKey: (keyId, call) => send(transport, '/api/v1/keys/revoke', { keyId }, call),
    tasks: (query = {}, call) =>
      itemsOf(
        query,
        (page) => read(transport, '/api/v1/jobs/listTasks', { ...query, ...page }, call),
        ({ tasks }) => tasks,
      ),
    ledger: (query = {}, call) =>
      itemsOf(
        query,
        (page) => read(transport, '/api/v1/credits', { ...query, ...page }, call),
        ({ entries }) => entries,
      ),
    callbacks: (query = {}, call) =>
      itemsOf(
        query,
        (page) => read(transport, '/api/v1/callbacks', { ...query, ...page }, call),
        ({ callbacks }) => callbacks,
      ),
  };
}

function transportOf(options: ClientOptions): Transport {
  const { baseUrl, key, fetch, clock = systemClock, timeoutMs = 30_000, maxTries = 6, onResponse, onRetry } = options;
  if (!/^https?:\/\//i.test(baseUrl) || !URL.canParse(baseUrl))
    throw new TypeError('baseUrl must be an address that begins with http:// or https://');
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) throw new TypeError('an API key is 1 to 255 visible ASCII characters');
  return {
    baseUrl: baseUrl.replace(/\/+$/, ''),
    key,
    defaults: { timeoutMs, maxTries, onResponse, onRetry },
    // Browsers reject a `fetch` that is called without its window, so an arrow calls it.
    fetch: fetch ?? ((input, init) => globalThis.fetch(input, init)),
    clock,
  };
}
