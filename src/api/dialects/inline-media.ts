import { writeFile } from 'node:fs/promises';
import { invalidRequest, HttpError } from '../core/http-error.ts';
import { formatOfBytes } from '../../media/references/file-format.ts';
import type { StoreUpload } from '../../media/references/store-upload.ts';
import { maxUploadsOfAccount, uploadUrl } from '../../media/references/upload-limits-and-addresses.ts';
import { inputLimits } from '../../catalogue/input/resolutions-ratios-and-field-bounds.ts';
import { mediaFields } from '../../catalogue/input/task-input.ts';

export type InlineMediaDeps = { readonly storeUpload: StoreUpload; readonly publicUrl: string };
type Media = Readonly<Record<string, unknown>>;

const notMedia = 'must be an http or https URL, or a data URL in base64';

/**
 * Returns the fields of reference media with an upload of the account in place of each file, which may be a part of a form or a data URL.
 * Any other value is returned unchanged, for the parser to accept or to refuse. `pathOf`: the client's name for a field, for errors.
 */
export async function storeInlineMedia(
  deps: InlineMediaDeps,
  accountId: string,
  { input, pathOf }: { readonly input: Media; readonly pathOf: (field: string) => string },
): Promise<Media> {
  const hosted: Record<string, unknown> = {};
  for (const { name } of mediaFields) {
    const value = input[name];
    const host = (path: string, file: unknown) => storeInlineFile(deps, accountId, { path, value: file });
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

/** Stores the same file once, so that a repeated request has the same URLs and matches its idempotency key. */
export async function storeInlineFile(
  deps: InlineMediaDeps,
  accountId: string,
  { path, value, notFile = notMedia }: { readonly path: string; readonly value: unknown; readonly notFile?: string },
): Promise<unknown> {
  const bytes = await bytesOf(value, path, notFile);
  if (bytes === undefined) return value;
  const outcome = await deps.storeUpload(accountId, (file) => writeFile(file, bytes, { flag: 'wx' }), {
    reuses: true,
  });
  if (outcome.kind === 'too_many') throw new HttpError('too_many_uploads', { data: { limit: maxUploadsOfAccount } });
  if (outcome.kind === 'refused') throw invalidRequest([{ path, message: `the file ${outcome.why}` }]);
  return uploadUrl(deps.publicUrl, outcome.upload);
}

async function bytesOf(value: unknown, path: string, notFile: string): Promise<Uint8Array | undefined> {
  if (value instanceof Blob) return new Uint8Array(await value.arrayBuffer());
  if (typeof value !== 'string') return undefined;
  const base64 = isDataUrl(value) ? value.slice(prefixBytes(value)) : bareBase64(value);
  if (base64 === undefined) return undefined;
  const bytes = base64Bytes(base64);
  if (bytes === undefined) throw invalidRequest([{ path, message: notFile }]);
  return bytes;
}

export function isDataUrl(value: string): boolean {
  return /^\s*data:/i.test(value.slice(0, 100));
}

/** The length of the prefix; that of the whole value if it is not in base64, so that nothing is left to decode. */
function prefixBytes(value: string): number {
  const [prefix] = /^\s*data:[^,]*;\s*base64\s*,/i.exec(value.slice(0, 400)) ?? [];
  return prefix?.length ?? value.length;
}

/** Shorter text is no file. */
const minBase64 = 100;

/** Returns a value that is a file in base64 without the prefix of a data URL, which its first bytes show. */
function bareBase64(value: string): string | undefined {
  const start = value.slice(0, minBase64).trim();
  if (value.length < minBase64 || !/^[A-Za-z0-9+/_\s-]+$/.test(start)) return undefined;
  const kind = formatOfBytes(Buffer.from(start, 'base64'))?.kind;
  return kind === undefined || kind === 'other' ? undefined : value;
}

/**
 * Decodes base64 as browsers, Python and Node write it: in either alphabet, wrapped, with or without padding, and percent-encoded where
 * it is part of an address. Returns undefined for other text.
 */
function base64Bytes(text: string): Uint8Array | undefined {
  const plain = text
    .replaceAll(/\s+/g, '')
    .replaceAll(/%(2B|2F|3D|0A|0D|20)/gi, (code) => decodeURIComponent(code).trim());
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(plain) ? Buffer.from(plain, 'base64') : undefined;
}
