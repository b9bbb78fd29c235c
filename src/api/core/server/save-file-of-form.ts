import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Context } from '../request-context-and-responses.ts';
import { HttpError, invalidRequest } from '../http-error.ts';
import { requireFormBoundary, isFormDelimiter } from './read-json-or-multipart.ts';
import { saveBodyToFile } from './read-or-save-body-within-limits.ts';

/** The headers and boundaries of a form with one file, and fields that some programs add. */
export const maxFormOverheadBytes = 64 * 1024;
const maxHeaderBytes = 8 * 1024;
const maxParts = 20;

type Part = { readonly from: number; readonly to: number; readonly isFile: boolean };

export function isMultipartForm(ctx: Context): boolean {
  return ctx.get('Content-Type').toLowerCase().startsWith('multipart/form-data');
}

/** Writes the only file of a form to a new file, without holding it in memory. */
export async function saveOnlyFileOfForm(ctx: Context, path: string, maxBytes: number): Promise<void> {
  const boundary = Buffer.from(`--${requireFormBoundary(ctx.get('Content-Type'))}`);
  const formPath = `${path}.form`;
  await saveBodyToFile(ctx, formPath, maxBytes);
  const { from, to } = onlyFile(await partsOf(formPath, boundary));
  // A range of no bytes cannot be expressed to the stream.
  const content = from < to ? createReadStream(formPath, { start: from, end: to - 1 }) : [];
  await pipeline(content, createWriteStream(path, { flags: 'wx' }));
  await rm(formPath);
}

/** A form with a single part may lack the name of the file. */
function onlyFile(parts: readonly Part[]): Part {
  const files = parts.filter(({ isFile }) => isFile);
  const [file, ...others] = files.length === 0 && parts.length === 1 ? parts : files;
  if (file !== undefined && others.length === 0) return file;
  throw invalidRequest([{ path: '', message: `the form must have one file; it has ${files.length}` }]);
}

async function partsOf(path: string, boundary: Buffer): Promise<readonly Part[]> {
  await using file = await open(path);
  const delimiters = await delimitersIn(file, boundary);
  const parts: Part[] = [];
  for (const [index, to] of delimiters.slice(1).entries()) {
    const start = (delimiters[index] ?? 0) + boundary.length;
    const head = (await readAt(file, start, maxHeaderBytes)).toString('latin1');
    const end = head.indexOf('\r\n\r\n');
    if (end === -1) throw new HttpError('malformed_form');
    // A line break precedes the next boundary.
    parts.push({
      from: start + end + 4,
      to: Math.max(start + end + 4, to - 2),
      isFile: /;\s*filename\*?=/i.test(head.slice(0, end)),
    });
  }
  if (parts.length === 0) throw new HttpError('malformed_form');
  return parts;
}

const blockBytes = 1024 * 1024;
/** The line break before a boundary, and the white space that may follow it. */
const around = 128;

/** Returns where the boundaries are, in the order of the file. */
async function delimitersIn(file: FileHandle, boundary: Buffer): Promise<readonly number[]> {
  const found: number[] = [];
  const { size } = await file.stat();
  for (let start = 0; start < size; start += blockBytes) {
    // Blocks overlap, so that each boundary is whole in one of them.
    const from = Math.max(0, start - 2);
    const block = await readAt(file, from, blockBytes + boundary.length + around);
    for (let at = block.indexOf(boundary); at !== -1; at = block.indexOf(boundary, at + boundary.length)) {
      const isOfBlock = from + at >= start && from + at < start + blockBytes;
      if (isOfBlock && isFormDelimiter(block, at, at + boundary.length)) found.push(from + at);
      if (found.length > maxParts) throw invalidRequest([{ path: '', message: 'the form must have one file' }]);
    }
  }
  return found;
}

async function readAt(file: FileHandle, at: number, bytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, at);
  return buffer.subarray(0, bytesRead);
}
