import assert from 'node:assert/strict';
import { test } from 'node:test';
import { originsOf, parseStoreLocation } from '../../../src/media/store/store-location.ts';

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
    assert.deepEqual(originsOf(bucket, address), [origin]);
  });
}

test('the files of a folder come from the service itself', () => {
  assert.deepEqual(originsOf(parseStoreLocation('/var/lib/videogen/results'), {}), []);
});
