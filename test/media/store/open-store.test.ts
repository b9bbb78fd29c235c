import assert from 'node:assert/strict';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { pino } from 'pino';
import {
  defaultStoreLocation,
  openStore,
  openStoreForLinks,
  s3SettingsOf,
} from '../../../src/media/store/open-store.ts';
import { createS3Client } from '../../../src/media/store/s3/s3-client-and-errors.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const links = { secret: 's'.repeat(32), publicUrl: 'http://media.test' };
const log = createLog({ level: 'silent' });
const key = 'results/1/video.mp4';

test('a store in folders is made private at the start, and reads what lies in the second one', async (t) => {
  const folder = await temporaryFolder(t);
  const [path, alsoPath] = [join(folder, 'results'), join(folder, 'old')];
  const [resultStore, resultStoreAlso] = [path, alsoPath].map((one) => ({ kind: 'folder', path: one }) as const);
  assert.ok(resultStore && resultStoreAlso);
  await mkdir(join(alsoPath, 'results/1'), { recursive: true });
  await writeFile(join(alsoPath, key), 'a video');
  const alone = await openStore({ ...links, resultStore }, log, { writes: true });
  assert.equal(await alone.sizeOf(key), undefined);
  const both = await openStore({ ...links, resultStore, resultStoreAlso }, log, { writes: true });
  assert.equal(await both.sizeOf(key), 7);
  assert.equal((await stat(path)).mode & 0o777, 0o700);
  await writeFile(join(folder, 'file'), '');
  const broken = { kind: 'folder', path: join(folder, 'file/results') } as const;
  await assert.rejects(openStore({ ...links, resultStore: broken }, log, { writes: true }), /RESULT_STORE/);
  const alsoBroken = { ...links, resultStore, resultStoreAlso: broken };
  await assert.rejects(openStore(alsoBroken, log, { writes: true }), /RESULT_STORE_ALSO/);
  const forLinks = await openStoreForLinks({ ...links, resultStore: broken });
  assert.match(forLinks.link(key), /^http:\/\/media\.test\/media\/results\/1\/video\.mp4\?/);
});

test('a bucket that is unreachable at the start is logged and opened, and one that refuses access is not opened', async (t) => {
  for (const [name, value] of Object.entries({ AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' })) {
    const before = process.env[name];
    process.env[name] = value;
    t.after(() => (before === undefined ? delete process.env[name] : (process.env[name] = before)));
  }
  const lines: string[] = [];
  const noted = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(line) });
  const resultStore = { kind: 'bucket', bucket: 'videos', prefix: 'a/' } as const;
  const open = (s3Endpoint: string) => openStore({ ...links, resultStore, s3Endpoint }, noted, { writes: false });
  const opened = await open('http://127.0.0.1:1');
  assert.match(opened.link(key), /^http:\/\/media\.test\/media\//);
  const [line, ...others] = lines.map((one) => JSON.parse(one) as { readonly err: { readonly message: string } });
  const { err, ...fields } = line ?? assert.fail();
  const msg = 'result store unavailable at the start; tasks wait for it';
  assert.deepEqual([fields, others], [{ level: 40, store: 's3://videos/a', msg }, []]);
  assert.match(err.message, /check failed in the result store s3:\/\/videos\/a: .*ECONNREFUSED/);
  const refusing = createServer((_request, response) => {
    response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
  });
  await new Promise<void>((listening) => refusing.listen(0, '127.0.0.1', listening));
  t.after(() => refusing.close());
  const { port } = refusing.address() as AddressInfo; // of a TCP server
  await assert.rejects(open(`http://127.0.0.1:${port}`), { name: 'SetupError', message: /s3:ListBucket/ });
  assert.equal(lines.length, 1);
});

test('the store is a folder among the data unless a setting names another one', () => {
  assert.deepEqual(defaultStoreLocation({ dataFolder: '/data' }), { kind: 'folder', path: '/data/results' });
});

test('the settings of buckets reach the client, which has the bucket in the path of an endpoint', async () => {
  const settings = s3SettingsOf({ s3Endpoint: 'http://store:9000', s3Region: 'eu-west-1', s3PathStyle: false });
  assert.deepEqual(settings, { endpoint: 'http://store:9000', region: 'eu-west-1', pathStyle: false });
  const configOf = async (given: Parameters<typeof createS3Client>[0]) => {
    const client = createS3Client(given);
    const { forcePathStyle, region, requestChecksumCalculation, responseChecksumValidation } = client.config;
    const checksums = [await requestChecksumCalculation(), await responseChecksumValidation()];
    client.destroy();
    assert.deepEqual(checksums, ['WHEN_REQUIRED', 'WHEN_REQUIRED']);
    return [forcePathStyle, await region()];
  };
  assert.deepEqual(await configOf({ endpoint: 'http://store:9000' }), [true, 'us-east-1']);
  assert.deepEqual(await configOf({ endpoint: 'http://store:9000', pathStyle: false }), [false, 'us-east-1']);
  assert.deepEqual(await configOf({ endpoint: 'http://store:9000', region: 'eu-west-1' }), [true, 'eu-west-1']);
  assert.deepEqual(await configOf({ region: 'eu-west-1' }), [false, 'eu-west-1']);
  assert.deepEqual(await configOf({ region: 'eu-west-1', pathStyle: true }), [true, 'eu-west-1']);
});
