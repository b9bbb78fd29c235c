import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createAccount } from '../../../src/credits/open-account.ts';
import { uploadPreviewsOf } from '../../../src/media/references/upload-preview-links.ts';
import { ago, insertRow, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

const publicUrl = 'https://films.example';
const resultStore = { link: (key: string) => `signed ${key}` };
const addressOf = (uploadId: string, fileName: string) => `${publicUrl}/media/uploads/${uploadId}/${fileName}`;

test('the files that an account uploaded and still has are linked, each once, in the order of their addresses', async () => {
  const accountId = await createAccount(database.db, { name: 'one', credits: 0 });
  const other = await createAccount(database.db, { name: 'other', credits: 0 });
  await rolledBack(database.db, async (db) => {
    const upload = async (of: string, fileName: string, expiresInMs = 1_000) => {
      const id = randomUUID();
      const expiry = { expires_at: ago(-expiresInMs) };
      await insertRow(db, 'uploads', { id, account_id: of, file_name: fileName, bytes: 1, ...expiry });
      return id;
    };
    const image = await upload(accountId, 'image.jpg');
    const clip = await upload(accountId, 'video.mov');
    const gone = await upload(accountId, 'image.jpg', 0);
    const theirs = await upload(other, 'image.jpg');
    const named = [addressOf(clip, 'video.mov'), addressOf(image, 'image.jpg')];
    const urls = [
      'https://elsewhere.example/image.jpg',
      ...named,
      ...named,
      addressOf(image, 'video.mp4'),
      addressOf(gone, 'image.jpg'),
      addressOf(theirs, 'image.jpg'),
      addressOf(randomUUID(), 'image.jpg'),
    ];
    assert.deepEqual(await uploadPreviewsOf({ db, publicUrl, resultStore }, accountId, urls), [
      { url: named[0], previewUrl: `signed uploads/${clip}/video.mov` },
      { url: named[1], previewUrl: `signed uploads/${image}/image.jpg` },
    ]);
  });
});

test('addresses that name no uploaded file cost no query', async () => {
  const db = { run: () => Promise.reject(new Error('not to be asked')) };
  const urls = ['https://elsewhere.example/image.jpg'];
  assert.deepEqual(await uploadPreviewsOf({ db, publicUrl, resultStore }, randomUUID(), urls), []);
});
