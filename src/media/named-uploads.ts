import { mediaUrlsOf, type TaskParam } from '../tasks/task-input.ts';
import { uploadFromUrl } from './upload.ts';

/** The uploaded media that a request names. */
export function uploadIdsOf(publicUrl: string, { input }: Pick<TaskParam, 'input'>): readonly string[] {
  return mediaUrlsOf(input)
    .map(({ url }) => uploadFromUrl(publicUrl, url)?.uploadId)
    .filter((uploadId) => uploadId !== undefined);
}
