import { createAccount } from '../../../src/credits/open-account.ts';
import assert from 'node:assert/strict';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createStoreUpload } from '../../../src/media/references/store-upload.ts';
import { closeAccountAs } from '../../../src/tasks/end/close-account-rows.ts';
import { AccountClosedError } from '../../../src/accounts/accounts.ts';
import { listExpiredUploads, findUsableUploadsByIds } from '../../../src/media/references/upload-rows.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { plainImage } from '../../support/hostile/hostile-images.ts';

let database: TestDatabase;
let workFolder: string;
before(async () => {
  database = await createTestDatabase();
  workFolder = await mkdtemp(join(tmpdir(), 'videogen-uploads-'));
});
after(async () => {
  await database.close();
  await rm(workFolder, { recursive: true });
});

/** Uploads into a store that has every file, and optionally loses its responses. */
function uploads({
  losesAnswers,
  meanwhile,
}: {
  readonly losesAnswers: boolean;
  readonly meanwhile?: () => Promise<unknown>;
}) {
  const files: string[] = [];
  const put = async (key: string) => {
    await meanwhile?.();
    files.push(key);
    if (losesAnswers) throw new Error('no answer');
  };
  const remove = (key: string) => Promise.resolve(void files.splice(files.indexOf(key), 1));
  const resultStore = { put, delete: remove };
  return { files, keep: createStoreUpload({ db: database.db, resultStore, retentionMs: 1e9, workFolder }) };
}

const image = async (path: string) => writeFile(path, await plainImage(300, 300).png().toBuffer());

test('an image that the store has, though its answer was lost, can be named by no task and is deleted in ten minutes', async () => {
  const accountId = await createAccount(database.db, { name: 'a', credits: 0 });
  const { files, keep } = uploads({ losesAnswers: true });
  await assert.rejects(keep(accountId, image), /no answer/);
  const uploadId = String(files[0]?.split('/')[1]);
  assert.deepEqual(await findUsableUploadsByIds(database.db, accountId, [uploadId]), []);
  assert.deepEqual(await listExpiredUploads(database.db, { limit: 10 }), [], 'it may be on its way there');
  const text = `update uploads set expires_at = expires_at - interval '10 minutes'`;
  await database.db.run({ name: 'test-age-uploads', text });
  const expired = await listExpiredUploads(database.db, { limit: 10 });
  assert.deepEqual(
    expired.map((upload) => upload.uploadId),
    [uploadId],
  );
});

test('a closed account keeps no image', async () => {
  const accountId = await createAccount(database.db, { name: 'a', credits: 0 });
  await closeAccountAs(database.db, { kind: 'command_line', name: 'ada' }, { accountId, reason: 'asked for' });
  const { files, keep } = uploads({ losesAnswers: false });
  await assert.rejects(keep(accountId, image), AccountClosedError);
  assert.deepEqual(files, []);
});

test('an image that comes to the store while its account is closed and emptied is deleted', async () => {
  const { db } = database;
  const accountId = await createAccount(db, { name: 'a', credits: 0 });
  const meanwhile = async () => {
    await closeAccountAs(db, { kind: 'command_line', name: 'ada' }, { accountId, reason: 'asked for' });
    await db.run({ name: 'test-empty', text: 'delete from uploads where account_id = $1' }, [accountId]);
  };
  const { files, keep } = uploads({ losesAnswers: false, meanwhile });
  await assert.rejects(keep(accountId, image), AccountClosedError);
  assert.deepEqual(files, []);
});

test('the same file that is uploaded at the same time is one upload for requests that reuse it, now and later', async () => {
  const accountId = await createAccount(database.db, { name: 'a', credits: 0 });
  const { keep } = uploads({ losesAnswers: false });
  const store = () => keep(accountId, image, { reuses: true });
  const outcomes = [...(await Promise.all(Array.from({ length: 8 }, store))), await store()];
  const ids = outcomes.map((outcome) =>
    outcome.kind === 'stored' ? outcome.upload.uploadId : assert.fail(outcome.kind),
  );
  assert.equal(new Set(ids).size, 1);
});

test('a file of the largest size is stored, and one of a byte more is refused', async () => {
  const accountId = await createAccount(database.db, { name: 'a', credits: 0 });
  const { keep } = uploads({ losesAnswers: false });
  const soundOf = (bytes: number) => async (path: string) => {
    // The size that the header names is unknown.
    await writeFile(path, 'RIFF\xff\xff\xff\xffWAVE', 'latin1');
    await truncate(path, bytes);
  };
  const maxBytes = 30 * 1024 * 1024;
  assert.equal((await keep(accountId, soundOf(maxBytes))).kind, 'stored');
  assert.deepEqual(await keep(accountId, soundOf(maxBytes + 1)), { kind: 'refused', why: 'is larger than 30 MB' });
});
