import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { v4 as uuid } from 'uuid';
import { createAccount } from '../../../src/credits/open-account.ts';
import {
  confirmUpload,
  findUploadFileName,
  listExpiredUploads,
  findUsableUploadsByIds,
  confirmOrReuseUpload,
  removeUpload,
  reserveUpload,
  reuseUpload,
} from '../../../src/media/references/upload-rows.ts';
import {
  maxUploadedBytesOfAccount,
  maxUploadsOfAccount,
  type StoredUploadName,
  uploadGraceMs,
} from '../../../src/media/references/upload-limits-and-addresses.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

const newAccount = () => createAccount(database.db, { name: 'a', credits: 0 });
const retentionMs = 3_600_000;

type Row = { readonly fileName?: StoredUploadName; readonly bytes?: number; readonly expiresInMs?: number };

/** Stores a row without the limits of an account. */
async function stored(accountId: string, { fileName = 'video.mp4', bytes = 1, expiresInMs = retentionMs }: Row = {}) {
  const uploadId = uuid();
  const text = `
insert into uploads (id, account_id, file_name, bytes, expires_at)
values ($1, $2, $3, $4, now() + $5::float8 * interval '1 millisecond')`;
  await database.db.run({ name: 'test-store-upload', text }, [uploadId, accountId, fileName, bytes, expiresInMs]);
  return uploadId;
}

const reserve = (accountId: string, bytes = 1) =>
  reserveUpload(database.db, { uploadId: uuid(), fileName: 'image.jpg', accountId, bytes, retentionMs });

test('an account has room for so many files and so many bytes, independent of other accounts', async () => {
  const [one, other] = [await newAccount(), await newAccount()];
  await stored(one, { bytes: maxUploadedBytesOfAccount - 10 });
  assert.equal(await reserve(one, 11), undefined);
  const startedAt = Date.now();
  const { expiresAt } = (await reserve(one, 10)) ?? assert.fail();
  assert.ok(expiresAt >= startedAt + retentionMs - 60_000 && expiresAt <= Date.now() + retentionMs + 60_000);
  assert.equal(await reserve(one, 1), undefined);
  assert.notEqual(await reserve(other, 11), undefined);
  for (let files = 1; files < maxUploadsOfAccount - 1; files += 1) await stored(other);
  assert.notEqual(await reserve(other), undefined);
  assert.equal(await reserve(other), undefined);
});

test('a file is reused by the same content in the same account while it has not expired, and keeps the later expiry', async () => {
  const [one, other] = [await newAccount(), await newAccount()];
  const [sha256, another] = ['a', 'b'].map((text) => createHash('sha256').update(text).digest()) as [Buffer, Buffer]; // of two
  const uploadId = await stored(one);
  const expired = await stored(other, { expiresInMs: -1_000 });
  for (const id of [uploadId, expired])
    assert.deepEqual(await confirmUpload(database.db, id, sha256), { uploadId: id });
  assert.equal(await confirmUpload(database.db, uuid(), sha256), undefined);
  assert.equal(await reuseUpload(database.db, one, another, retentionMs), undefined);
  assert.equal(await reuseUpload(database.db, other, sha256, retentionMs), undefined);
  const found = (await reuseUpload(database.db, one, sha256, 2 * retentionMs)) ?? assert.fail();
  assert.deepEqual([found.uploadId, found.fileName], [uploadId, 'video.mp4']);
  assert.ok(found.expiresAt > Date.now() + 1.5 * retentionMs);
  assert.deepEqual(await reuseUpload(database.db, one, sha256, 1), found, 'it is not shortened');
});

test('of two files of the same content the second one gives way to the first', async () => {
  const accountId = await newAccount();
  const sha256 = createHash('sha256').update('c').digest();
  const [first, second] = [await stored(accountId), await stored(accountId)];
  const record = (uploadId: string) =>
    confirmOrReuseUpload(database.db, { uploadId, fileName: 'video.mp4', accountId, sha256, retentionMs });
  assert.equal(await record(first), undefined);
  assert.equal((await record(second))?.uploadId, first);
});

test('only the files of the account that have not expired are usable, with the size of an image', async () => {
  const [one, other] = [await newAccount(), await newAccount()];
  const mine = await stored(one);
  const [theirs, expired, unnamed] = [await stored(other), await stored(one, { expiresInMs: -1 }), await stored(one)];
  const image = uuid();
  const size = { widthPx: 640, heightPx: 360 };
  const upload = { uploadId: image, fileName: 'image.jpg', accountId: one, bytes: 1, retentionMs, ...size } as const;
  await reserveUpload(database.db, upload);
  const usable = await findUsableUploadsByIds(database.db, one, [mine, theirs, expired, image]);
  assert.ok(!usable.some(({ uploadId }) => uploadId === unnamed));
  assert.deepEqual(
    usable
      .map(({ uploadId, fileName, widthPx, heightPx }) => `${uploadId} ${fileName} ${widthPx ?? 0} ${heightPx ?? 0}`)
      .toSorted(),
    [`${mine} video.mp4 0 0`, `${image} image.jpg 640 360`].toSorted(),
  );
});

test('files are listed for deletion page by page, the oldest first, once no task can still need them', async () => {
  const accountId = await newAccount();
  const graceMs = uploadGraceMs;
  const old = await stored(accountId, { expiresInMs: -graceMs - 7_200_000 });
  const [young, fresh] = [
    await stored(accountId, { expiresInMs: -graceMs - 3_600_000 }),
    await stored(accountId, { expiresInMs: -graceMs + 600_000 }),
  ];
  const text = 'update uploads set expires_at = (select expires_at from uploads where id = $1) where id = $2';
  const same = await stored(accountId);
  await database.db.run({ name: 'test-same-expiry', text }, [old, same]);
  const listed: string[] = [];
  let last: Awaited<ReturnType<typeof listExpiredUploads>>[number] | undefined;
  for (;;) {
    const [next, ...more] = await listExpiredUploads(database.db, { after: last, limit: 1 });
    assert.equal(more.length, 0);
    if (next === undefined) break;
    listed.push(next.uploadId);
    last = next;
  }
  assert.deepEqual(listed, [...[old, same].toSorted(), young]);
  await removeUpload(database.db, old);
  const left = await listExpiredUploads(database.db, { limit: 9 });
  assert.deepEqual(
    left.map(({ uploadId }) => uploadId),
    [same, young],
  );
  assert.deepEqual(await findUsableUploadsByIds(database.db, accountId, [fresh]), []);
});

test('the name of a file is found by its id, whether it has expired or not', async () => {
  const accountId = await newAccount();
  const clip = await stored(accountId, { fileName: 'video.mov' });
  const sound = await stored(accountId, { fileName: 'audio.mp3', expiresInMs: -1_000 });
  assert.deepEqual(await findUploadFileName(database.db, clip), { fileName: 'video.mov' });
  assert.deepEqual(await findUploadFileName(database.db, sound), { fileName: 'audio.mp3' });
  assert.equal(await findUploadFileName(database.db, uuid()), undefined);
});
