import { uuidPattern } from '../platform/uuid.ts';

// Reference images that clients upload: they lie in our own store, and a task names them by an address of ours, which is never fetched.

export const uploadTypes = ['image/jpeg', 'image/png', 'image/webp'] as const;
export const maxUploadBytes = 10 * 1024 * 1024;

/** The limits of an account: its images, and their bytes. */
export const maxUploads = 500;
export const maxUploadedBytes = 1024 * 1024 * 1024;

/** A task may wait a day, and be generated for another one, after it was accepted with an image that was about to expire. */
export const uploadGraceMs = 50 * 60 * 60_000;

/** The key of an image in the result store. */
export function uploadKey(uploadId: string): string {
  return `uploads/${uploadId}/image.jpg`;
}

const uploadPath = new RegExp(`^/media/uploads/(${uuidPattern})/image\\.jpg$`);

/** The address by which a task names an image; it never changes, and leads nowhere without a signature. */
export function uploadUrl(publicUrl: string, uploadId: string): string {
  return `${publicUrl}/media/${uploadKey(uploadId)}`;
}

/** The image that such an address names; undefined for every other one, also when it differs only in its spelling. */
export function uploadIdOf(publicUrl: string, url: string): string | undefined {
  return url.startsWith(publicUrl) ? uploadPath.exec(url.slice(publicUrl.length))?.[1] : undefined;
}

/** True for a signed link that shows an uploaded image. It expires, so a task must not depend on it. */
export function isUploadPreview(publicUrl: string, url: string): boolean {
  const [address = '', query] = url.split('?', 2);
  return query !== undefined && uploadIdOf(publicUrl, address) !== undefined;
}

/** The uploads that the addresses of a request name. */
export function uploadIdsOf(publicUrl: string, media: readonly { readonly url: string }[]): readonly string[] {
  return media.map(({ url }) => uploadIdOf(publicUrl, url)).filter((uploadId) => uploadId !== undefined);
}
