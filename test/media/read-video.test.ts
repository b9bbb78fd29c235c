import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { readVideo } from '../../src/media/read-video.ts';
import { VideoFileError } from '../../src/media/video-file-error.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('an error of the system is not blamed on the file', async (t) => {
  const folder = await temporaryFolder(t);
  for (const [path, code] of [
    [join(folder, 'swept.mp4'), /ENOENT/],
    // A folder can be opened, and fails when it is read.
    [folder, /EISDIR/],
  ] as const) {
    for (const reading of ['facts', 'streams', 'lastPictureSeconds', 'videoClip'] as const) {
      await assert.rejects(readVideo(reading, path), (error) => {
        assert.ok(error instanceof Error && !(error instanceof VideoFileError), String(error));
        assert.match(error.message, code);
        return true;
      });
    }
  }
});
