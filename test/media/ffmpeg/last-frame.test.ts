import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { sharp } from '../../../src/media/pictures/restricted-sharp.ts';
import { makeLastFrame } from '../../../src/media/ffmpeg/last-frame.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { pinnedFfmpeg } from '../../providers/preview/render-support.ts';

const signal = new AbortController().signal;
const ffmpeg = pinnedFfmpeg();
const h264 = ['-c:v', 'libx264', '-preset', 'veryfast', '-pix_fmt', 'yuv420p'];

/** Black but for its last picture, which is white. */
const turning = (pictures: number) =>
  `color=black:size=320x180:rate=24,drawbox=color=white:t=fill:enable='eq(n,${pictures - 1})',trim=end_frame=${pictures}`;
const sound = (seconds: number) => ['-f', 'lavfi', '-i', `sine=duration=${seconds}`, '-c:a', 'aac'];

for (const [title, args] of [
  ['a video with B-frames', ['-f', 'lavfi', '-i', turning(60), ...h264, '-bf', '3']],
  ['a video whose sound is longer', ['-f', 'lavfi', '-i', turning(30), ...sound(4), ...h264]],
  ['a video whose sound begins earlier', ['-itsoffset', '1', '-f', 'lavfi', '-i', turning(30), ...sound(1), ...h264]],
  ['a video of one picture', ['-f', 'lavfi', '-i', turning(1), ...h264]],
  [
    'a video whose last picture lasts for long',
    ['-f', 'lavfi', '-i', `${turning(30)},setpts='PTS+gte(N,29)*5/TB'`, ...h264],
  ],
] as const) {
  test(`the last frame of ${title} is its very last picture`, async (t) => {
    const cwd = await temporaryFolder(t);
    await ffmpeg({ args: [...args, 'film.mp4'], cwd, signal });
    const frame = join(cwd, 'last-frame.jpg');
    await makeLastFrame(ffmpeg, join(cwd, 'film.mp4'), frame, { widthPx: 320, heightPx: 180, signal });
    const jpeg = await readFile(frame);
    const { width, height, format } = await sharp(jpeg).metadata();
    assert.deepEqual([width, height, format], [320, 180, 'jpeg']);
    const { channels } = await sharp(jpeg).stats();
    assert.ok(
      channels.every(({ min }) => min > 240),
      JSON.stringify(channels.map(({ min }) => min)),
    );
  });
}
