import type { RequestBody } from '../provider-contract.ts';

export function jsonBody(value: unknown): RequestBody {
  return { contentType: 'application/json', bytes: JSON.stringify(value) };
}

export type FormFile = { readonly name: string; readonly contentType: string; readonly bytes: Buffer };

/** The name distinguishes the file from others of its job. */
export function jpegFile(bytes: Buffer, index: number): FormFile {
  return { name: `image-${index + 1}.jpg`, contentType: 'image/jpeg', bytes };
}

/** A `multipart/form-data` body. A field may have several values. */
export async function formBody(fields: readonly (readonly [string, string | FormFile])[]): Promise<RequestBody> {
  const form = new FormData();
  for (const [field, value] of fields) {
    if (typeof value === 'string') form.append(field, value);
    else form.append(field, new Blob([Uint8Array.from(value.bytes)], { type: value.contentType }), value.name);
  }
  const encoded = new Response(form);
  const contentType = encoded.headers.get('content-type') ?? 'multipart/form-data';
  return { contentType, bytes: new Uint8Array(await encoded.arrayBuffer()) };
}
