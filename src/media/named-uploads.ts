import { mediaUrlsOf, type TaskParam } from '../tasks/task-input.ts';
import { uploadIdOf } from './upload.ts';

/** The uploaded media that a request names. */
export function uploadIdsOf(publicUrl: string, { input }: Pick<TaskParam, 'input'>): readonly string[] {
  return mediaUrlsOf(input)
    .map(({ url }) => uploadIdOf(publicUrl, url))
    .filter((uploadId) => uploadId !== undefined);
}
