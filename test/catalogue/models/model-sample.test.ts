import assert from 'node:assert/strict';
import { test } from 'node:test';
import { locateSample, sampleSchema, sampleContentType } from '../../../src/catalogue/models/model-sample.ts';

const types = {
  'a.mp4': 'video/mp4',
  'a.b.WEBM': 'video/webm',
  'a.jpg': 'image/jpeg',
  'a.jpeg': 'image/jpeg',
  'a.png': 'image/png',
  'a.webp': 'image/webp',
  'a.svg': undefined,
};

test('a sample has the type of its ending, in any case', () => {
  for (const [name, type] of Object.entries(types)) assert.equal(sampleContentType(name), type, name);
});

test('a model may have a video, a poster or both, each of its own types', () => {
  const isValid = (sample: unknown) => sampleSchema.safeParse(sample).success;
  for (const sample of [{ video: 'a.mp4' }, { poster: 'a.png' }, { video: 'a.webm', poster: 'a.webp' }])
    assert.ok(isValid(sample), JSON.stringify(sample));
  for (const sample of [{}, { video: 'a.png' }, { poster: 'a.mp4' }, { video: `${'x'.repeat(497)}.mp4` }])
    assert.ok(!isValid(sample), JSON.stringify(sample).slice(0, 40));
});

test('a sample is located file by file, and each that cannot be read is reported', () => {
  const locate = (name: string) => ({ path: `/etc/${name}`, ...(name.startsWith('no') && { problem: `no ${name}` }) });
  assert.deepEqual(locateSample(undefined, locate), { sample: undefined, problems: [] });
  assert.deepEqual(locateSample({ poster: 'a.png' }, locate), { sample: { poster: '/etc/a.png' }, problems: [] });
  assert.deepEqual(locateSample({ video: 'no.mp4', poster: 'no.png' }, locate), {
    sample: { video: '/etc/no.mp4', poster: '/etc/no.png' },
    problems: [
      { file: 'video', message: 'no no.mp4' },
      { file: 'poster', message: 'no no.png' },
    ],
  });
});
