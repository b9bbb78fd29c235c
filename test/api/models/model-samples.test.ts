import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readCatalogueOrThrow } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { ConfigError } from '../../../src/platform/setup-errors-and-error-messages.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';

const folder = mkdtempSync(join(tmpdir(), 'videogen-samples-'));
const video = Buffer.from('a made-up video');

function catalogueWith(sample: object | undefined) {
  const path = join(folder, 'models.json');
  const model = {
    title: 'A model',
    description: 'Good for boats.',
    prices: [{ creditsPerSecond: 1 }],
    ...(sample !== undefined && { sample }),
  };
  const remote = { kind: 'ark', baseUrl: 'https://ark.test', key: { env: 'KEY' } };
  const models = [
    { ...model, model: 'with/sample', providers: ['upstream'] },
    { ...model, model: 'preview', sample: undefined, description: undefined },
    { ...model, model: 'without', sample: undefined, providers: ['upstream'] },
  ];
  writeFileSync(path, JSON.stringify({ providers: { upstream: remote }, models }));
  return readCatalogueOrThrow({ path });
}

let service: HttpService;
before(async () => {
  writeFileSync(join(folder, 'boat.mp4'), video);
  const catalogue = catalogueWith({ video: 'boat.mp4' });
  service = await startHttpService({ catalogue: () => catalogue });
});
after(() => service.close());

type Sample = { readonly videoUrl: string | null; readonly posterUrl: string | null; readonly isPreview: boolean };

const sampleAt = (url: string | null | undefined, headers: Record<string, string> = {}) => {
  const { pathname, search } = new URL(url ?? assert.fail());
  return service.send('GET', `${pathname}${search}`, { headers });
};

test('a model shows its sample and description; one of the preview shows that of the preview, and says so', async () => {
  const { key } = await service.newAccount(0);
  const { json } = await service.send('GET', '/api/v1/models', { headers: { authorization: `Bearer ${key}` } });
  const models = json.data['models'] as { description: string | null; sample: Sample | null }[];
  const [declared, preview, without] = models;
  assert.equal(declared?.description, 'Good for boats.');
  assert.deepEqual([declared.sample?.posterUrl, declared.sample?.isPreview], [null, false]);
  const part = await sampleAt(declared.sample?.videoUrl, { range: 'bytes=2-5' });
  assert.deepEqual([part.status, part.bytes.toString(), part.headers['content-type']], [206, 'made', 'video/mp4']);
  assert.deepEqual(
    ['cache-control', 'cross-origin-resource-policy', 'x-content-type-options'].map((name) => part.headers[name]),
    ['public, max-age=300', 'cross-origin', 'nosniff'],
  );
  assert.deepEqual([preview?.description, preview?.sample?.isPreview], [null, true]);
  const poster = await sampleAt(preview?.sample?.posterUrl);
  assert.deepEqual([poster.status, poster.headers['content-type']], [200, 'image/jpeg']);
  assert.equal(without?.sample, null);
});

test('404 a sample of an unknown model, of a model without one, or of another kind', async () => {
  for (const query of ['', '?model=x&file=video', '?model=without&file=video', '?model=with/sample&file=poster']) {
    const { status, json } = await service.send('GET', `/model-samples${query}`);
    assert.deepEqual([status, json.error], [404, 'media_missing'], query);
  }
});

for (const [sample, problem] of [
  [{ video: 'none.mp4' }, /models\[0\]\.sample\.video: this file cannot be read \(ENOENT\)/],
  [{ video: 'boat.exe' }, /models\[0\]\.sample\.video: must be the path of a file that ends in \.mp4, \.webm/],
  [{}, /models\[0\]\.sample: must have a video or a poster/],
] as const) {
  test(`a catalogue with the sample ${JSON.stringify(sample)} is refused`, () => {
    assert.throws(
      () => catalogueWith(sample),
      (error) => error instanceof ConfigError && error.problems.some((one) => problem.test(one)),
    );
  });
}
