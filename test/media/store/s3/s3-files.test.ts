import assert from 'node:assert/strict';
import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { BucketLocation } from '../../../../src/media/store/store-location.ts';
import { createS3Client, type S3ClientSettings } from '../../../../src/media/store/s3/s3-client-and-errors.ts';
import { checkBucket, createS3Files } from '../../../../src/media/store/s3/s3-files.ts';
import { type S3Server, skipsWithoutS3, startS3Server } from '../../../support/servers/s3-server.ts';
import { startStallingProxy } from '../../../support/proxies/stalling-proxy.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { describeStore, key, type StoreUnderTest } from '../store-contract.ts';

const skip = skipsWithoutS3;
let server: S3Server;
before(async () => {
  if (skip === false) server = await startS3Server();
});
after(async () => {
  if (skip === false) await server.close();
});

let prefixes = 0;
function newLocation(): BucketLocation {
  return { kind: 'bucket', bucket: server.bucket, prefix: `installation-${(prefixes += 1)}/` };
}

test('an upstream stores a file by a link with the life that it needs, of which a store accepts a week at most', async () => {
  const s3 = { endpoint: 'http://127.0.0.1:1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } };
  const files = createS3Files({ location: { kind: 'bucket', bucket: 'videos', prefix: '' }, s3 });
  const week = 7 * 86_400;
  for (const [seconds, expected] of [
    [90, 90],
    [week, week],
    [week + 1, week],
  ] as const) {
    const link = new URL((await files.uploadLink('results/1/video.mp4', seconds * 1000)) ?? assert.fail());
    assert.equal(link.searchParams.get('X-Amz-Expires'), String(expected));
  }
});

describeStore(
  'a bucket',
  async (): Promise<StoreUnderTest> => {
    const location = newLocation();
    return { files: createS3Files({ location, s3: server.s3 }), names: () => namesIn(location) };
  },
  skip,
);

async function namesIn({ bucket, prefix }: BucketLocation): Promise<readonly string[]> {
  const client = createS3Client(server.s3);
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix }));
  return Contents.map(({ Key = '' }) => Key.slice(prefix.length)).toSorted();
}

describe('a bucket and its server', { skip }, () => {
  let scratch: string;
  before(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'videogen-s3-files-'));
  });
  after(() => rm(scratch, { recursive: true }));

  const bytesIn = async (name: string, bytes: Buffer) => {
    const path = join(scratch, name);
    await writeFile(path, bytes);
    return path;
  };
  const newFiles = (s3: Partial<S3ClientSettings> = {}, location = newLocation()) => ({
    location,
    files: createS3Files({ location, s3: { ...server.s3, ...s3 } }),
  });

  test('a large file arrives whole, with its type', async () => {
    const { files, location } = newFiles();
    const bytes = randomBytes(20 * 1024 * 1024 + 17);
    await files.put(key, await bytesIn('large', bytes));
    const target = join(scratch, 'large-back');
    assert.equal(await files.fetchTo(key, target), true);
    assert.equal(sha256(await readFile(target)), sha256(bytes));
    assert.deepEqual(await namesIn(location), [key]);
  });

  test('a link leads to the store itself, with ranges, the type and a name, and ends there too', async () => {
    const { files } = newFiles();
    await files.put(key, await bytesIn('video', Buffer.from('0123456789')));
    const video = { key, contentType: 'video/mp4', downloadName: '0193-video.mp4', linkExpiresAt: Date.now() + 60_000 };
    const link = { ...video, disposition: 'inline' } as const;
    const requestedAt = Date.now();
    const source = await files.sourceOf(link, 'GET');
    const answeredAt = Date.now();
    assert.ok(source?.kind === 'redirect' && source.url.startsWith(`${server.s3.endpoint}/${server.bucket}/`));
    const part = await fetch(source.url, { headers: { range: 'bytes=2-4' } });
    assert.deepEqual([part.status, await part.text()], [206, '234']);
    assert.equal(part.headers.get('content-type'), 'video/mp4');
    assert.equal(part.headers.get('content-disposition'), 'inline; filename="0193-video.mp4"');
    const saved = await files.sourceOf({ ...video, disposition: 'attachment' }, 'GET');
    assert.ok(saved?.kind === 'redirect');
    const download = await fetch(saved.url);
    assert.equal(download.headers.get('content-disposition'), 'attachment; filename="0193-video.mp4"');
    await download.arrayBuffer();
    const head = await files.sourceOf(link, 'HEAD');
    assert.ok(head?.kind === 'redirect');
    assert.equal((await fetch(head.url, { method: 'HEAD' })).headers.get('content-length'), '10');
    assert.equal((await fetch(source.url.replace('video.mp4', 'poster.jpg'))).status, 403, 'for this key alone');
    // It ends within a second before the link does.
    const livesMs = 1_000 * Number(new URL(source.url).searchParams.get('X-Amz-Expires'));
    assert.ok(requestedAt + livesMs <= link.linkExpiresAt && answeredAt + livesMs > link.linkExpiresAt - 1_000);
  });

  test('copies of images are sent by us: some upstreams follow no redirect', async () => {
    const { files } = newFiles();
    await files.put('references/0193/1.jpg', await bytesIn('image', Buffer.from('a picture')));
    const image = { key: 'references/0193/1.jpg', contentType: 'image/jpeg', downloadName: 'x' };
    const link = { ...image, disposition: 'inline', linkExpiresAt: Date.now() } as const;
    const source = await files.sourceOf(link, 'GET');
    assert.ok(source?.kind === 'stream' && source.body !== undefined);
    assert.equal(source.sizeBytes, 9);
    assert.equal(Buffer.concat(await source.body.toArray()).toString(), 'a picture');
    assert.deepEqual(await files.sourceOf(link, 'HEAD'), { kind: 'stream', sizeBytes: 9, body: undefined });
  });

  test('content passes through us, whole or the requested range', async () => {
    const { files } = newFiles();
    await files.put(key, await bytesIn('passed', Buffer.from('0123456789')));
    const video = {
      key,
      contentType: 'video/mp4',
      downloadName: 'x',
      disposition: 'inline',
      linkExpiresAt: 0,
    } as const;
    const read = async (range?: string) => {
      const source = await files.sourceOf(video, 'GET', { range });
      if (source?.kind !== 'stream') return source;
      const { sizeBytes, contentRange, body } = source;
      return [sizeBytes, contentRange, Buffer.concat((await body?.toArray()) ?? []).toString()];
    };
    assert.deepEqual(await read(), [10, undefined, '0123456789']);
    assert.deepEqual(await read('bytes=2-4'), [3, 'bytes 2-4/10', '234']);
    assert.deepEqual(await read('bytes=10-'), { kind: 'outside', sizeBytes: 10 });
    assert.deepEqual(await files.sourceOf(video, 'HEAD', { range: undefined }), {
      kind: 'stream',
      sizeBytes: 10,
      body: undefined,
    });
    const missing = { ...video, key: 'results/0194/video.mp4' };
    assert.equal(await files.sourceOf(missing, 'GET', { range: 'bytes=0-1' }), undefined);
  });

  const faults = [
    [
      'a wrong secret',
      { credentials: { accessKeyId: 'videogen-test', secretAccessKey: 'wrong' } },
      /SignatureDoesNotMatch.*does not accept the credentials\. Correct AWS_ACCESS_KEY_ID/,
    ],
    ['an unknown key', { credentials: { accessKeyId: 'nobody', secretAccessKey: 'x' } }, /access key ID/],
  ] as const;
  for (const [what, wrong, sentence] of faults) {
    test(`${what} is a sentence at the start, and an error that may be retried afterwards, never a missing file`, async () => {
      const { files, location } = newFiles(wrong);
      const checking = checkBucket({ location, s3: { ...server.s3, ...wrong } }, { writes: true });
      await assert.rejects(checking, (error) => {
        assert.ok(error instanceof Error && error.name === 'SetupError');
        assert.match(error.message, sentence);
        return true;
      });
      await assert.rejects(files.put(key, await bytesIn('v', Buffer.from('v'))), { name: 'StoreUnavailableError' });
      await assert.rejects(files.fetchTo(key, join(scratch, 'none')), { name: 'StoreUnavailableError' });
      await assert.rejects(files.sizeOf(key), { name: 'StoreUnavailableError' });
      await assert.rejects(files.move([{ from: 'staging/1/video.mp4', to: key }]), { name: 'StoreUnavailableError' });
      assert.deepEqual(await namesIn(location), []);
    });
  }

  test('a missing bucket is a sentence at the start, and afterwards no missing file', async () => {
    const location = { ...newLocation(), bucket: 'no-such-bucket' };
    const { files } = newFiles({}, location);
    const checking = checkBucket({ location, s3: server.s3 }, { writes: false });
    await assert.rejects(checking, {
      name: 'SetupError',
      message: /NoSuchBucket.*The bucket does not exist\. Create it/,
    });
    await assert.rejects(files.fetchTo(key, join(scratch, 'none')), { name: 'StoreUnavailableError' });
    await assert.rejects(files.sizeOf(key), { name: 'StoreUnavailableError' });
    await assert.rejects(files.move([{ from: 'staging/1/video.mp4', to: key }]), { name: 'StoreUnavailableError' });
    await assert.rejects(files.put(key, await bytesIn('v', Buffer.from('v'))), { name: 'StoreUnavailableError' });
  });

  test('a store that nobody reaches is no fault of the installation', async () => {
    const s3 = { ...server.s3, endpoint: 'http://127.0.0.1:1' };
    await assert.rejects(checkBucket({ location: newLocation(), s3 }, { writes: true }), {
      name: 'StoreUnavailableError',
    });
  });

  test('an upload that fails closes its file', { skip: process.platform !== 'linux' }, async () => {
    const { files } = newFiles({ endpoint: 'http://127.0.0.1:1' });
    const path = await bytesIn('unsent', randomBytes(20 * 1024 * 1024));
    await assert.rejects(files.put(key, path), { name: 'StoreUnavailableError' });
    await waitFor('the end of its descriptor', async () => ((await openFiles()).includes(path) ? undefined : true));
  });

  test('a check leaves nothing behind', async () => {
    const location = newLocation();
    await checkBucket({ location, s3: server.s3 }, { writes: true });
    assert.deepEqual(await namesIn(location), []);
  });

  test('a store that stops in the middle of a transfer leaves no file on either side; the next try succeeds', async () => {
    const proxy = await startStallingProxy(server.s3.endpoint);
    // Its silence never ends, so a busy machine meets the short limit, too.
    const { files: impatient, location } = newFiles({ endpoint: proxy.endpoint, idleMs: 300 });
    const { files } = newFiles({ endpoint: proxy.endpoint }, location);
    const path = await bytesIn('stalled', randomBytes(20 * 1024 * 1024));
    proxy.stallAfter(1024 * 1024);
    await assert.rejects(impatient.put(key, path), { name: 'StoreUnavailableError' });
    assert.equal(await newFiles({}, location).files.sizeOf(key), undefined);
    proxy.stallAfter(Infinity);
    await files.put(key, path);
    proxy.stallAfter(1024 * 1024);
    const target = join(scratch, 'stalled-back');
    await assert.rejects(impatient.fetchTo(key, target), { name: 'StoreUnavailableError' });
    await assert.rejects(stat(target), { code: 'ENOENT' });
    proxy.stallAfter(Infinity);
    assert.equal(await files.fetchTo(key, target), true);
    assert.equal(sha256(await readFile(target)), sha256(await readFile(path)));
    await proxy.close();
  });

  test('a full store keeps what it had, and shows nothing of what did not fit', async () => {
    const full = await startS3Server({ maxFileKilobytes: 512 });
    try {
      const location = { kind: 'bucket', bucket: full.bucket, prefix: '' } as const;
      const files = createS3Files({ location, s3: full.s3 });
      await files.put(key, await bytesIn('fits', Buffer.from('fits')));
      for (const megabytes of [2, 20])
        await assert.rejects(files.put(key, await bytesIn('big', randomBytes(megabytes * 1024 * 1024))), {
          name: 'StoreUnavailableError',
        });
      const target = join(scratch, 'fits-back');
      await files.fetchTo(key, target);
      assert.equal(await readFile(target, 'utf8'), 'fits');
    } finally {
      await full.close();
    }
  });

  test('a server that is killed in the middle of an upload has no part of the file when it is back', async () => {
    const dying = await startS3Server();
    const proxy = await startStallingProxy(dying.s3.endpoint);
    try {
      const location = { kind: 'bucket', bucket: dying.bucket, prefix: '' } as const;
      const files = createS3Files({ location, s3: dying.s3 });
      const behindProxy = createS3Files({ location, s3: { ...dying.s3, endpoint: proxy.endpoint } });
      const path = await bytesIn('dying', randomBytes(40 * 1024 * 1024));
      proxy.stallAfter(20 * 1024 * 1024);
      const putting = assert.rejects(behindProxy.put(key, path), { name: 'StoreUnavailableError' });
      await waitFor('the middle of the upload', () => proxy.stalled() > 0);
      await dying.kill();
      await putting;
      await dying.restart();
      assert.equal(await files.sizeOf(key), undefined);
      assert.ok(!(await readdir(dying.folder)).includes('results'));
      await files.put(key, path);
      assert.equal(await files.sizeOf(key), 40 * 1024 * 1024);
    } finally {
      await proxy.close();
      await dying.close();
    }
  });
});

async function openFiles(): Promise<readonly string[]> {
  const names = await readdir('/proc/self/fd');
  return Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')));
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
