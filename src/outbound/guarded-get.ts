import { open } from 'node:fs/promises';
import type { OutboundResponse } from './exchange.ts';
import { followRedirects } from './follow-redirects.ts';
import { checkedUrl } from './guarded-send.ts';
import { sendInSlot, signalsOf, statusOf, type OutboundRoom, type OutboundStatus, type Read } from './outbound-room.ts';
import { readAll } from './read-body.ts';
import { withDeadline } from './with-deadline.ts';

export type GetOptions = {
  readonly maxBytes: number;
  /** For everything: slots, look-ups, redirects and the body. */
  readonly timeoutMs: number;
  readonly maxRedirects: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
};

export type GetAnswer = OutboundStatus & { readonly body: Buffer };
export type DownloadAnswer = OutboundStatus & { readonly bytes: number };

export async function guardedGet(room: OutboundRoom, url: string, options: GetOptions): Promise<GetAnswer> {
  return await follow(room, url, options, async (response) => {
    const chunks: Buffer[] = [];
    if (isSuccess(response)) await readAll(response, options.maxBytes, (chunk) => void chunks.push(chunk));
    return { ...statusOf(response), body: Buffer.concat(chunks) };
  });
}

export async function guardedDownload(
  room: OutboundRoom,
  url: string,
  path: string,
  options: GetOptions,
): Promise<DownloadAnswer> {
  return await follow(room, url, options, async (response) => {
    if (!isSuccess(response)) return { ...statusOf(response), bytes: 0 };
    await using file = await open(path, 'wx');
    const bytes = await readAll(response, options.maxBytes, (chunk) => file.appendFile(chunk));
    return { ...statusOf(response), bytes };
  });
}

function isSuccess({ statusCode = 0 }: OutboundResponse): boolean {
  return statusCode >= 200 && statusCode < 300;
}

/** Bodies are asked for as they are: unpacked ones could be a thousand times larger than what `maxBytes` counts. */
async function follow<T>(room: OutboundRoom, url: string, options: GetOptions, read: Read<T>): Promise<T> {
  const headers = { 'user-agent': 'Videogen', 'accept-encoding': 'identity', ...options.headers };
  return await withDeadline(options.timeoutMs, signalsOf(room, options.signal), async (signal) => {
    const send = async <A>(address: string, readOne: Read<A>): Promise<A> =>
      await sendInSlot(room, { method: 'GET', url: checkedUrl(address, room.guard.allow), headers }, signal, readOne);
    return await followRedirects(url, options.maxRedirects, send, read);
  });
}
