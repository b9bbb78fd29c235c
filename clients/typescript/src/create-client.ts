import { type Clock, systemClock } from './clock.ts';
import type {
  CancelledTask,
  Catalogue,
  CreatedTask,
  Credits,
  DeletedTask,
  LedgerQuery,
  TaskPage,
  TaskPrice,
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
  /** The address of the service, for example `https://video.example.com`. */
  readonly baseUrl: string;
  /** An API key, `vg_…`. It spends credits: keep it out of public pages. */
  readonly key: string;
  /** The time limit of one attempt, in milliseconds; by default 30 seconds. */
  readonly timeoutMs?: number | undefined;
  /** The number of attempts per call; by default 6, which outlasts a restart of the service. */
  readonly maxTries?: number | undefined;
  /** Called before each retry, for example to show why the program waits. */
  readonly onRetry?: ((retry: Retry) => void) | undefined;
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
  /** Creates a task and charges it once: the idempotency key is the same for all attempts. */
  createTask(request: TaskRequest, options?: CreateOptions): Promise<CreatedTask>;
  /** Returns the price of a request, which it checks as `createTask` does, without creating a task. */
  priceTask(request: TaskRequest, options?: CallOptions): Promise<TaskPrice>;
  /** Returns a task's record, with fresh links. */
  recordInfo(taskId: string, options?: CallOptions): Promise<TaskRecord>;
  /** Waits until a task has ended, in success or failure, and returns its record. */
  waitForTask(taskId: string, options?: WaitOptions): Promise<TaskRecord>;
  /** Opens the video of a successful task: `body` of the response is its stream, `blob()` all of it. */
  download(taskId: string, options?: DownloadOptions): Promise<Response>;
  /** Ends an unfinished task and refunds it in full. */
  cancelTask(taskId: string, options?: CallOptions): Promise<CancelledTask>;
  /** Deletes the content of a finished task: prompt, images, video and callback. Safe to repeat. */
  deleteTask(taskId: string, options?: CallOptions): Promise<DeletedTask>;
  /** Lists the account's tasks, newest first, a page at a time. */
  listTasks(query?: TaskQuery, options?: CallOptions): Promise<TaskPage>;
  /** Returns the balance and a page of the ledger, newest first. */
  credits(query?: LedgerQuery, options?: CallOptions): Promise<Credits>;
  /** Lists the models with their prices, and the account's limits. */
  models(options?: CallOptions): Promise<Catalogue>;
};

/** Creates a client of one service with one key. Throws a TypeError for an invalid address or key. */
export function createClient(options: ClientOptions): Client {
  const transport = transportOf(options);
  return {
    createTask: (request, { idempotencyKey = newIdempotencyKey(), signal } = {}) =>
      createTask(transport, request, checkIdempotencyKey(idempotencyKey), signal),
    priceTask: (request, call) =>
      send(transport, { ...call, method: 'POST', path: '/api/v1/jobs/price', body: request }),
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
    // Browsers reject a `fetch` that is called without its window, so an arrow calls it.
    fetch: fetch ?? ((input, init) => globalThis.fetch(input, init)),
    clock,
    onRetry,
  };
}
