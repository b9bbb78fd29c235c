import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameOfStore, originsOfStore, parseStoreLocation } from '../../../src/media/store/store-location.ts';

const bucket = parseStoreLocation('s3://films/live');

const origins = [
  ['an endpoint, with the bucket in the path', { s3Endpoint: 'http://store:9000' }, 'http://store:9000'],
  [
    'an endpoint, with the bucket in the name',
    { s3Endpoint: 'https://s3.example.com', s3PathStyle: false },
    'https://films.s3.example.com',
  ],
  ['a region of Amazon', { s3Region: 'eu-central-1' }, 'https://films.s3.eu-central-1.amazonaws.com'],
  [
    'a region of Amazon, with the bucket in the path',
    { s3Region: 'eu-central-1', s3PathStyle: true },
    'https://s3.eu-central-1.amazonaws.com',
  ],
  ['a region that only the SDK knows', {}, 'https://*.amazonaws.com'],
] as const;

for (const [name, address, origin] of origins) {
  test(`a browser gets the files of a bucket from ${origin}: ${name}`, () => {
    assert.deepEqual(originsOfStore(bucket, address), [origin]);
  });
}

test('the files of a folder come from the service itself', () => {
  assert.deepEqual(originsOfStore(parseStoreLocation('/var/lib/videogen/results'), {}), []);
});

test('a store is a folder, or a bucket with a prefix or without, and is named as it was set', () => {
  const inBucket = (prefix: string) => ({ kind: 'bucket', bucket: 'films', prefix });
  for (const [address, location, name = address] of [
    ['/var/lib/videogen', { kind: 'folder', path: '/var/lib/videogen' }],
    ['s3://films', inBucket('')],
    ['s3://films/', inBucket(''), 's3://films'],
    ['s3://films/live', inBucket('live/')],
    ['s3://films/a/b/c/d/', inBucket('a/b/c/d/'), 's3://films/a/b/c/d'],
  ] as const) {
    const parsed = parseStoreLocation(address);
    assert.deepEqual(parsed, location);
    assert.equal(nameOfStore(parsed), name);
  }
  for (const address of [
    's3://',
    's3://A',
    's3://films/a/b/c/d/e',
    's3://films/../x',
    'https://films',
    's3://films//x',
  ])
    assert.throws(() => parseStoreLocation(address), /must be a folder, or s3:/, address);
});
