import type { TaskRecord } from './contract.ts';
import { readAnswer } from './read-answer.ts';
import { exchange, read } from './send.ts';
import type { CallOptions, Transport } from './transport.ts';
import { VideogenError } from './videogen-error.ts';
import { withRetries } from './with-retries.ts';

export type DownloadOptions = Omit<CallOptions, 'timeoutMs'> & {
  /** The time limit of the whole download, in milliseconds; by default ten minutes. */
  readonly timeoutMs?: number | undefined;
};

const defaultTimeoutMs = 10 * 60_000;

/**
 * Opens the video of a successful task: `body` of the response is its stream, `blob()` all of it. The link is requested
 * again, so it is valid, and is fetched without the API key. Throws `unfinished` or `no_video` if there is no video. A
 * stream that stalls for the time of one attempt, or exceeds the whole limit, ends with `unreachable`.
 */
export async function download(transport: Transport, taskId: string, options: DownloadOptions): Promise<Response> {
  const { timeoutMs = defaultTimeoutMs, ...call } = options;
  const url = videoUrlOf(await read(transport, '/api/v1/jobs/recordInfo', { taskId }, call));
  return withRetries(transport, call, () => open(transport, url, { ...call, timeoutMs }));
}

/** Returns the link to the video of a task. Throws `no_video`, or `unfinished` before its end. */
export function videoUrlOf(record: TaskRecord): string {
  const { taskId, state, failMsg, resultJson } = record;
  if (state === 'fail')
    throw new VideogenError('no_video', `task ${taskId} has failed: ${failMsg ?? 'no reason given'}`, { record });
  if (state !== 'success') throw new VideogenError('unfinished', `task ${taskId} is ${state} and has no video yet`);
  const [url] = resultJson.resultUrls;
  if (url === undefined) throw new VideogenError('no_video', `the video of task ${taskId} was deleted`, { record });
  return url;
}

type OpenOptions = DownloadOptions & { readonly timeoutMs: number };

async function open(
  transport: Transport,
  url: string,
  { timeoutMs, signal: callerSignal }: OpenOptions,
): Promise<Response> {
  const { clock, defaults } = transport;
  const deadline = clock.now() + timeoutMs;
  const stop = new AbortController();
  const within: Within = (work) => {
    const limitMs = Math.max(0, Math.min(defaults.timeoutMs, deadline - clock.now()));
    return exchange({ url, limitMs, call: { signal: callerSignal } }, (signal) => {
      signal.addEventListener('abort', () => stop.abort(signal.reason), { once: true });
      return work();
    });
  };
  const response = await within(() => transport.fetch(url, { signal: stop.signal }));
  if (!response.ok) await within(() => readAnswer(response, clock));
  const { status, headers, body } = response;
  return new Response(body === null ? null : timed(body, within, stop), { status, headers });
}

type Within = <T>(work: () => Promise<T>) => Promise<T>;

/** Each read has its own limit, so that no timer outlives a stream, and none runs between reads. */
function timed(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  within: Within,
  stop: AbortController,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  return new ReadableStream(
    {
      pull: async (controller) => {
        // The caller may have aborted between two reads; the connection must not stay open.
        const part = await within(() => reader.read()).catch((error: unknown) => {
          stop.abort(error);
          throw error;
        });
        if (part.done) controller.close();
        else controller.enqueue(part.value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
