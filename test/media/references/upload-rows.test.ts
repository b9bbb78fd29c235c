import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import {
  maxUploadBytesOfKind,
  maxUploadsOfAccount,
  uploadFromUrl,
} from '../../../src/media/references/upload-limits-and-addresses.ts';
import type { UploadOutcome } from '../../../src/media/references/store-upload.ts';
import { readCatalogueOrThrow } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { findAccount } from '../../../src/accounts/accounts.ts';
import * as images from '../../support/hostile/hostile-images.ts';
import { type Answer, assertRefused } from '../../support/service/http-client.ts';
import { parseAnswer, rawConnection } from '../../support/proxies/raw-http.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { patient, watchNodeServer } from '../../support/servers/node-server-limits.ts';
import { waitFor } from '../../support/wait-for.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

function upload(key: string, body: Buffer, type = 'image/png', on = service): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': type };
  return on.send('POST', '/api/v1/uploads', { headers, body });
}

async function uploaded(key: string): Promise<string> {
  const answer = await upload(key, await images.plainImage(300, 300).png().toBuffer());
  assert.equal(answer.status, 200, answer.bytes.toString());
  return String(answer.json.data['url']);
}

const idOf = (url: string) => String(uploadFromUrl('http://media.test', url)?.uploadId);
const requestWith = (...imageUrls: string[]) => ({ ...plainRequest, input: { ...plainRequest.input, imageUrls } });
const balanceOf = async (accountId: string) => (await findAccount(service.database.db, accountId))?.balance;

for (const [type, make] of [
  ['image/jpeg', () => images.plainImage(400, 300).jpeg().toBuffer()],
  ['image/png', () => images.plainImage(400, 300).png().toBuffer()],
  ['image/webp', () => images.plainImage(400, 300).webp().toBuffer()],
] as const) {
  test(`200 an image of the type ${type} is kept as a JPEG, and a task may name it`, async () => {
    const { key } = await service.newAccount(1_000);
    const { status, json } = await upload(key, await make(), type);
    assert.equal(status, 200);
    const { url, kind, fields, previewUrl, expireTime } = json.data;
    assert.deepEqual([kind, fields], ['image', ['imageUrls', 'firstFrameUrl', 'lastFrameUrl']]);
    assert.ok(Number(expireTime) > Date.now());
    const { pathname, search } = new URL(String(previewUrl));
    const preview = await service.send('GET', pathname + search);
    assert.deepEqual([preview.status, preview.headers['content-type']], [200, 'image/jpeg']);
    assert.equal(preview.bytes.toString('latin1', 0, 2), '\xff\xd8');
    const plain = await service.send('GET', new URL(String(url)).pathname);
    assertRefused(plain, 403, /link is invalid/);
    const created = await service.create(key, requestWith(String(url), 'https://elsewhere.example/a.png'));
    assert.equal(created.status, 200, created.bytes.toString());
  });
}

test("422 another account's image, none, and one that has expired are one and the same, named, and nothing is charged", async () => {
  const [mine, other] = [await service.newAccount(1_000), await service.newAccount(1_000)];
  const [theirs, expired, good] = [await uploaded(other.key), await uploaded(mine.key), await uploaded(mine.key)];
  const text = `update uploads set expires_at = now() - interval '1 second' where id = $1`;
  await service.database.db.run({ name: 'test-expire-upload', text }, [idOf(expired)]);
  const message = 'is not an uploaded image of this account, or has expired; upload it again';
  for (const url of [theirs, expired, theirs.replace(idOf(theirs), randomUUID())]) {
    const errors = [{ path: 'input.imageUrls[1]', message }];
    assertRefused(await service.create(mine.key, requestWith(good, url)), 422, /^input\.imageUrls\[1\]: /, { errors });
  }
  assert.equal(await balanceOf(mine.accountId), 1_000);
  assert.equal((await service.create(mine.key, requestWith(good))).status, 200);
});

for (const [what, make, why] of [
  ['no image', () => Promise.resolve(Buffer.from('hello')), /is plain text; send a JPEG, PNG, WebP, HEIC/],
  ['nothing', () => Promise.resolve(Buffer.alloc(0)), /the file is empty/],
  ['an animation', () => images.animatedWebp(), /is animated; send a still image/],
  ['a small one', () => images.plainImage(299, 300).png().toBuffer(), /each side must have 300 to 6000 px/],
] as const) {
  test(`422 ${what}`, async () => {
    const { key } = await service.newAccount(0);
    const { status, json } = await upload(key, await make());
    assert.deepEqual([status, json.error], [422, 'invalid_request']);
    assert.match(json.msg, why);
  });
}

test('413 more than 10 MB, 415 a packed body', async () => {
  const { key } = await service.newAccount(0);
  assertRefused(await upload(key, Buffer.alloc(maxUploadBytesOfKind('image') + 1)), 413, /larger than 10240 KiB/);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'image/png', 'content-encoding': 'gzip' };
  assertRefused(await service.send('POST', '/api/v1/uploads', { headers, body: Buffer.from('x') }), 415, /Encoding/);
});

test('200 a file without a type, and one in a form', async () => {
  const { key } = await service.newAccount(0);
  const png = await images.noise(300, 300).png().toBuffer();
  const headers = { authorization: `Bearer ${key}` };
  assert.equal((await service.send('POST', '/api/v1/uploads', { headers, body: png })).status, 200);
  const field = '--x\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nvision\r\n';
  // The file has the text of the boundary inside, but not as a line of its own.
  const tricky = Buffer.concat([png, Buffer.from('\r\n--xy\r\n a --x-- b')]);
  const part = (content: Buffer, name = '; filename="a.png"') =>
    Buffer.concat([
      Buffer.from(`--x\r\nContent-Disposition: form-data; name="file"${name}\r\n\r\n`),
      content,
      Buffer.from('\r\n'),
    ]);
  const form = (...parts: readonly (Buffer | string)[]) => {
    const body = Buffer.concat([...parts, '--x--\r\n'].map((one) => Buffer.from(one as string, 'latin1')));
    return upload(key, body, 'multipart/form-data; boundary=x');
  };
  for (const answer of [await form(part(tricky)), await form(field, part(png)), await form(part(png, ''))]) {
    assert.equal(answer.status, 200, answer.bytes.toString());
    assert.equal(answer.json.data['kind'], 'image');
  }
  for (const [answer, message] of [
    [await form(part(png), part(png)), 'the form must have one file; it has 2'],
    [await form(field, field), 'the form must have one file; it has 0'],
    [await form(part(Buffer.alloc(0))), 'the file is empty'],
  ] as const)
    assertRefused(answer, 422, /the f/, { errors: [{ path: '', message }] });
  assertRefused(await upload(key, png, 'multipart/form-data; boundary=x'), 400, /not a well-formed/);
  assertRefused(await upload(key, png, 'multipart/form-data'), 400, /not a well-formed/);
});

test('422 an image of a shape that no upstream of the model takes, before the charge', async () => {
  const providers = { script: { kind: 'own', baseUrl: 'http://script.example' } };
  const entry = (bounds: object, index: number) => ({
    provider: 'script',
    model: `x${index}`,
    rules: { images: bounds },
  });
  const offer = (model: string, ...all: readonly object[]) => ({
    model,
    title: model,
    prices: [{ creditsPerSecond: 1 }],
    tiers: [all.map(entry)],
  });
  const models = [
    offer('narrow', { minAspect: 0.4, maxAspect: 2.5 }, { maxPx: 2000 }),
    offer('narrower', { minAspect: 0.4, maxAspect: 2.5 }, { maxAspect: 3 }),
  ];
  const catalogue = readCatalogueOrThrow({ path: 'x', readText: () => JSON.stringify({ providers, models }) });
  const shop = await startHttpService({ database: service.database, catalogue: () => catalogue });
  try {
    const { key, accountId } = await shop.newAccount(1_000);
    const wide = await upload(key, await images.plainImage(1800, 300).png().toBuffer(), 'image/png', shop);
    const url = String(wide.json.data['url']);
    const create = (model: string) => shop.create(key, { model, input: { prompt: 'A boat', imageUrls: [url] } });
    const message = 'is 1800×300 px; a reference image must be 0.4 to 2.5 times as wide as high';
    const errors = [{ path: 'input.imageUrls[0]', message }];
    assertRefused(await create('narrower'), 422, /is 1800×300 px/, { errors });
    assert.equal(await balanceOf(accountId), 1_000);
    // Its second upstream takes the shape.
    const created = await create('narrow');
    assert.equal(created.status, 200, created.bytes.toString());
  } finally {
    await shop.close();
  }
});

test('422 an uploaded last frame whose shape differs much from that of the first frame, before the charge', async () => {
  const input = {
    resolution: { values: ['720p'] },
    duration: { min: 4, max: 15 },
    ratio: { values: ['16:9'] },
    generateAudio: {},
    firstFrameUrl: {},
    lastFrameUrl: {},
  };
  const providers = { script: { kind: 'own', baseUrl: 'http://script.example' } };
  const models = [{ model: 'frames', title: 'F', input, prices: [{ creditsPerSecond: 1 }], providers: ['script'] }];
  const catalogue = readCatalogueOrThrow({ path: 'x', readText: () => JSON.stringify({ providers, models }) });
  const shop = await startHttpService({ database: service.database, catalogue: () => catalogue });
  try {
    const { key, accountId } = await shop.newAccount(1_000);
    const urlOf = async (width: number, height: number) => {
      const png = await images.plainImage(width, height).png().toBuffer();
      return String((await upload(key, png, 'image/png', shop)).json.data['url']);
    };
    const [wide, high, other] = [await urlOf(640, 360), await urlOf(360, 640), await urlOf(400, 300)];
    const create = (firstFrameUrl: string, lastFrameUrl: string) =>
      shop.create(key, { model: 'frames', input: { prompt: 'A boat', firstFrameUrl, lastFrameUrl } });
    const message = 'is 360×640 px and the first frame is 640×360 px; crop both to the same shape';
    const errors = [{ path: 'input.lastFrameUrl', message }];
    assertRefused(await create(wide, high), 422, /crop both/, { errors });
    assert.equal(await balanceOf(accountId), 1_000);
    for (const [first, last] of [
      [wide, other],
      [wide, wide],
      [wide, 'https://client.example/high.jpg'],
    ] as const)
      assert.equal((await create(first, last)).status, 200);
  } finally {
    await shop.close();
  }
});

test('409 an account keeps so many images and no more', async () => {
  const { key, accountId } = await service.newAccount(0);
  const text = `
insert into uploads (id, account_id, file_name, bytes, expires_at)
select gen_random_uuid(), $1, 'video.mp4', 1, now() + interval '1 day' from generate_series(1, ${maxUploadsOfAccount})`;
  await service.database.db.run({ name: 'test-many-uploads', text }, [accountId]);
  const answer = await upload(key, await images.plainImage(300, 300).png().toBuffer());
  assertRefused(answer, 409, /upload limit reached/, { limit: maxUploadsOfAccount });
});

test('503 the third upload of an account, and the ninth of all, at the same time', async () => {
  const release: ((outcome: UploadOutcome) => void)[] = [];
  const busy = await startHttpService({
    database: service.database,
    storeUpload: () => new Promise((resolve) => release.push(resolve)),
  });
  try {
    const send = (key: string) => upload(key, Buffer.from('x'), 'image/png', busy);
    const first: Promise<Answer>[] = [];
    for (let accounts = 0; accounts < 4; accounts += 1) {
      const { key } = await busy.newAccount(0);
      first.push(send(key), send(key));
      await waitFor('both to run', () => release.length === first.length || undefined);
      assertRefused(await send(key), 503, /too many uploads/);
    }
    assertRefused(await send((await busy.newAccount(0)).key), 503, /too many uploads/);
    for (const resolve of release) resolve({ kind: 'refused', why: 'is bad' });
    assert.deepEqual(
      (await Promise.all(first)).map(({ status }) => status),
      Array.from({ length: 8 }, () => 422),
    );
    // Each has made room.
    const again = send((await busy.newAccount(0)).key);
    await waitFor('it to run', () => release.length === 9 || undefined);
    release.at(-1)?.({ kind: 'refused', why: 'is bad' });
    assert.equal((await again).status, 422);
  } finally {
    await busy.close();
  }
});

test('401 without a key, 403 without the scope or when suspended', async () => {
  const { key } = await service.newAccount(0, ['tasks:read']);
  const headers = { 'content-type': 'image/png' };
  assertRefused(
    await service.send('POST', '/api/v1/uploads', { headers, body: Buffer.from('x') }),
    401,
    /valid API key/,
  );
  assertRefused(await upload(key, Buffer.from('x')), 403, /tasks:write/);
  assertRefused(await upload(await suspendedKey(), Buffer.from('x')), 403, /suspended/);
});

async function suspendedKey(): Promise<string> {
  const { accountId, key } = await service.newAccount(0);
  const text = 'update accounts set suspended_at = now() where id = $1';
  await service.database.db.run({ name: 'test-suspend', text }, [accountId]);
  return key;
}

test('an upload whose client goes away, or sends too slowly, frees its slot', async () => {
  let begunUploads = 0;
  const own = await startHttpService({
    database: service.database,
    limits: patient,
    storeUpload: (accountId, save) => {
      begunUploads += 1;
      return service.deps.storeUpload(accountId, save);
    },
  });
  using node = watchNodeServer(own.server.port);
  try {
    const { key } = await own.newAccount(1_000);
    const head = `POST /api/v1/uploads HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: image/png\r\n`;
    const begun = `${head}Content-Length: 100000\r\n\r\na`;
    const image = await images.plainImage(300, 300).png().toBuffer();
    const assertTakesUploads = async () => {
      const answer = await waitFor('a free slot', async () => {
        const tried = await upload(key, image, 'image/png', own);
        return tried.status === 503 ? undefined : tried;
      });
      assert.equal(answer.status, 200, answer.bytes.toString());
    };
    const late = [rawConnection(own.server.port), rawConnection(own.server.port)];
    for (const connection of late) connection.write(begun);
    // An upload that tried for a slot meanwhile could take that of a late one.
    await waitFor('both slots to be taken', () => begunUploads === 2 || undefined);
    assertRefused(await upload(key, image, 'image/png', own), 503, /too many uploads/);
    node.limit(1);
    for (const connection of late) assertRefused(parseAnswer(await connection.closed), 408, /took too long/);
    node.limit(patient.requestTimeout);
    await assertTakesUploads();
    const gone = [rawConnection(own.server.port), rawConnection(own.server.port)];
    for (const connection of gone) {
      connection.write(begun);
      connection.socket.end();
      await connection.closed;
    }
    await assertTakesUploads();
  } finally {
    await own.close();
  }
});
