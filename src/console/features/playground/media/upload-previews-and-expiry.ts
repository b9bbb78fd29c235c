import { uploadFromUrl } from '../../../../media/references/upload-limits-and-addresses.ts';
import { useRead } from '../../../api/read-and-send-hooks.ts';
import { nonEmptyStringsOf, isObject, type InputValues } from '../../models/field-schema-helpers.ts';
import { previewLinkOf, storeUploadPreviewLink } from '../../tasks/reference-media-thumbnail.tsx';
import type { Draft } from '../draft/draft.ts';

/** The service returns at most this many links per request. */
const maxPreviews = 50;

const expired = new Set<string>();

/** Reads links to the uploaded files of a draft that this page has not uploaded itself, as after a reload. */
export function useLoadUploadPreviews({ input }: Draft): void {
  const urls = [...new Set(textsIn(input))].filter((url) => isUploadUrl(url) && previewLinkOf(url) === undefined);
  const unknown = urls.filter((url) => !expired.has(url)).slice(0, maxPreviews);
  const { data } = useRead('/api/v1/uploads/previews', { urls: unknown.join() }, { isEnabled: unknown.length > 0 });
  if (data === undefined) return;
  for (const { url, previewUrl } of data.previews) storeUploadPreviewLink(url, previewUrl);
  for (const url of unknown) if (previewLinkOf(url) === undefined) expired.add(url);
}

/** The service no longer has the file. */
export function isUploadExpired(url: string): boolean {
  return expired.has(url);
}

/** True for the address of an uploaded file, under any host name of the service. */
export function isUploadUrl(url: string): boolean {
  return URL.canParse(url) && uploadFromUrl('', new URL(url).pathname) !== undefined;
}

function textsIn(input: InputValues): readonly string[] {
  return Object.values(input).flatMap((value) => (isObject(value) ? textsIn(value) : nonEmptyStringsOf(value)));
}
