import { readFile, stat } from 'node:fs/promises';
import type { MediaByRole, PreparedMediaByRole } from '../../catalogue/media/media-by-role.ts';
import type { NotAccepted, Refused } from '../provider-contract.ts';
import {
  regroupByRole,
  videosAndAudiosOf,
  shrinkImagesToFit,
  imagesAndFramesOf,
  refusedAsTooLarge,
} from './media-by-role-and-data-urls.ts';
import { type FormFile, jpegFile } from './request-bodies.ts';

/** `unknown`: the answer to the upload proves nothing. */
export type FileUploadOutcome<Stored> =
  | { readonly stored: Stored }
  | NotAccepted
  | Refused
  | { readonly kind: 'unknown'; readonly detail: string };

/**
 * Sends reference media to an upstream that stores them before a job is created, and returns its references to them. Pictures have at
 * most `maxImageBytes` in all, and each clip at most `maxClipBytes`. Stops at the first file that the upstream declines.
 */
export async function uploadMedia<Stored>(
  media: PreparedMediaByRole,
  { maxImageBytes, maxClipBytes }: { readonly maxImageBytes: number; readonly maxClipBytes: number },
  store: (file: FormFile) => Promise<FileUploadOutcome<Stored>>,
): Promise<MediaByRole<Stored> | NotAccepted | Refused> {
  const jpegs = await shrinkImagesToFit(imagesAndFramesOf(media), maxImageBytes);
  const files = [
    ...jpegs.map((bytes, index) => async () => jpegFile(bytes, index)),
    ...videosAndAudiosOf(media).map(({ path, contentType, extension }, index) => async () => {
      const { size } = await stat(path);
      if (size > maxClipBytes) return refusedAsTooLarge(`a reference clip of ${size} bytes`);
      return { name: `clip-${index + 1}.${extension}`, contentType, bytes: await readFile(path) };
    }),
  ];
  const stored: Stored[] = [];
  for (const read of files) {
    const file = await read();
    const outcome = 'kind' in file ? file : await untilClear(() => store(file));
    if ('kind' in outcome) return outcome;
    stored.push(outcome.stored);
  }
  return regroupByRole(media, stored);
}

/** Uploads cost nothing and make no job, so one without a clear answer is sent again. */
const maxTries = 3;

async function untilClear<Stored>(
  send: () => Promise<FileUploadOutcome<Stored>>,
): Promise<Exclude<FileUploadOutcome<Stored>, { kind: 'unknown' }>> {
  let detail = '';
  for (let tried = 0; tried < maxTries; tried += 1) {
    const outcome = await send();
    if (!('kind' in outcome) || outcome.kind !== 'unknown') return outcome;
    ({ detail } = outcome);
  }
  return { kind: 'not_accepted', reason: 'unreachable', detail };
}
