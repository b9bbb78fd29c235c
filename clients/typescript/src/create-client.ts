import { type Clock, systemClock } from './clock.ts';
import type {
  CancelledTask,
  Catalogue,
  CreatedTask,
  Credits,
  DeletedTask,
  LedgerQuery,
  TaskPage,
  TaskQuery,
  TaskRecord,
  TaskRequest,
} from './contract.ts';
import { download, type DownloadOptions } from './download.ts';
import { checkIdempotencyKey, newIdempotencyKey } from './idempotency-key.ts';
import { send } from './send.ts';
import type { CallOptions, Retry, Transport } from './transport.ts';
import { waitForTask, type WaitOptions } from './wait-for-task.ts';

export type ClientOptions = {
  /** Where the service is, for example `https://video.example.com`. */
  readonly baseUrl: string;
  /** An API key, `vg_…`. It spends credits: keep it out of pages that strangers can read. */
  readonly key: string;
  /** For one try of one call, in milliseconds; by default 30 seconds. */
  readonly timeoutMs?: number | undefined;
  /** Tries of one call altogether; by default 6, which outlasts a restart of the service. */
  readonly maxTries?: number | undefined;
  /** Hears of each try that is about to be repeated, so that a person who waits can be told why. */
  readonly onRetry?: ((retry: Retry) => void) | undefined;
  /** By default the runtime's own. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** For tests. */
  readonly clock?: Clock | undefined;
};

export type CreateOptions = CallOptions & {
  /** By default a fresh one. Give your own, kept where you keep the order, to repeat a create after a crash of yours. */
  readonly idempotencyKey?: string | undefined;
};

/** Every call throws VideogenError when it does not succeed, after the repeats that may help. */
export type Client = {
  /** Creates and charges a task, once: the idempotency key is the same for all tries. */
  createTask(request: TaskRequest, options?: CreateOptions): Promise<CreatedTask>;
  /** One task as it is now, with fresh links. */
  recordInfo(taskId: string, options?: CallOptions): Promise<TaskRecord>;
  /** Waits for the end of a task, in success or failure, and answers its record. */
  waitForTask(taskId: string, options?: WaitOptions): Promise<TaskRecord>;
  /** Opens the video of a successful task: `body` of the answer is its stream, `blob()` the whole. */
  download(taskId: string, options?: DownloadOptions): Promise<Response>;
  /** Ends a live task, refunded in full. */
  cancelTask(taskId: string, options?: CallOptions): Promise<CancelledTask>;
  /** Deletes what a task that has ended was about: prompt, images, video and callback. May be repeated. */
  deleteTask(taskId: string, options?: CallOptions): Promise<DeletedTask>;
  /** The account's tasks, newest first, a page at a time. */
  listTasks(query?: TaskQuery, options?: CallOptions): Promise<TaskPage>;
  /** The balance and a page of the ledger, newest first. */
  credits(query?: LedgerQuery, options?: CallOptions): Promise<Credits>;
  /** Models with their prices, and the account's limits. */
  models(options?: CallOptions): Promise<Catalogue>;
};

/** A client of one service with one key. Throws a TypeError for an address or a key that can never be right. */
export function createClient(options: ClientOptions): Client {
  const transport = transportOf(options);
  return {
    createTask: (request, { idempotencyKey = newIdempotencyKey(), signal } = {}) =>
      createTask(transport, request, checkIdempotencyKey(idempotencyKey), signal),
    recordInfo: (taskId, call) =>
      send(transport, { ...call, method: 'GET', path: '/api/v1/jobs/recordInfo', query: { taskId } }),
    waitForTask: (taskId, wait = {}) => waitForTask(transport, taskId, wait),
    download: (taskId, call = {}) => download(transport, taskId, call),
    cancelTask: (taskId, call) =>
      send(transport, { ...call, method: 'POST', path: '/api/v1/jobs/cancelTask', body: { taskId } }),
    deleteTask: (taskId, call) =>
      send(transport, { ...call, method: 'POST', path: '/api/v1/jobs/deleteTask', body: { taskId } }),
    listTasks: (query, call) => send(transport, { ...call, method: 'GET', path: '/api/v1/jobs/listTasks', query }),
    credits: (query, call) => send(transport, { ...call, method: 'GET', path: '/api/v1/credits', query }),
    models: (call) => send(transport, { ...call, method: 'GET', path: '/api/v1/models' }),
  };
}

function createTask(
  transport: Transport,
  body: TaskRequest,
  idempotencyKey: string,
  signal: AbortSignal | undefined,
): Promise<CreatedTask> {
  return send(transport, { method: 'POST', path: '/api/v1/jobs/createTask', body, idempotencyKey, signal });
}

function transportOf(options: ClientOptions): Transport {
  const { baseUrl, key, timeoutMs = 30_000, maxTries = 6, fetch, clock = systemClock, onRetry } = options;
  if (!/^https?:\/\//i.test(baseUrl) || !URL.canParse(baseUrl))
    throw new TypeError('baseUrl must be an address that begins with http:// or https://');
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) throw new TypeError('an API key is 1 to 255 visible ASCII characters');
  return {
    baseUrl: baseUrl.replace(/\/+$/, ''),
    key,
    timeoutMs,
    maxTries,
    // Called through an arrow, for browsers refuse a fetch that has lost its window.
    fetch: fetch ?? ((input, init) => globalThis.fetch(input, init)),
    clock,
    onRetry,
  };
}
