import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readCatalogueOrThrow } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { maxUploadBytesAtOnce } from '../../../src/api/core/limits/upload-slots.ts';
import { maxUploadBytesOfKind } from '../../../src/media/references/upload-limits-and-addresses.ts';
import type { UploadOutcome } from '../../../src/media/references/store-upload.ts';
import * as hostile from '../../support/hostile/hostile-clips.ts';
import * as images from '../../support/hostile/hostile-images.ts';
import { type Answer, assertRefused } from '../../support/service/http-client.ts';
import { parseAnswer, rawConnection } from '../../support/proxies/raw-http.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { pinnedFfmpeg } from '../../providers/preview/render-support.ts';
import { waitFor } from '../../support/wait-for.ts';

const ffmpeg = pinnedFfmpeg();
let service: HttpService;
/** It sells a model that takes every kind of media. */
let clips: HttpService;
before(async () => {
  const standard = { resolution: { values: ['720p'] }, duration: { min: 4, max: 15 }, ratio: { values: ['16:9'] } };
  const input = { ...standard, generateAudio: {}, imageUrls: { max: 1 }, videoUrls: { max: 1 }, audioUrls: { max: 1 } };
  const prices = [{ creditsPerSecond: 1 }];
  const models = [{ model: 'all-media', title: 'All media', input, prices, providers: ['script'] }];
  const providers = { script: { kind: 'own', baseUrl: 'http://script.example' } };
  const catalogue = readCatalogueOrThrow({ path: 'x', readText: () => JSON.stringify({ providers, models }) });
  service = await startHttpService();
  clips = await startHttpService({ database: service.database, catalogue: () => catalogue });
});
after(async () => {
  await clips.close();
  await service.close();
});

function upload(key: string, body: Buffer, type = 'image/png', on = service): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': type };
  return on.send('POST', '/api/v1/uploads', { headers, body });
}

/** Makes one of the clips of strangers. */
async function clip(name: hostile.ClipName): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'uploaded-clip-'));
  try {
    await ffmpeg({ args: [...hostile.clips[name], name], cwd: folder, signal: new AbortController().signal });
    return await readFile(join(folder, name));
  } finally {
    await rm(folder, { recursive: true });
  }
}

for (const [name, type, kind, served] of [
  ['film.mp4', 'video/mp4', 'video', 'video/mp4'],
  ['film.mov', 'video/quicktime', 'video', 'video/quicktime'],
  ['film.webm', 'video/webm', 'video', 'video/webm'],
  ['sound.mp3', 'audio/mpeg', 'audio', 'audio/mpeg'],
  ['sound.wav', 'audio/x-wav', 'audio', 'audio/wav'],
  ['sound.m4a', 'audio/x-m4a', 'audio', 'audio/mp4'],
  // The type of the request does not matter.
  ['sound.mp4', 'video/mp4', 'audio', 'audio/mp4'],
  ['film.mp4', 'image/png', 'video', 'video/mp4'],
] as const) {
  test(`200 ${name}, sent as ${type}, is stored as ${kind}, and only its fields take it`, async () => {
    const { key } = await clips.newAccount(1_000);
    const bytes = await clip(name);
    const { status, json } = await upload(key, bytes, type, clips);
    assert.equal(status, 200, JSON.stringify(json));
    const { url, previewUrl, ...about } = json.data;
    const fields = kind === 'video' ? ['videoUrls'] : ['audioUrls'];
    assert.deepEqual([about['kind'], about['fields']], [kind, fields]);
    const { pathname, search } = new URL(String(previewUrl));
    const preview = await clips.send('GET', pathname + search);
    assert.deepEqual([preview.status, preview.headers['content-type']], [200, served]);
    assert.equal(preview.headers['x-content-type-options'], 'nosniff');
    assert.ok(preview.bytes.equals(bytes));
    const create = (input: object) => clips.create(key, { model: 'all-media', input: { prompt: 'A boat', ...input } });
    const other = kind === 'video' ? 'audioUrls' : 'videoUrls';
    const [noun, expected] = kind === 'video' ? ['video', 'an audio file'] : ['audio file', 'a video'];
    for (const [field, path, takes] of [
      ['imageUrls', 'input.imageUrls[0]', 'an image'],
      [other, `input.${other}[0]`, expected],
    ] as const) {
      const errors = [{ path, message: `is an uploaded ${noun}; this field takes ${takes}` }];
      assertRefused(await create({ [field]: [url] }), 422, /is an uploaded/, { errors });
    }
    const created = await create({ [`${kind}Urls`]: [url] });
    assert.equal(created.status, 200, created.bytes.toString());
    // An address is that of one file only.
    const renamed = String(url).replace(/[a-z]+\.[a-z0-9]+$/, 'image.jpg');
    const message = 'is not an uploaded image of this account, or has expired; upload it again';
    const errors = [{ path: 'input.imageUrls[0]', message }];
    assertRefused(await create({ imageUrls: [renamed] }), 422, /is not an uploaded image/, { errors });
  });
}

test('422 a playlist, a script and a film that is cut off', async () => {
  const { key } = await service.newAccount(0);
  const film = await clip('film.mp4');
  for (const [bytes, why] of [
    [Buffer.from('#EXTM3U\nhttp://10.0.0.1/part.ts\n'), /is a playlist; send a JPEG, .* MP4, .* AIFF file/],
    [Buffer.from("ffconcat version 1.0\nfile '/etc/passwd'\n"), /is plain text; send/],
    [film.subarray(0, film.length / 2), /the file is damaged or cut off/],
  ] as const) {
    const { status, json } = await upload(key, bytes, 'video/mp4');
    assert.deepEqual([status, json.error], [422, 'invalid_request']);
    assert.match(json.msg, why);
  }
});

test('413 a file within the limit of its type, but beyond that of its content', async () => {
  const { key } = await service.newAccount(0);
  const png = await images.plainImage(300, 300).png().toBuffer();
  const padded = Buffer.concat([png, Buffer.alloc(maxUploadBytesOfKind('image') + 1 - png.length)]);
  assertRefused(await upload(key, padded, 'audio/mpeg'), 413, /larger than 10240 KiB/);
});

test('413 more than 100 MB before a byte is read, and more than 30 MB of audio as soon as they are', async () => {
  const { key } = await service.newAccount(0);
  const connection = rawConnection(service.server.port);
  connection.write(`${headOf(key, 'audio/mpeg', maxUploadBytesOfKind('video') + 1)}a`);
  const text = await connection.received(/\}$/);
  connection.socket.destroy();
  assertRefused(parseAnswer(text), 413, /larger than 102400 KiB/);
  const sound = Buffer.concat([Buffer.from('fLaC'), Buffer.alloc(maxUploadBytesOfKind('audio'))]);
  assertRefused(await upload(key, sound, 'video/mp4'), 413, /larger than 30720 KiB/);
});

test('a body is written to the disk while it arrives', async () => {
  let path: string | undefined;
  const own = await startHttpService({
    database: service.database,
    storeUpload: async (_account, receive) => {
      const folder = await mkdtemp(join(tmpdir(), 'received-'));
      path = join(folder, 'file');
      await receive(path);
      const { size } = await stat(path);
      await rm(folder, { recursive: true });
      return { kind: 'refused', why: `has ${size} bytes` };
    },
  });
  try {
    const { key } = await own.newAccount(0);
    const connection = rawConnection(own.server.port);
    connection.write(`${headOf(key, 'video/mp4', 6)}abc`);
    await waitFor('the first half', async () => {
      const { size } = await stat(String(path)).catch(() => ({ size: 0 }));
      return size === 3 || undefined;
    });
    connection.write('def');
    await connection.received(/has 6 bytes/);
    connection.socket.destroy();
  } finally {
    await own.close();
  }
});

test('503 uploads that would fill the disk together', async () => {
  const release: ((outcome: UploadOutcome) => void)[] = [];
  const busy = await startHttpService({
    database: service.database,
    storeUpload: () => new Promise((resolve) => release.push(resolve)),
  });
  const connections: ReturnType<typeof rawConnection>[] = [];
  try {
    const free = maxUploadBytesAtOnce - 4 * maxUploadBytesOfKind('video');
    for (let accounts = 0; accounts < 2; accounts += 1) {
      const { key } = await busy.newAccount(0);
      for (let ofAccount = 0; ofAccount < 2; ofAccount += 1) {
        const connection = rawConnection(busy.server.port);
        connections.push(connection);
        connection.write(`${headOf(key, 'video/mp4', maxUploadBytesOfKind('video'))}a`);
        await waitFor('it to run', () => release.length === connections.length || undefined);
      }
    }
    const { key } = await busy.newAccount(0);
    assertRefused(await upload(key, Buffer.alloc(free + 1), 'image/png', busy), 503, /too many uploads/);
  } finally {
    for (const resolve of release) resolve({ kind: 'refused', why: 'is bad' });
    for (const connection of connections) connection.socket.destroy();
    await busy.close();
  }
});

function headOf(key: string, type: string, bytes: number): string {
  return `POST /api/v1/uploads HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: ${type}\r\nContent-Length: ${bytes}\r\n\r\n`;
}
