import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import sharp from 'sharp';
import { isPosterOf } from '../../src/media/is-poster-of.ts';
import { temporaryFolder } from '../providers/preview/render-support.ts';

const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="360"></svg>';
const size = { widthPx: 640, heightPx: 360 };
const picture = () => sharp({ create: { width: 640, height: 360, channels: 3, background: '#336699' } });

async function isPoster(folder: string, bytes: Buffer): Promise<boolean> {
  const path = join(folder, 'poster.jpg');
  await writeFile(path, bytes);
  return isPosterOf(path, size);
}

test('a whole JPEG of the size of the video is a poster of it', async (t) => {
  const folder = await temporaryFolder(t);
  assert.equal(await isPoster(folder, await picture().jpeg().toBuffer()), true);
  assert.equal(await isPoster(folder, await picture().jpeg({ progressive: true }).toBuffer()), true);
  assert.equal(await isPoster(folder, await picture().greyscale().jpeg().toBuffer()), true);
});

test('another size, another format, a cut-off file, a turned picture, printing colours and no picture at all are not', async (t) => {
  const folder = await temporaryFolder(t);
  const whole = await picture().jpeg().toBuffer();
  const others = {
    'one pixel narrower': await picture().resize(639, 360).jpeg().toBuffer(),
    'upright instead of wide': await picture().rotate(90).jpeg().toBuffer(),
    'turned by a tag': await picture().withMetadata({ orientation: 6 }).jpeg().toBuffer(),
    'four printing colours': await picture().toColourspace('cmyk').jpeg().toBuffer(),
    png: await picture().png().toBuffer(),
    webp: await picture().webp().toBuffer(),
    'cut off': whole.subarray(0, whole.length - 1),
    'half of it': whole.subarray(0, whole.length / 2),
    'its end alone': whole.subarray(-2),
    'a page': Buffer.from('<html>no such picture</html>'),
    'a page with the end of a JPEG': Buffer.concat([Buffer.from('<html>'), whole.subarray(-2)]),
    'an SVG with the end of a JPEG': Buffer.concat([Buffer.from(svg), whole.subarray(-2)]),
    nothing: Buffer.alloc(0),
  };
  for (const [what, bytes] of Object.entries(others)) assert.equal(await isPoster(folder, bytes), false, what);
});
