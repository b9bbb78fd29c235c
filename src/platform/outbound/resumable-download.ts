import { open as openFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { chunksOf } from './body/read-response.ts';
import { encodingsOf } from './body/content-encoding.ts';
import { runWithDeadline } from './deadlines-and-slots.ts';
import { OutboundError } from './outbound-error.ts';

/** A larger file is no valid result. */
export const maxVideoBytes = 2 ** 30;

export type ResumableLimits = {
  readonly maxBytes: number;
  /** A download without a byte for this time is broken. */
  readonly stallMs: number;
  /** The pause after a break; it doubles up to the longest while no byte comes. */
  readonly firstPauseMs: number;
  readonly maxPauseMs: number;
};

export type DownloadResumablyInput = {
  /** One GET, redirects included. */
  readonly open: <T>(
    signal: AbortSignal,
    headers: Readonly<Record<string, string>>,
    read: (response: IncomingMessage) => Promise<T>,
  ) => Promise<T>;
  readonly toFile: string;
  readonly signal: AbortSignal;
  readonly onBreak?: (error: OutboundError) => void;
  readonly limits?: Partial<ResumableLimits> | undefined;
};

/** The written part of a file. Only a validator proves that a later answer is of the same file. */
type Part = { bytes: number; total?: number | undefined; validator?: string | undefined };

/** After this many breaks in a row without a new byte the address may be the cause, so the caller requests a fresh one. */
const maxBreaksWithoutProgress = 3;

/**
 * Downloads into a file, and requests the rest after a break. Throws the signal's reason; the error of an expired address, of which a fresh one may work; that of a full disk;
 * and `OutboundError` for a forbidden address, a file that is too large, a closed client or the third break without progress.
 */
export async function downloadResumably({
  open,
  toFile,
  signal,
  onBreak,
  limits: given,
}: DownloadResumablyInput): Promise<void> {
  const limits = { maxBytes: maxVideoBytes, stallMs: 60_000, firstPauseMs: 1_000, maxPauseMs: 30_000, ...given };
  const part: Part = { bytes: 0 };
  let furthest = 0;
  let breaks = 0;
  for (let pauseMs = limits.firstPauseMs; ; pauseMs = Math.min(limits.maxPauseMs, 2 * pauseMs)) {
    signal.throwIfAborted();
    try {
      return await runWithDeadline(limits.stallMs, [signal], async (alive, restart) => {
        const receiving = open(alive, rangeOf(part), async (response) => {
          begin(response, part);
          await append(response, part, { toFile, maxBytes: limits.maxBytes, onChunk: restart });
        });
        await receiving.catch((error: unknown) => {
          alive.throwIfAborted();
          throw error;
        });
      });
    } catch (error) {
      signal.throwIfAborted();
      if (!isBreak(error)) throw error;
      onBreak?.(error);
      const hasProgress = part.bytes > furthest;
      breaks = hasProgress ? 0 : breaks + 1;
      if (breaks >= maxBreaksWithoutProgress) throw error;
      if (hasProgress) pauseMs = limits.firstPauseMs;
    }
    furthest = Math.max(furthest, part.bytes);
    // An aborted pause leads to the check of the signal.
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

function isBreak(error: unknown): error is OutboundError {
  return error instanceof OutboundError && !['blocked', 'too_large', 'encoding', 'aborted'].includes(error.kind);
}

function rangeOf({ bytes, validator }: Part): Readonly<Record<string, string>> {
  return bytes === 0 || validator === undefined ? {} : { range: `bytes=${bytes}-`, 'if-range': validator };
}

/** Stores answer an expired link with 400, 401, 403, 404 or 410. Only after 408, 416, 425 and 429 may the same link work later. */
function isExpired(status: number): boolean {
  return status >= 400 && status < 500 && ![408, 416, 425, 429].includes(status);
}

/**
 * Leaves `part` as it is if the answer is the rest of the file, resets it if the answer is the whole file, and throws for any other answer.
 */
function begin({ statusCode = 0, headers }: IncomingMessage, part: Part): void {
  if (isExpired(statusCode)) throw new Error(`the address of the download answered ${statusCode}`);
  const validator = validatorOf(headers);
  if (statusCode === 200) {
    const length = headers['content-length'];
    // The length and the ranges of a compressed answer are those of another file, so a broken one begins anew.
    const whole = encodingsOf({ headers }).length > 0 ? {} : { total: length && Number(length), validator };
    Object.assign(part, { bytes: 0, ...unresumable, ...whole });
    return;
  }
  if (statusCode !== 206 && statusCode !== 416) throw new OutboundError('protocol', `HTTP ${statusCode}`);
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers['content-range'] ?? '') ?? [];
  const isSameFile =
    (validator === undefined || validator === part.validator) && (part.total ?? Number(total)) === Number(total);
  const isPlain = encodingsOf({ headers }).length === 0;
  const isRest = statusCode === 206 && isPlain && part.bytes > 0 && Number(start) === part.bytes;
  if (!isRest || !isSameFile) {
    part.bytes = 0;
    throw new OutboundError('protocol', `HTTP ${statusCode}, not the rest of the file`);
  }
  part.total = Number(total);
}

const unresumable = { total: undefined, validator: undefined } satisfies Partial<Part>;

/** Only what changes with every byte of the file: a weak tag does not. */
function validatorOf({ etag, 'last-modified': lastModified }: IncomingHttpHeaders): string | undefined {
  return etag?.startsWith('"') === true ? etag : lastModified;
}

type Target = { readonly toFile: string; readonly maxBytes: number; readonly onChunk: () => void };

async function append(response: IncomingMessage, part: Part, { toFile, maxBytes, onChunk }: Target): Promise<void> {
  await using file = await openFile(toFile, part.bytes === 0 ? 'w' : 'a');
  const onUnnamed = () => void Object.assign(part, unresumable);
  for await (const chunk of chunksOf(response, maxBytes - part.bytes, onUnnamed)) {
    await file.appendFile(chunk);
    part.bytes += chunk.length;
    onChunk();
  }
  if (part.total === undefined || part.bytes === part.total) return;
  const { bytes, total } = part;
  if (bytes > total) part.bytes = 0;
  throw new OutboundError('closed', `${bytes} of ${total} bytes`);
}
