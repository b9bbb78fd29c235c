import assert from 'node:assert/strict';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  defaultStoreLocation,
  openStore,
  openStoreForLinks,
  s3SettingsOf,
} from '../../../src/media/store/open-store.ts';
import { createS3Client } from '../../../src/media/store/s3/s3-client.ts';
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
