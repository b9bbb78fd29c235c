import type { Database } from '../../platform/database/database.ts';
import type { FieldError } from '../../platform/text/field-errors.ts';
import { mediaUrlsOf, type TaskInput } from '../../catalogue/input/task-input.ts';
import { type FrameSize, lastFrameRefusal } from '../../catalogue/media/frame-size.ts';
import { uploadFromUrl, kindByStoredName } from './upload-limits-and-addresses.ts';
import { findUsableUploadsByIds } from './upload-rows.ts';

type Request = {
  readonly accountId: string;
  readonly publicUrl: string;
  readonly input: TaskInput;
  /** Returns why the model takes no image of this size. */
  readonly refuseSize: (size: FrameSize) => string | undefined;
};

const nouns = { image: 'image', video: 'video', audio: 'audio file' } as const;
const takes = { image: 'an image', video: 'a video', audio: 'an audio file' } as const;

/**
 * Returns the errors of the uploaded files that a request names: each must belong to the account and fit the field. Other accounts' files are
 * refused like expired ones.
 */
export async function findNamedUploadErrors(
  db: Pick<Database, 'run'>,
  { accountId, publicUrl, input, refuseSize }: Request,
): Promise<readonly FieldError[]> {
  const named = mediaUrlsOf(input).flatMap(({ url, ...field }) => {
    const upload = uploadFromUrl(publicUrl, url);
    return upload === undefined ? [] : [{ ...field, ...upload }];
  });
  if (named.length === 0) return [];
  const ids = named.map(({ uploadId }) => uploadId);
  const usable = new Map((await findUsableUploadsByIds(db, accountId, ids)).map((one) => [one.uploadId, one]));
  const problems = named.flatMap(({ path, kind, uploadId, fileName }) => {
    const [uploaded, stored] = [kindByStoredName[fileName], usable.get(uploadId)];
    if (stored?.fileName !== fileName)
      return [
        { path, message: `is not an uploaded ${nouns[uploaded]} of this account, or has expired; upload it again` },
      ];
    if (uploaded !== kind)
      return [{ path, message: `is an uploaded ${nouns[uploaded]}; this field takes ${takes[kind]}` }];
    const size = sizeOf(stored);
    const refusal = size && refuseSize(size);
    return refusal === undefined ? [] : [{ path, message: `is ${size?.widthPx}×${size?.heightPx} px; ${refusal}` }];
  });
  const frame = (field: string) => sizeOf(usable.get(named.find((one) => one.field === field)?.uploadId ?? ''));
  const [first, last] = [frame('firstFrameUrl'), frame('lastFrameUrl')];
  const message = first && last && lastFrameRefusal(first, last);
  return problems.length > 0 || message === undefined ? problems : [{ path: 'input.lastFrameUrl', message }];
}

/** Undefined for clips, and for images that an earlier release has stored. */
function sizeOf(stored: Partial<FrameSize> | undefined): FrameSize | undefined {
  const { widthPx, heightPx } = stored ?? {};
  return widthPx === undefined || heightPx === undefined ? undefined : { widthPx, heightPx };
}
