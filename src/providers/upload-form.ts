import type { RequestBody } from './contract.ts';

/** A reference file on its way to the server; `name` distinguishes it from the other files of its job. */
export type UploadedFile = {
  readonly name: string;
  readonly contentType: string;
  readonly bytes: Buffer;
};

/** A `multipart/form-data` body with one file. */
export async function formWith(
  field: string,
  { name, contentType, bytes }: UploadedFile,
  others: Readonly<Record<string, string>>,
): Promise<RequestBody> {
  const form = new FormData();
  form.append(field, new Blob([Uint8Array.from(bytes)], { type: contentType }), name);
  for (const [other, value] of Object.entries(others)) form.append(other, value);
  const encoded = new Response(form);
  const type = encoded.headers.get('content-type') ?? 'multipart/form-data';
  return { contentType: type, bytes: new Uint8Array(await encoded.arrayBuffer()) };
}
