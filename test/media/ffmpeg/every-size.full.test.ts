import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { frameSize } from '../../../src/catalogue/media/frame-size.ts';
import { createVideoNormalizer } from '../../../src/media/ffmpeg/convert-result-video.ts';
import { checkAndMeasureVideo } from '../../../src/media/video/check-and-measure-video.ts';
import type { ConversionBeforeStorage } from '../../../src/catalogue/media/conversion-before-storage.ts';
import {
  type Ratio,
  ratios,
  type Resolution,
  resolutions,
} from '../../../src/catalogue/input/resolutions-ratios-and-field-bounds.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { pinnedFfmpeg } from '../../providers/preview/render-support.ts';

const signal = new AbortController().signal;
const ffmpeg = pinnedFfmpeg();

const sold: readonly (readonly [Resolution, Ratio])[] = [
  ...resolutions.map((resolution) => [resolution, '16:9'] as const),
  ...ratios.filter((ratio) => ratio !== '16:9').map((ratio) => ['720p', ratio] as const),
];

for (const [resolution, ratio] of sold) {
  test(`a video of another size becomes exactly ${resolution} ${ratio}`, async (t) => {
    const cwd = await temporaryFolder(t);
    const source = 'testsrc2=size=1000x600:rate=24:duration=1';
    const args = ['-f', 'lavfi', '-i', source, '-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];
    await ffmpeg({ args: [...args, 'delivered.mp4'], cwd, signal });
    const form: ConversionBeforeStorage = { audio: true, fit: 'convert', resolution, ratio, lastFrame: false };
    const order = { videoPath: join(cwd, 'delivered.mp4'), targetPath: join(cwd, 'video.mp4'), form, signal };
    const { widthPx, heightPx, durationSeconds, framesPerSecond } = await checkAndMeasureVideo(
      await createVideoNormalizer(ffmpeg)(order),
    );
    const size = frameSize(resolution, ratio, { widthPx: 1000, heightPx: 600 });
    assert.deepEqual({ widthPx, heightPx }, size);
    assert.deepEqual([durationSeconds, framesPerSecond], [1, 24]);
  });
}
