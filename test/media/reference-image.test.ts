import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { TaskError } from '../../src/domain/errors.ts';
import { sharp } from '../../src/media/image-library.ts';
import { fetchReferenceImages } from '../../src/media/reference-image.ts';
import { parseAllowList } from '../../src/outbound/allow-list.ts';
import { createGuardedClient } from '../../src/outbound/client.ts';
import * as images from '../support/hostile-images.ts';

/** What the server says to each path; the index of a path is that of the image. */
let answers: readonly ((response: ServerResponse) => void)[];
let server: Server;
let folder: string;
const client = createGuardedClient({
  allow: parseAllowList('127.0.0.1'),
  lookup: () => Promise.resolve(['10.0.0.1']),
});

before(async () => {
  server = createServer((request, response) => answers[Number(request.url?.slice(1))]?.(response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reference-image-'));
});
afterEach(() => rm(folder, { recursive: true }));
after(async () => {
  await client.close();
  server.closeAllConnections();
  server.close();
});

function urlOf(index: number): string {
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return `http://127.0.0.1:${address.port}/${index}`;
}

async function fetchUrls(urls: readonly string[], signal = new AbortController().signal) {
  return await fetchReferenceImages({ client, urls, folder, signal });
}

async function fetchBodies(...bodies: readonly Buffer[]) {
  answers = bodies.map((body) => (response) => void response.end(body));
  return await fetchUrls(bodies.map((_, index) => urlOf(index)));
}

/** The one image, decoded again to raw pixels: what a provider would see. */
async function fetchOne(body: Buffer) {
  const [image] = await fetchBodies(body);
  assert.ok(image);
  const written = await readFile(image.path);
  const metadata = await sharp(written).metadata();
  const { data, info } = await sharp(written).raw().toBuffer({ resolveWithObject: true });
  const pixel = (x: number, y: number) => [...data.subarray((y * info.width + x) * info.channels).subarray(0, 3)];
  return { image, metadata, pixel };
}

function assertNear(actual: readonly number[], expected: readonly number[], tolerance = 6): void {
  const isNear = actual.length === 3 && actual.every((value, i) => Math.abs(value - (expected[i] ?? NaN)) <= tolerance);
  assert.ok(isNear, `${actual.join()} is not near ${expected.join()}`);
}

const isImageFault = (failCode: string, message: string | RegExp) => (error: unknown) => {
  assert.ok(error instanceof TaskError, String(error));
  assert.equal(error.failCode, failCode);
  if (typeof message === 'string') assert.equal(error.message, message);
  else assert.match(error.message, message);
  return true;
};

const rgb = [220, 30, 40];

const accepted: readonly [string, () => Promise<Buffer>][] = [
  ['a JPEG', () => images.plainImage(400, 300).jpeg().toBuffer()],
  ['a progressive JPEG', () => images.plainImage(400, 300).jpeg({ progressive: true }).toBuffer()],
  ['a PNG', () => images.plainImage(400, 300).png().toBuffer()],
  ['an interlaced PNG', () => images.plainImage(400, 300).png({ progressive: true }).toBuffer()],
  ['a PNG with a palette', () => images.plainImage(400, 300).png({ palette: true }).toBuffer()],
  ['a 16-bit PNG', () => images.plainImage(400, 300).toColourspace('rgb16').png().toBuffer()],
  ['a WebP', () => images.plainImage(400, 300).webp().toBuffer()],
  ['a lossless WebP', () => images.plainImage(400, 300).webp({ lossless: true }).toBuffer()],
];

for (const [title, make] of accepted) {
  test(`${title} becomes a JPEG of 8-bit sRGB with its colour and its size`, async () => {
    const { image, metadata, pixel } = await fetchOne(await make());
    assert.deepEqual([image.widthPx, image.heightPx], [400, 300]);
    assert.deepEqual(
      [metadata.format, metadata.space, metadata.depth, metadata.channels],
      ['jpeg', 'srgb', 'uchar', 3],
    );
    assertNear(pixel(200, 150), rgb);
  });
}

test('a CMYK JPEG becomes sRGB', async () => {
  const cmyk = await images.plainImage(400, 300).toColourspace('cmyk').jpeg().toBuffer();
  assert.equal((await sharp(cmyk).metadata()).space, 'cmyk');
  const { metadata, pixel } = await fetchOne(cmyk);
  assert.deepEqual([metadata.space, metadata.channels], ['srgb', 3]);
  assertNear(pixel(200, 150), rgb, 40);
});

test('a grey picture gets three channels', async () => {
  const { metadata, pixel } = await fetchOne(await images.plainImage(400, 300).greyscale().png().toBuffer());
  assert.equal(metadata.channels, 3);
  const [r, g, b] = pixel(0, 0);
  assert.ok(r === g && g === b);
});

test('a photograph is turned upright, and its metadata is gone', async () => {
  const photo = await images.turnedPhoto();
  const sent = await sharp(photo).metadata();
  assert.deepEqual([sent.orientation, sent.exif !== undefined], [6, true]);
  const { image, metadata, pixel } = await fetchOne(photo);
  assert.deepEqual([image.widthPx, image.heightPx], [300, 400]);
  assert.deepEqual([metadata.orientation, metadata.exif, metadata.icc, metadata.xmp], Array(4).fill(undefined));
  assertNear(pixel(150, 50), rgb);
  assertNear(pixel(150, 350), [20, 30, 220]);
});

for (const format of ['png', 'webp'] as const) {
  test(`what is transparent in a ${format} is white`, async () => {
    const clear = await images.plainImage(300, 300, { r: 0, g: 0, b: 0, alpha: 0 }).toFormat(format).toBuffer();
    const { metadata, pixel } = await fetchOne(clear);
    assert.equal(metadata.hasAlpha, false);
    assertNear(pixel(150, 150), [255, 255, 255]);
  });
}

for (const [width, height] of [
  [300, 300],
  [6000, 300],
  [300, 6000],
] as const) {
  test(`${width}×${height} px, at the edge of the limits, is accepted`, async () => {
    const [image] = await fetchBodies(await images.plainImage(width, height).png().toBuffer());
    assert.deepEqual([image?.widthPx, image?.heightPx], [width, height]);
  });
}

for (const [width, height] of [
  [299, 400],
  [400, 299],
  [6001, 400],
  [400, 6001],
  [1, 1],
] as const) {
  test(`${width}×${height} px, outside the limits, is image_invalid and says so`, async () => {
    const body = await images.plainImage(width, height).png().toBuffer();
    const message = `input.imageUrls[0] is ${width}×${height} px; each side must have 300 to 6000 px.`;
    await assert.rejects(fetchBodies(body), isImageFault('image_invalid', message));
  });
}

const unreadable = 'input.imageUrls[0] is not a readable JPEG, PNG or WebP image.';
const damaged = 'input.imageUrls[0] is damaged or cut off.';
const animated = 'input.imageUrls[0] is animated; send a still image.';
const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="400"><rect width="400" height="400"/></svg>';

async function cut(image: Promise<Buffer>): Promise<Buffer> {
  const whole = await image;
  return whole.subarray(0, Math.floor(whole.length / 2));
}

const refused: readonly [string, () => Promise<Buffer> | Buffer, string | RegExp][] = [
  ['an empty file', () => Buffer.alloc(0), unreadable],
  ['a web page', () => Buffer.from('<!doctype html><title>404</title>'), unreadable],
  ['an SVG', () => Buffer.from(svg), unreadable],
  ['an SVG after a space', () => Buffer.from(` \n${svg}`), unreadable],
  ['an SVG with a byte order mark', () => Buffer.from(`\ufeff<?xml version="1.0"?>${svg}`), unreadable],
  ['a gzipped SVG', () => gzipSync(svg), unreadable],
  [
    'an SVG that begins as a JPEG',
    () => Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.from(svg)]),
    unreadable,
  ],
  ['an SVG that begins as a WebP', () => Buffer.from(`RIFF    WEBP${svg}`), unreadable],
  ['a GIF', () => images.plainImage(400, 400).gif().toBuffer(), unreadable],
  ['a TIFF', () => images.plainImage(400, 400).tiff().toBuffer(), unreadable],
  ['an AVIF', () => images.plainImage(400, 400).avif({ effort: 0 }).toBuffer(), unreadable],
  ['a PDF', () => Buffer.from('%PDF-1.7\n1 0 obj\n<<>>\nendobj\n'), unreadable],
  ['a JPEG of two bytes', () => Buffer.from([0xff, 0xd8]), unreadable],
  ['a gzipped image', () => Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]), unreadable],
  ['a truncated JPEG', () => cut(images.noise(400, 400).jpeg().toBuffer()), damaged],
  ['a truncated PNG', () => cut(images.noise(400, 400).png().toBuffer()), damaged],
  ['a truncated WebP', () => cut(images.noise(400, 400).webp().toBuffer()), /damaged|not a readable/],
  ['a PNG without its pixels', () => images.claimedPng(400, 400), damaged],
  ['an animated WebP', () => images.animatedWebp(), animated],
  ['an animated PNG', () => images.animatedPng(), animated],
  ['a bomb that claims 60000×60000 px', () => images.claimedPng(60_000, 60_000), /60000×60000 px/],
  ['a bomb of the largest numbers', () => images.claimedPng(0x7fffffff, 0x7fffffff), /image/],
  ['a bomb of zeros', () => images.claimedPng(20_000, 20_000, Buffer.alloc(50_000_000)), /20000×20000 px/],
];

for (const [title, make, message] of refused) {
  test(`${title} is image_invalid`, async () => {
    await assert.rejects(fetchBodies(await make()), isImageFault('image_invalid', message));
  });
}

test('30 MB are allowed, a byte more is image_invalid and is not read to its end', async () => {
  const limit = 30 * 1024 * 1024;
  const jpeg = await images.plainImage(300, 300).jpeg().toBuffer();
  await fetchBodies(Buffer.concat([jpeg, Buffer.alloc(limit - jpeg.length)]));
  await rm(folder, { recursive: true });
  folder = await mkdtemp(join(tmpdir(), 'reference-image-'));
  const tooLong = fetchBodies(Buffer.concat([jpeg, Buffer.alloc(limit + 1 - jpeg.length)]));
  await assert.rejects(tooLong, isImageFault('image_invalid', 'input.imageUrls[0] is larger than 30 MB.'));
});

test('nine images keep their order and leave nothing else in the folder', async () => {
  const bodies = await Promise.all(
    Array.from({ length: 9 }, (_, i) =>
      images
        .plainImage(300 + i, 300)
        .png()
        .toBuffer(),
    ),
  );
  const fetched = await fetchBodies(...bodies);
  assert.deepEqual(
    fetched.map((image) => image.widthPx),
    [300, 301, 302, 303, 304, 305, 306, 307, 308],
  );
  assert.deepEqual(
    fetched.map((image) => image.path),
    Array.from({ length: 9 }, (_, i) => join(folder, `image-${i}.jpg`)),
  );
  assert.equal((await readdir(folder)).length, 9);
});

test('no images are no work', async () => {
  assert.deepEqual(await fetchUrls([]), []);
});

test('the sentence names the image, counted as in the request', async () => {
  const good = await images.plainImage(300, 300).png().toBuffer();
  const failure = fetchBodies(good, good, Buffer.from('text'));
  await assert.rejects(failure, isImageFault('image_invalid', /^input\.imageUrls\[2\] is not a readable/));
});

const unreachable = 'input.imageUrls[0] could not be fetched.';

test('private, broken and silent-by-closing servers are image_unreachable with one sentence', async () => {
  answers = [
    (response) => void response.socket?.destroy(),
    (response) => void response.writeHead(302, { location: 'http://10.0.0.1/' }).end(),
    (response) => void response.writeHead(302, { location: '/1' }).end(),
  ];
  for (const url of ['http://10.0.0.1/', 'http://inner.example/', urlOf(0), urlOf(1), urlOf(2), 'file:///etc/passwd']) {
    await assert.rejects(fetchUrls([url]), isImageFault('image_unreachable', unreachable));
  }
});

test('a server of our own is image_unreachable like any other, and only the operator learns why', async () => {
  answers = [() => assert.fail('it was asked')];
  const { port } = new URL(urlOf(0));
  const own = [{ host: '127.0.0.1', port: Number(port) }];
  const guarded = createGuardedClient({ allow: parseAllowList('127.0.0.1'), own });
  const signal = new AbortController().signal;
  await assert.rejects(fetchReferenceImages({ client: guarded, urls: [urlOf(0)], folder, signal }), (error) => {
    assert.match(error instanceof Error ? String(error.cause) : '', /blocked: 127\.0\.0\.1 leads to .*our own/);
    return isImageFault('image_unreachable', unreachable)(error);
  });
});

test('an image that was uploaded is read from the store, and its address is never asked', async () => {
  answers = [() => assert.fail('it was asked')];
  const body = await images.plainImage(320, 300).png().toBuffer();
  const readUpload = async (url: string, path: string) => {
    assert.equal(url, urlOf(0));
    await writeFile(path, body);
    return true;
  };
  const { signal } = new AbortController();
  const [image] = await fetchReferenceImages({ client, readUpload, urls: [urlOf(0)], folder, signal });
  assert.deepEqual([image?.widthPx, image?.heightPx], [320, 300]);
  const gone = fetchReferenceImages({ client, readUpload: async () => false, urls: [urlOf(0)], folder, signal });
  const message = 'input.imageUrls[0] is no longer kept; upload it again.';
  await assert.rejects(gone, isImageFault('image_unreachable', message));
});

test('a status of failure is image_unreachable and is told', async () => {
  answers = [(response) => void response.writeHead(404).end('not here')];
  const message = 'input.imageUrls[0] could not be fetched: its server answered 404.';
  await assert.rejects(fetchUrls([urlOf(0)]), isImageFault('image_unreachable', message));
});

function redirectTo(index: number) {
  return (response: ServerResponse) => void response.writeHead(307, { location: `/${index}` }).end();
}

test('an image behind three redirects is fetched, behind four it is unreachable', async () => {
  const body = await images.plainImage(300, 300).png().toBuffer();
  answers = [redirectTo(1), redirectTo(2), redirectTo(3), redirectTo(4), (response) => void response.end(body)];
  assert.equal((await fetchUrls([urlOf(1)])).length, 1);
  await assert.rejects(fetchUrls([urlOf(0)]), isImageFault('image_unreachable', unreachable));
});

test('the type that a server names does not matter, only what the image is', async () => {
  const body = await images.plainImage(300, 300).webp().toBuffer();
  answers = [(response) => void response.writeHead(200, { 'content-type': 'text/html' }).end(body)];
  assert.equal((await fetchUrls([urlOf(0)])).length, 1);
});

test('an abort is no fault of the image, and ends the download', async () => {
  const stop = new AbortController();
  answers = [() => stop.abort()];
  await assert.rejects(fetchUrls([urlOf(0)], stop.signal), { name: 'OutboundError', kind: 'aborted' });
});

test('a bad image stops the downloads of the others', { timeout: 100_000 }, async () => {
  answers = [(response) => void response.write('a beginning'), (response) => void response.end('no image')];
  await assert.rejects(fetchUrls([urlOf(0), urlOf(1)]), isImageFault('image_invalid', /^input\.imageUrls\[1\]/));
});

test('sharp opens no file by its path, whatever text of a client would get there', async () => {
  const [image] = await fetchBodies(await images.plainImage(300, 300).png().toBuffer());
  await assert.rejects(sharp(image?.path).metadata());
});

test('an SVG of ours reaches neither files nor addresses', async () => {
  const red = join(folder, 'red.png');
  await writeFile(red, await images.plainImage(300, 300).png().toBuffer());
  let requests = 0;
  answers = [() => (requests += 1)];
  for (const href of [red, `file://${red}`, urlOf(0)]) {
    const body = `<style>@import url("${href}");</style><image href="${href}" width="300" height="300"/>`;
    const drawn = sharp(Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="300" height="300">${body}</svg>`));
    const pixels = await drawn.ensureAlpha().raw().toBuffer();
    assert.ok(
      pixels.every((byte) => byte === 0),
      href,
    );
  }
  assert.equal(requests, 0);
});
