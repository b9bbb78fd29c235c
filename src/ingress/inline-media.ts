import { writeFile } from 'node:fs/promises';
import { invalidRequest, HttpError } from '../http/errors.ts';
import type { HttpDeps } from '../http/http-deps.ts';
import { maxUploads, uploadUrl } from '../media/upload.ts';
import { inputLimits } from '../tasks/input-bounds.ts';
import { mediaFields } from '../tasks/task-input.ts';

const dataUrl = /^data:[\w.+-]+\/[\w.+-]+(?:;[\w-]+=[\w."-]+)*;base64,/;

type InlineDeps = Pick<HttpDeps, 'storeUpload' | 'publicUrl'>;
type Media = Readonly<Record<string, unknown>>;

/**
 * Returns the fields of reference media with an upload of the account in place of each file, which may be a part of a form or a data URL.
 * Any other value is returned unchanged, for the parser to accept or to refuse. `pathOf`: the client's name for a field, for errors.
 */
export async function hostMedia(
  deps: InlineDeps,
  accountId: string,
  { input, pathOf }: { readonly input: Media; readonly pathOf: (field: string) => string },
): Promise<Media> {
  const hosted: Record<string, unknown> = {};
  for (const { name } of mediaFields) {
    const value = input[name];
    const host = (path: string, file: unknown) => hostInlineMedia(deps, accountId, { path, value: file });
    if (!Array.isArray(value)) {
      if (value !== undefined) hosted[name] = await host(pathOf(name), value);
      continue;
    }
    // A longer list is refused, so its files are not stored.
    if (value.length > inputLimits.maxImages) continue;
    const urls: unknown[] = [];
    for (const [index, file] of value.entries()) urls.push(await host(pathOf(`${name}[${index}]`), file));
    hosted[name] = urls;
  }
  return hosted;
}

/**
 * Stores the same file once, so that a repeated request has the same URLs and
 * matches its idempotency key.
 */
export async function hostInlineMedia(
  deps: InlineDeps,
  accountId: string,
  { path, value }: { readonly path: string; readonly value: unknown },
): Promise<unknown> {
  const bytes = await bytesOf(value, path);
  if (bytes === undefined) return value;
  const outcome = await deps.storeUpload(accountId, (file) => writeFile(file, bytes, { flag: 'wx' }), {
    reuses: true,
  });
  if (outcome.kind === 'too_many') throw new HttpError('too_many_uploads', { data: { limit: maxUploads } });
  if (outcome.kind === 'refused') throw invalidRequest([{ path, message: `the file ${outcome.why}` }]);
  return uploadUrl(deps.publicUrl, outcome.upload);
}

async function bytesOf(value: unknown, path: string): Promise<Uint8Array | undefined> {
  if (value instanceof Blob) return new Uint8Array(await value.arrayBuffer());
  if (typeof value !== 'string' || !value.startsWith('data:')) return undefined;
  const [prefix] = dataUrl.exec(value.slice(0, 200)) ?? [];
  const base64 = value.slice(prefix?.length ?? 0);
  if (prefix === undefined || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) {
    throw invalidRequest([{ path, message: 'must be an http or https URL, or a data URL in base64' }]);
  }
  return Buffer.from(base64, 'base64');
}
