import { writeFile } from 'node:fs/promises';
import { invalidRequest, HttpError } from '../http/errors.ts';
import type { HttpDeps } from '../http/http-deps.ts';
import { maxUploads, uploadUrl } from '../media/upload.ts';
import { mediaFields } from '../tasks/task-input.ts';

const dataUrl = /^data:[\w.+-]+\/[\w.+-]+(?:;[\w-]+=[\w."-]+)*;base64,/;

type InlineDeps = Pick<HttpDeps, 'storeUpload' | 'publicUrl'>;
/** `path`: the field, for errors. */
type Given = { readonly path: string; readonly value: unknown };

/**
 * Stores a file of a form, or of a data URL, as an upload of the account, and returns its URL. Any other value is returned unchanged, for
 * the parser to accept or to refuse. The same file is stored once, so that a repeated request is the same request.
 */
export async function hostInlineMedia(deps: InlineDeps, accountId: string, { path, value }: Given): Promise<unknown> {
  const bytes = await bytesOf(value, path);
  if (bytes === undefined) return value;
  const outcome = await deps.storeUpload(accountId, (file) => writeFile(file, bytes, { flag: 'wx' }), {
    reuses: true,
  });
  if (outcome.kind === 'too_many') throw new HttpError('too_many_uploads', { data: { limit: maxUploads } });
  if (outcome.kind === 'refused') throw invalidRequest([{ path, message: `the file ${outcome.why}` }]);
  return uploadUrl(deps.publicUrl, outcome.upload);
}

type Media = Readonly<Record<string, unknown>>;

/** Returns the fields of reference media with an upload in place of each file. `pathOf`: the client's name for a field, for errors. */
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
    const urls: unknown[] = [];
    for (const [index, file] of value.entries()) urls.push(await host(`${pathOf(name)}[${index}]`, file));
    hosted[name] = urls;
  }
  return hosted;
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

/** Media of a request for a field of ours. `path`: the client's field, for errors. */
export type InlineMedia = Given & { readonly field: string };

/** The fields of all media of a request. Several media of a field are a list, and so is one unless the field is a frame. */
export async function hostMediaFields(deps: InlineDeps, accountId: string, media: readonly InlineMedia[]) {
  const fields: Record<string, unknown> = {};
  for (const { field, ...given } of media) {
    const url = await hostInlineMedia(deps, accountId, given);
    fields[field] = field.endsWith('Url') ? url : [...[fields[field] ?? []].flat(), url];
  }
  return fields;
}
