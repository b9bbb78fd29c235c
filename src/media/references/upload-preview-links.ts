import type { Database } from '../../platform/database/database.ts';
import { uploadFromUrl, uploadKey } from './upload-limits-and-addresses.ts';
import { findUsableUploadsByIds } from './upload-rows.ts';

export type PreviewDeps = {
  readonly db: Pick<Database, 'run'>;
  readonly publicUrl: string;
  readonly resultStore: { readonly link: (key: string) => string };
};

/** The address by which an input names an uploaded file, and a signed link that shows it. */
export type UploadPreview = { readonly url: string; readonly previewUrl: string };

/** Returns links to those files among the addresses that the account uploaded and still has. */
export async function uploadPreviewsOf(
  { db, publicUrl, resultStore }: PreviewDeps,
  accountId: string,
  urls: readonly string[],
): Promise<readonly UploadPreview[]> {
  const named = [...new Set(urls)].flatMap((url) => {
    const upload = uploadFromUrl(publicUrl, url);
    return upload === undefined ? [] : [{ url, ...upload }];
  });
  if (named.length === 0) return [];
  const ids = named.map(({ uploadId }) => uploadId);
  const usable = new Set((await findUsableUploadsByIds(db, accountId, ids)).map(uploadKey));
  return named
    .filter((upload) => usable.has(uploadKey(upload)))
    .map(({ url, ...upload }) => ({ url, previewUrl: resultStore.link(uploadKey(upload)) }));
}
