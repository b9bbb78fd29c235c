import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { HttpError } from '../../../src/api/core/http-error.ts';
import { type InlineMediaDeps, storeInlineFile, storeInlineMedia } from '../../../src/api/dialects/inline-media.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** A JPEG by its first bytes, with every character of base64 in it. */
const file = Buffer.concat([
  Buffer.from([0xff, 0xd8, 0xff, 0xe0]),
  Buffer.from(Array.from({ length: 512 }, (_, i) => (i * 37) % 256)),
]);
const base64 = file.toString('base64');

async function hosted(t: Parameters<typeof temporaryFolder>[0], value: unknown) {
  const folder = await temporaryFolder(t);
  const stored: Buffer[] = [];
  const result = await storeInlineFile(
    {
      publicUrl: 'http://media.test',
      storeUpload: async (_account, receive) => {
        await receive(join(folder, 'file'));
        stored.push(await readFile(join(folder, 'file')));
        return {
          kind: 'stored',
          upload: { uploadId: '00000000-0000-4000-8000-000000000000', fileName: 'image.jpg' },
          expiresAt: 0,
        };
      },
    },
    'account',
    { path: 'image', value },
  );
  return { result, stored };
}

for (const [title, value] of [
  ['as browsers write it', `data:image/jpeg;base64,${base64}`],
  ['without a type', `data:;base64,${base64}`],
  ['with parameters', `data:image/jpeg;charset=utf-8;name="a b.jpg";base64,${base64}`],
  ['in other letters', `DATA:IMAGE/JPEG;BASE64,${base64}`],
  ['with white space around it', `\n data:image/jpeg;base64, ${base64}\n`],
  ['wrapped at 76 characters', `data:image/jpeg;base64,${base64.match(/.{1,76}/g)?.join('\r\n')}\r\n`],
  ['in the alphabet for URLs', `data:image/jpeg;base64,${file.toString('base64url')}`],
  ['without padding', `data:image/jpeg;base64,${base64.replaceAll('=', '')}`],
  ['percent-encoded', `data:image/jpeg;base64,${encodeURIComponent(base64)}`],
  ['percent-encoded with its lines', `data:image/jpeg;base64,${base64.match(/.{1,76}/g)?.join('%0d%0A')}%20`],
  ['without the prefix', base64],
] as const)
  test(`a file in base64 is decoded ${title}`, async (t) => {
    const { stored } = await hosted(t, value);
    assert.equal(stored.length, 1);
    assert.ok(stored[0]?.equals(file));
  });

test('other text is left to the parser, and a data URL that is not base64 is refused', async (t) => {
  for (const value of [
    'https://example.com/a.png',
    'a'.repeat(200),
    Buffer.from('{"a":"'.repeat(40)).toString('base64'),
    7,
    null,
  ])
    assert.deepEqual(await hosted(t, value), { result: value, stored: [] });
  for (const value of [
    'data:image/svg+xml,<svg/>',
    'data:image/png;base64',
    'data:image/png;base64,%%%',
    'data:image/png;base64,a=b',
  ])
    await assert.rejects(hosted(t, value), (error) => {
      assert.ok(error instanceof HttpError);
      assert.match(error.envelope.msg, /image: must be an http or https URL, or a data URL in base64/);
      return true;
    });
});

test('text of at least a hundred characters may be a file without a prefix', async (t) => {
  for (const [length, files] of [
    [99, 0],
    [100, 1],
  ] as const)
    assert.equal((await hosted(t, base64.slice(0, length))).stored.length, files, String(length));
});

test('a list has its files in its order; none of a list that is too long is stored', async () => {
  let stored = 0;
  const storeUpload: InlineMediaDeps['storeUpload'] = () => {
    stored += 1;
    const uploadId = `00000000-0000-4000-8000-${String(stored).padStart(12, '0')}`;
    return Promise.resolve({ kind: 'stored', upload: { uploadId, fileName: 'image.jpg' }, expiresAt: 0 });
  };
  const store = (input: Readonly<Record<string, unknown>>) =>
    storeInlineMedia({ publicUrl: 'http://media.test', storeUpload }, 'account', { input, pathOf: (field) => field });
  const dataUrl = `data:image/jpeg;base64,${base64}`;
  const address = 'https://example.com/a.png';
  const urlOf = (index: number) =>
    `http://media.test/media/uploads/00000000-0000-4000-8000-00000000000${index}/image.jpg`;
  const input = {
    prompt: dataUrl,
    imageUrls: [dataUrl, address, dataUrl],
    firstFrameUrl: dataUrl,
    lastFrameUrl: address,
  };
  assert.deepEqual(await store(input), {
    imageUrls: [urlOf(1), address, urlOf(2)],
    firstFrameUrl: urlOf(3),
    lastFrameUrl: address,
  });
  stored = 0;
  assert.deepEqual(await store({ imageUrls: Array.from({ length: 21 }, () => dataUrl) }), {});
  assert.equal(stored, 0);
  await store({ imageUrls: Array.from({ length: 20 }, () => dataUrl) });
  assert.equal(stored, 20);
});

for (const [outcome, message] of [
  [{ kind: 'too_many' }, /^too_many_uploads/],
  [{ kind: 'refused', why: 'is not readable' }, /^invalid_request .*images\[0\]: the file is not readable/],
] as const)
  test(`a file that is not stored is refused: ${outcome.kind}`, async () => {
    const deps = { publicUrl: 'http://media.test', storeUpload: () => Promise.resolve(outcome) };
    const input = { imageUrls: [`data:image/jpeg;base64,${base64}`] };
    const storing = storeInlineMedia(deps, 'account', {
      input,
      pathOf: (field) => field.replace('imageUrls', 'images'),
    });
    await assert.rejects(storing, (error) => {
      assert.ok(error instanceof HttpError);
      assert.match(`${error.code} ${error.envelope.msg}`, message);
      return true;
    });
  });
