import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import sharp from 'sharp';
import { noMedia, type PreparedReferenceImage } from '../../../src/catalogue/media/media-by-role.ts';
import { TaskError } from '../../../src/catalogue/tasks/task-error.ts';
import {
  shrinkImagesToFit,
  fittingImageDataUrls,
  adaptiveRatioImage,
  mediaDataUrlsByRole,
} from '../../../src/providers/requests/media-by-role-and-data-urls.ts';
import { allMedia, contents, dataUrl } from '../contract/all-fields.ts';
import { formBody, jpegFile } from '../../../src/providers/requests/request-bodies.ts';

describe('reference images as parts of a request', () => {
  let folder: string;
  let images: readonly PreparedReferenceImage[];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'videogen-image-parts-'));
    images = await Promise.all([noise(3000, 1500), noise(400, 300)]);
  });
  after(() => rm(folder, { recursive: true }));

  /** Noise is what JPEG compresses least. */
  async function noise(widthPx: number, heightPx: number): Promise<PreparedReferenceImage> {
    const path = join(folder, `${widthPx}.jpg`);
    const background = { type: 'gaussian', mean: 128, sigma: 60 } as const;
    const create = { width: widthPx, height: heightPx, channels: 3, background: 'white', noise: background } as const;
    await writeFile(path, await sharp({ create }).jpeg({ quality: 95 }).toBuffer());
    return { path, widthPx, heightPx };
  }

  async function originalBytes(): Promise<number> {
    const files = await Promise.all(images.map(({ path }) => readFile(path)));
    return Buffer.concat(files).length;
  }

  test('images that fit are sent as they are', async () => {
    const originals = await Promise.all(images.map(({ path }) => readFile(path)));
    assert.deepEqual(await shrinkImagesToFit(images, await originalBytes()), originals);
  });

  test('images that are a byte too large are made smaller, as little as it takes', async () => {
    const [large, small] = await shrinkImagesToFit(images, (await originalBytes()) - 1);
    assert.deepEqual(await sizeOf(large), [2048, 1024]);
    assert.deepEqual(await sizeOf(small), [400, 300]);
  });

  test('images that are still too large are made as small as 1024 px', async () => {
    const maxBytes = Buffer.concat([...(await shrinkImagesToFit(images, (await originalBytes()) - 1))]).length - 1;
    const [large, small] = await shrinkImagesToFit(images, maxBytes);
    assert.deepEqual(await sizeOf(large), [1024, 512]);
    assert.deepEqual(await sizeOf(small), [400, 300]);
  });

  test('images that fit in no way end the task', async () => {
    const isFault = (error: unknown) => error instanceof TaskError && error.failCode === 'image_invalid';
    await assert.rejects(shrinkImagesToFit(images, 10_000), isFault);
  });

  test('the bound of data URLs counts their characters', async () => {
    const originals = await Promise.all(images.map(({ path }) => readFile(path)));
    const urls = originals.map((jpeg) => `data:image/jpeg;base64,${jpeg.toString('base64')}`);
    const characters = urls.join('').length;
    assert.deepEqual(await fittingImageDataUrls(images, characters + 8), urls);
    assert.ok((await fittingImageDataUrls(images, characters - 1)).join('').length < characters);
    assert.deepEqual(await fittingImageDataUrls([], 0), []);
  });

  test('a multipart body reads as what was put in', async () => {
    const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0]);
    const { contentType, bytes } = await formBody([
      ['prompt', 'a "quoted"\r\nline 🎬'],
      ['image', jpegFile(jpeg, 0)],
      ['image', jpegFile(jpeg, 1)],
    ]);
    const form = await new Response(bytes, { headers: { 'content-type': contentType } }).formData();
    assert.equal(form.get('prompt'), 'a "quoted"\r\nline 🎬');
    const files = form.getAll('image').filter((file) => file instanceof File);
    assert.deepEqual(
      files.map(({ name, type }) => [name, type]),
      [
        ['image-1.jpg', 'image/jpeg'],
        ['image-2.jpg', 'image/jpeg'],
      ],
    );
    assert.deepEqual(await Promise.all(files.map(async (file) => Buffer.from(await file.arrayBuffer()))), [jpeg, jpeg]);
  });
});

async function sizeOf(jpeg: Buffer | undefined): Promise<readonly number[]> {
  const { width, height } = await sharp(jpeg).metadata();
  return [width, height];
}

test('data URLs of clips have as many characters as the bound says, pictures not counted, or are not made', async (t) => {
  const media = await allMedia(t);
  const clips = [dataUrl('video/mp4', contents.video), dataUrl('audio/mpeg', contents.audio)];
  const maxClipBytes = clips.join('').length;
  assert.deepEqual(await mediaDataUrlsByRole(media, { maxImageBytes: 1_000, maxClipBytes }), {
    images: [dataUrl('image/jpeg', contents.image)],
    firstFrame: dataUrl('image/jpeg', contents.firstFrame),
    lastFrame: dataUrl('image/jpeg', contents.lastFrame),
    videos: [clips[0]],
    audios: [clips[1]],
  });
  assert.equal(await mediaDataUrlsByRole(media, { maxImageBytes: 1_000, maxClipBytes: maxClipBytes - 1 }), undefined);
});

test('an adaptive ratio follows the first frame, or else the first image, or else the last frame', async (t) => {
  const { images, firstFrame, lastFrame } = await allMedia(t);
  assert.equal(adaptiveRatioImage({ ...noMedia, images, firstFrame, lastFrame }), firstFrame);
  assert.equal(adaptiveRatioImage({ ...noMedia, images, lastFrame }), images[0]);
  assert.equal(adaptiveRatioImage({ ...noMedia, lastFrame }), lastFrame);
  assert.equal(adaptiveRatioImage(noMedia), undefined);
});
