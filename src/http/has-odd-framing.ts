import type { IncomingMessage } from 'node:http';

/**
 * Whether a proxy before us may see another end of this request than we do, which is how requests are smuggled. Node refuses
 * most such requests itself; it takes codings under `chunked` that it does not undo, and chunks in HTTP/1.0, where RFC 9112
 * (section 6.1) wants the framing to be treated as faulty.
 */
export function hasOddFraming({ headers, httpVersion }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding'];
  return coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion !== '1.1');
}
