import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { TaskError } from '../../../src/catalogue/tasks/task-error.ts';
import { sharp } from '../../../src/media/pictures/restricted-sharp.ts';
import { fetchReferenceImages } from '../../../src/media/references/fetch-reference-images.ts';
import { fetchReferenceMedia } from '../../../src/media/references/fetch-reference-media.ts';
import { parseAllowList } from '../../../src/platform/outbound/guard/allow-list.ts';
import { createGuardedClient } from '../../../src/platform/outbound/guarded-client.ts';
import { pinnedFfmpeg, taskInput } from '../../providers/preview/render-support.ts';
import * as images from '../../support/hostile/hostile-images.ts';

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

function sourcesOf(urls: readonly string[]) {
  return urls.map((url, index) => ({ url, path: `input.imageUrls[${index}]` }));
}

async function fetchUrls(urls: readonly string[], signal = new AbortController().signal) {
  return await fetchReferenceImages({ client, sources: sourcesOf(urls), folder, signal });
}

async function fetchBodies(...bodies: readonly Buffer[]) {
  answers = bodies.map((body) => (response) => void response.end(body));
  return await fetchUrls(bodies.map((_, index) => urlOf(index)));
}

const isImageFault = (failCode: string, message: string | RegExp) => (error: unknown) => {
  assert.ok(error instanceof TaskError, String(error));
  assert.equal(error.failCode, failCode);
  if (typeof message === 'string') assert.equal(error.message, message);
  else assert.match(error.message, message);
  return true;
};

test('30 MB are allowed, a byte more is image_invalid and is not read to its end', async () => {
  const limit = 30 * 1024 * 1024;
  const jpeg = await images.plainImage(300, 300).jpeg().toBuffer();
  await fetchBodies(Buffer.concat([jpeg, Buffer.alloc(limit - jpeg.length)]));
  await rm(folder, { recursive: true });
  folder = await mkdtemp(join(tmpdir(), 'reference-image-'));
  const tooLong = fetchBodies(Buffer.concat([jpeg, Buffer.alloc(limit + 1 - jpeg.length)]));
  await assert.rejects(tooLong, isImageFault('image_invalid', 'input.imageUrls[0] is larger than 30 MB.'));
});

test('a refused image is image_invalid, with the reason after its name', async () => {
  const message = 'input.imageUrls[0] is 299×400 px; each side must have 300 to 6000 px.';
  const small = images.plainImage(299, 400).png().toBuffer();
  await assert.rejects(fetchBodies(await small), isImageFault('image_invalid', message));
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
  await assert.rejects(failure, isImageFault('image_invalid', /^input\.imageUrls\[2\] is plain text; send a JPEG/));
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
  await assert.rejects(
    fetchReferenceImages({ client: guarded, sources: sourcesOf([urlOf(0)]), folder, signal }),
    (error) => {
      assert.match(error instanceof Error ? String(error.cause) : '', /blocked: 127\.0\.0\.1 leads to .*our own/);
      return isImageFault('image_unreachable', unreachable)(error);
    },
  );
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
  const [image] = await fetchReferenceImages({ client, readUpload, sources: sourcesOf([urlOf(0)]), folder, signal });
  assert.deepEqual([image?.widthPx, image?.heightPx], [320, 300]);
  const gone = fetchReferenceImages({
    client,
    readUpload: async () => false,
    sources: sourcesOf([urlOf(0)]),
    folder,
    signal,
  });
  const message = 'input.imageUrls[0] has expired; upload it again.';
  await assert.rejects(gone, isImageFault('image_unreachable', message));
});

test('a status of failure is image_unreachable and is told', async () => {
  answers = [(response) => void response.writeHead(404).end('not here')];
  const message = 'input.imageUrls[0] could not be fetched: its server answered 404.';
  await assert.rejects(fetchUrls([urlOf(0)]), isImageFault('image_unreachable', message));
});

test('a server that is busy gets one more request, after the pause that it names, unless that is long', async () => {
  const body = await images.plainImage(300, 300).png().toBuffer();
  let requests = 0;
  const busy = (status: number, retryAfter: string) => (response: ServerResponse) => {
    requests += 1;
    if (requests % 2 === 0) response.end(body);
    else response.writeHead(status, { 'retry-after': retryAfter }).end();
  };
  answers = [busy(429, '0'), busy(503, new Date(0).toUTCString())];
  assert.equal((await fetchUrls([urlOf(0)])).length, 1);
  await rm(folder, { recursive: true });
  folder = await mkdtemp(join(tmpdir(), 'reference-image-'));
  assert.equal((await fetchUrls([urlOf(1)])).length, 1);
  assert.equal(requests, 4);
  const always = (status: number, retryAfter: string) => (response: ServerResponse) => {
    requests += 1;
    response.writeHead(status, { 'retry-after': retryAfter }).end();
  };
  for (const [answer, expected] of [
    [always(503, '0'), 2],
    [always(429, '31'), 1],
    [always(500, '0'), 1],
  ] as const) {
    [answers, requests] = [[answer], 0];
    await assert.rejects(fetchUrls([urlOf(0)]), isImageFault('image_unreachable', /its server answered \d+\.$/));
    assert.equal(requests, expected);
  }
});

test('an image that its server has compressed is decoded, and an encoding that is unknown here is named', async () => {
  const body = await images.plainImage(300, 300).png().toBuffer();
  answers = [
    (response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(body)),
    (response) => void response.writeHead(200, { 'content-encoding': 'zstd' }).end(body),
  ];
  assert.equal((await fetchUrls([urlOf(0)])).length, 1);
  const message = 'input.imageUrls[0] could not be fetched: its server compressed it as zstd.';
  await assert.rejects(fetchUrls([urlOf(1)]), isImageFault('image_unreachable', message));
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

test('a bad image stops the downloads of the others', { timeout: 180_000 }, async (t) => {
  // The limit of a download never passes, so one that is not stopped is waited for in vain.
  t.mock.timers.enable({ apis: ['setTimeout'] });
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

test('a last frame whose shape differs much from that of the first frame is image_invalid, and a similar one is taken', async () => {
  const fetchFrames = async (...sizes: readonly (readonly [number, number])[]) => {
    const bodies = await Promise.all(
      sizes.map(([width, height]) => images.plainImage(width, height).jpeg().toBuffer()),
    );
    answers = bodies.map((body) => (response) => void response.end(body));
    const input = { ...taskInput(), firstFrameUrl: urlOf(0), lastFrameUrl: urlOf(1) };
    const attempt = await mkdtemp(join(folder, 'attempt-'));
    const signal = new AbortController().signal;
    return await fetchReferenceMedia({
      input,
      bounds: undefined,
      ffmpeg: pinnedFfmpeg(),
      client,
      folder: attempt,
      signal,
    });
  };
  const { lastFrame } = await fetchFrames([1280, 720], [640, 480]);
  assert.equal(lastFrame?.widthPx, 640);
  const message = 'input.lastFrameUrl is 720×1280 px and the first frame is 1280×720 px; crop both to the same shape.';
  await assert.rejects(fetchFrames([1280, 720], [720, 1280]), isImageFault('image_invalid', message));
});
