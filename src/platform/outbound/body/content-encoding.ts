import type { IncomingMessage } from 'node:http';
import { pipeline, Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { OutboundError } from '../outbound-error.ts';

type Decoder = (start: Buffer) => Transform | undefined;

/** By the name of the encoding. Some servers name an encoding and send the file as it is, which its first bytes show. */
const decoders: Readonly<Record<string, Decoder>> = {
  gzip: (start) => (isGzip(start) ? createGunzip() : undefined),
  br: () => createBrotliDecompress(),
  // Half of the servers send it without its header.
  deflate: (start) =>
    (start[0] ?? 0) % 16 === 8 && start.length > 1 && start.readUInt16BE(0) % 31 === 0
      ? createInflate()
      : createInflateRaw(),
};

/** Encodings that Node 20 cannot decode. Any other name, such as that of a character set, is ignored, as browsers do. */
const undecodable = ['zstd', 'compress', 'dcb', 'dcz'];

/** Returns the encodings of a body in the order in which they were applied. Throws `OutboundError` for one that cannot be decoded. */
export function encodingsOf({ headers }: Pick<IncomingMessage, 'headers'>): readonly string[] {
  const names = (headers['content-encoding'] ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase().replace(/^x-/, ''));
  const unknown = names.find((name) => undecodable.includes(name));
  if (unknown !== undefined) throw new OutboundError('encoding', unknown);
  return names.filter((name) => Object.hasOwn(decoders, name));
}

/** The most that a server may apply to one body, and far more than any does. */
const maxEncodings = 3;

/**
 * Returns the decoded body, chunk by chunk, of which the caller limits the bytes. We request none, but some servers compress always.
 * Buckets serve a file that was stored compressed without naming that, which `onUnnamed` reports; nothing that we fetch begins like it.
 */
export async function decodedBody(
  response: IncomingMessage,
  onUnnamed: () => void = () => undefined,
): Promise<AsyncIterable<Buffer>> {
  const named = encodingsOf(response);
  if (named.length > maxEncodings) throw new OutboundError('encoding', named.join(', '));
  const chunks = (response as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  const first = await chunks.next();
  // An empty body is encoded as nothing.
  if (first.done === true) return Readable.from([]);
  const body = rejoined(first.value, chunks);
  // The rest of a file begins with any bytes.
  const isUnnamed = named.length === 0 && response.statusCode !== 206 && isGzip(first.value);
  if (isUnnamed) onUnnamed();
  else if (named.length === 0) return body;
  const steps = (isUnnamed ? ['gzip'] : named)
    .toReversed()
    .flatMap((name, index) => decoders[name]?.(index === 0 ? first.value : magicOf(name)) ?? []);
  // The last one is destroyed with the error of any of them.
  return steps.reduce<Readable>((from, step) => pipeline(from, step, () => undefined), Readable.from(body));
}

function isGzip(start: Buffer): boolean {
  return start[0] === 0x1f && start[1] === 0x8b;
}

/** The start of a body within another encoding is not known. */
function magicOf(name: string): Buffer {
  return Buffer.from(name === 'gzip' ? [0x1f, 0x8b] : [0x78, 0x9c]);
}

async function* rejoined(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield first;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
