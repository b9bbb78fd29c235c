import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** `version` is part of its address, because browsers cache the file. */
export type Logo = { readonly type: string; readonly bytes: Buffer; readonly version: string };

const maxBytes = 256 * 1024;

/** Reads a PNG or WebP. An SVG is a document that may contain scripts, so it is refused. */
export function readLogo(path: string): Logo {
  const bytes = readFileSync(path);
  if (bytes.length > maxBytes) throw new Error(`must be a file of at most ${maxBytes / 1024} KB`);
  const type = typeOf(bytes);
  if (type === undefined) throw new Error('must be a PNG or WebP file');
  return { type, bytes, version: createHash('sha256').update(bytes).digest('hex').slice(0, 12) };
}

function typeOf(bytes: Buffer): string | undefined {
  if (bytes.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex'))) return 'image/png';
  const isWebp = bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP';
  return isWebp ? 'image/webp' : undefined;
}
