import { writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { decodedBody } from './content-encoding.ts';
import { outboundErrorFor } from '../send-request.ts';
import { OutboundError } from '../outbound-error.ts';

/** Headers hold at most 16 KiB, Node's own bound, with names in lower case. */
export type ResponseHead = { readonly status: number; readonly headers: IncomingHttpHeaders };
export type Answer = ResponseHead & { readonly body: Buffer };
/** `isPublic`: any client may reach the server, and so read the answer; false also if its address is unknown. */
export type AnswerWithIsPublic = Answer & { readonly isPublic: boolean };

/** Yields the chunks of a decoded body. Throws `OutboundError` for errors of the other side and for more than `maxBytes`. */
export async function* chunksOf(
  response: IncomingMessage,
  maxBytes: number,
  onUnnamed?: () => void,
): AsyncGenerator<Buffer> {
  const tooLarge = () => new OutboundError('too_large', `more than ${maxBytes} bytes`);
  if (Number(response.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  let bytes = 0;
  try {
    for await (const chunk of await decodedBody(response, onUnnamed)) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLarge();
      yield chunk;
    }
  } catch (error) {
    throw outboundErrorFor(error, 'closed');
  }
}

/** Reads a body in chunks, and returns the part that belongs in memory. */
export type BodyChunkReader = (chunks: AsyncIterable<Buffer>) => Promise<Buffer>;

/** Reads the whole body: into memory, unless `read` stores it elsewhere. */
export async function readWholeBody(
  response: IncomingMessage,
  maxBytes: number,
  read: BodyChunkReader = buffer,
): Promise<Answer> {
  return { ...headOf(response), body: await read(chunksOf(response, maxBytes)) };
}

/** Reads the whole body of a 2xx. That of any other status is not read, and returned empty. */
export async function readBodyIfSuccess(response: IncomingMessage, maxBytes: number): Promise<Answer> {
  return isSuccess(response) ? await readWholeBody(response, maxBytes) : { ...headOf(response), body: Buffer.alloc(0) };
}

/** Writes the body of a 2xx to a new file. */
export async function saveBodyIfSuccess(
  response: IncomingMessage,
  path: string,
  maxBytes: number,
): Promise<ResponseHead> {
  if (isSuccess(response)) await writeFile(path, chunksOf(response, maxBytes), { flag: 'wx' });
  return headOf(response);
}

/**
 * Reads the first `maxBytes` of a body, or the part that arrived in time or before it broke: after the status, an error of the body is no
 * failure.
 */
export async function readBodyStart(response: IncomingMessage, maxBytes: number): Promise<Answer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of chunksOf(response, Infinity)) {
      chunks.push(chunk.subarray(0, maxBytes - bytes));
      bytes += chunk.length;
      if (bytes >= maxBytes) break;
    }
  } catch {
    // The part that has arrived is the answer.
  }
  return { ...headOf(response), body: Buffer.concat(chunks) };
}

function headOf({ statusCode = 0, headers }: IncomingMessage): ResponseHead {
  return { status: statusCode, headers };
}

function isSuccess({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 200 && statusCode < 300;
}
