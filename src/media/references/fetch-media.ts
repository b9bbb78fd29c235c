import { setTimeout as delay } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { ResponseHead } from '../../platform/outbound/body/read-response.ts';
import type { GuardedClient } from '../../platform/outbound/guarded-client.ts';
import { OutboundError } from '../../platform/outbound/outbound-error.ts';
import { TaskError } from '../../catalogue/tasks/task-error.ts';
import type { FailCode } from '../../catalogue/tasks/fail-codes-and-outcomes.ts';
import type { MediaKind } from '../../catalogue/input/resolutions-ratios-and-field-bounds.ts';

export type MediaToFetch = {
  readonly url: string;
  /** Messages name it by this path in the request: `input.imageUrls[0]`. */
  readonly path: string;
};

export type FetchSettings = {
  /** An existing folder of this attempt. */
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly client: Pick<GuardedClient, 'download'>;
  /** Copies media that were uploaded to us to `path`, and returns whether they still exist. Undefined for every other address. */
  readonly readUpload?: (url: string, path: string) => Promise<boolean> | undefined;
};

export type DownloadLimits = {
  readonly kind: MediaKind;
  readonly maxMegabytes: number;
  /** Covers the whole download, so that a slow or endless file ends. */
  readonly timeoutMs: number;
  readonly accept: string;
};

const maxRedirects = 3;
/** Media of one task that are fetched at the same time. */
const maxParallel = 3;

const codeOf = (kind: MediaKind, why: 'unreachable' | 'invalid') =>
  `${kind === 'image' ? 'image' : 'media'}_${why}` as const satisfies FailCode;

/**
 * Runs `fetchOne` for each source, and returns the outcomes in their order. The first error stops the other fetches, and is thrown after
 * the last one has ended, because the folder is deleted then.
 */
export async function fetchEach<Settings extends FetchSettings, Fetched>(
  sources: readonly MediaToFetch[],
  settings: Settings,
  fetchOne: (settings: Settings, index: number, source: MediaToFetch) => Promise<Fetched>,
): Promise<readonly Fetched[]> {
  const stop = new AbortController();
  const stoppable = { ...settings, signal: AbortSignal.any([settings.signal, stop.signal]) };
  const limited = pLimit(maxParallel);
  const fetches = sources.map((source, index) => limited(() => fetchOne(stoppable, index, source)));
  try {
    return await Promise.all(fetches);
  } catch (error) {
    stop.abort();
    await Promise.allSettled(fetches);
    throw error;
  }
}

/** Writes the bytes of a source to a new file at `path`. Throws `TaskError`; an error that the source did not cause may be retried. */
export async function downloadOrCopyMedia(
  { client, readUpload, signal }: Omit<FetchSettings, 'folder'>,
  source: MediaToFetch,
  path: string,
  { kind, maxMegabytes, timeoutMs, accept }: DownloadLimits,
): Promise<void> {
  const { url } = source;
  const unreachable = (why: string, cause?: unknown) => mediaError(codeOf(kind, 'unreachable'), source, why, cause);
  const isThere = await readUpload?.(url, path);
  if (isThere === true) return;
  if (isThere === false) throw unreachable('has expired; upload it again');
  const limits = { maxBytes: maxMegabytes * 1024 * 1024, timeoutMs, maxRedirects, headers: { accept }, signal };
  const download = () =>
    client.download(url, path, limits).catch((error: unknown) => {
      if (!(error instanceof OutboundError) || error.kind === 'aborted' || error.kind === 'busy') throw error;
      if (error.kind === 'too_large') throw invalidMediaError(kind, source, `is larger than ${maxMegabytes} MB`, error);
      if (error.kind === 'encoding')
        throw unreachable(`could not be fetched: its server compressed it as ${error.detail}`, error);
      // The message is the same for every network error, so that it reveals nothing about our network.
      throw unreachable('could not be fetched', new Error(`${error.kind}: ${error.detail}`, { cause: error }));
    });
  let answer = await download();
  const pauseMs = pauseBeforeRetry(answer);
  if (pauseMs !== undefined) {
    await delay(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    answer = await download();
  }
  if (answer.status < 200 || answer.status > 299)
    throw unreachable(`could not be fetched: its server answered ${answer.status}`);
}

const usualPauseMs = 2_000;
/** A server that needs longer gets no second request. */
const maxPauseMs = 30_000;

/** Returns the pause that a busy server requests; undefined for every other answer, which is final. */
function pauseBeforeRetry({ status, headers }: ResponseHead): number | undefined {
  if (status !== 429 && status !== 503) return undefined;
  const requested = headers['retry-after'];
  const ms =
    requested === undefined
      ? usualPauseMs
      : /^\d+$/.test(requested)
        ? Number(requested) * 1000
        : Date.parse(requested) - Date.now();
  if (Number.isNaN(ms)) return usualPauseMs;
  return ms > maxPauseMs ? undefined : Math.max(0, ms);
}

export function invalidMediaError(
  kind: MediaKind,
  source: Pick<MediaToFetch, 'path'>,
  why: string,
  cause?: unknown,
): TaskError {
  return mediaError(codeOf(kind, 'invalid'), source, why, cause);
}

/** Final, because retrying only where it might help would show a client which addresses we refuse. */
function mediaError(failCode: FailCode, { path }: Pick<MediaToFetch, 'path'>, why: string, cause?: unknown): TaskError {
  return new TaskError(failCode, `${path} ${why}.`, { cause });
}
