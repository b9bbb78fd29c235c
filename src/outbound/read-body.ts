import { OutboundError } from './outbound-error.ts';
import type { OutboundResponse } from './exchange.ts';

/** Hands a whole body on, chunk by chunk, each after the one before. Throws `too_large` before it hands on too much. */
export async function readAll(
  response: OutboundResponse,
  maxBytes: number,
  sink: (chunk: Buffer) => Promise<void> | void,
): Promise<number> {
  const tooLarge = () => new OutboundError('too_large', `more than ${maxBytes} bytes`);
  if (Number(response.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  let bytes = 0;
  for await (const chunk of chunksOf(response)) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge();
    await sink(chunk);
  }
  return bytes;
}

/**
 * The first `maxBytes` of a body, or what came of them within `graceMs` or before it broke: the status has been given,
 * so nothing that happens to the body can be a failure any more.
 */
export async function readStart(response: OutboundResponse, maxBytes: number, graceMs: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const timer = setTimeout(() => response.destroy(), graceMs);
  try {
    for await (const chunk of chunksOf(response)) {
      chunks.push(chunk.subarray(0, maxBytes - bytes));
      bytes += chunk.length;
      if (bytes >= maxBytes) break;
    }
  } catch {
    // What has arrived is the answer; see above.
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks);
}

/** The types say `any` for a chunk; without an encoding it is always a Buffer. */
function chunksOf(response: OutboundResponse): AsyncIterable<Buffer> {
  return response;
}
