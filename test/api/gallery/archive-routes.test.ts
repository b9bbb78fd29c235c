import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { unzipSync } from 'fflate';
import { markMediaDeleted } from '../../../src/tasks/end/expired-media-rows.ts';
import { createFolderStore } from '../../support/folder-store.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { assertRefused, clientOf, storeVideo } from '../../library/gallery/gallery-stage.ts';

const now = 1_900_000_000_500;
let service: HttpService;
before(async () => {
  service = await startHttpService({ now: () => now });
});
after(() => service.close());

async function newClient(at = service) {
  const { accountId, key } = await at.newAccount(1_000_000);
  const client = clientOf(at, key);
  const archive = async (...taskIds: readonly string[]) => {
    const { url, ...shown } = await client.data('archive', { taskIds });
    const { pathname, search } = new URL(String(url));
    return { path: pathname + search, pathname, shown };
  };
  const store = async (prompt: string, size: number) => (await storeVideo(at, accountId, prompt, { size })).taskId;
  return { ...client, archive, store };
}

const open = (path: string) => service.send('GET', path, {});

test('200 an archive has each chosen video once, and its link names them, their bytes and its end', async () => {
  const { archive, store } = await newClient();
  const [one, two] = [await store('one', 700), await store('two', 50)];
  await store('not chosen', 10);
  const { path, pathname, shown } = await archive(two, one.toUpperCase(), one);
  assert.equal(pathname, `/media/archives/${two},${one}.zip`);
  assert.deepEqual(shown, { bytes: 750, expireTime: now + 600_000 });
  const { status, headers, bytes } = await open(path);
  const { 'content-disposition': disposition = '', ...others } = headers;
  assert.match(disposition, /^attachment; filename="videos-\d{4}-\d\d-\d\d\.zip"$/);
  assert.deepEqual(
    [status, others['content-type'], others['content-length'], others['cache-control']],
    [200, 'application/zip', String(bytes.length), 'no-store'],
  );
  const files = Object.entries(unzipSync(bytes)).map(([name, content]) => [
    name.replace(/^\d{4}-\d\d-\d\d-/, ''),
    Buffer.from(content).toString(),
  ]);
  const contentOf = (taskId: string, size: number) => Buffer.alloc(size, taskId).toString();
  const nameOf = (taskId: string) => `videogen-2.0-fast-${taskId.slice(-8)}.mp4`;
  assert.deepEqual(
    new Map(files as [string, string][]),
    new Map([
      [nameOf(one), contentOf(one, 700)],
      [nameOf(two), contentOf(two, 50)],
    ]),
  );
  assert.equal(files.length, 2);
});

test('404 a video of another account and an unknown video, 422 no video and more than 50', async () => {
  const [own, other] = [await newClient(), await newClient()];
  const [mine, theirs] = [await own.store('mine', 10), await other.store('theirs', 10)];
  for (const strange of [theirs, randomUUID(), 'x'])
    assertRefused(await own.request('archive', { taskIds: [mine, strange] }), 404, 'task_not_found');
  assertRefused(await own.request('archive', { taskIds: [] }), 422, 'invalid_request');
  const many = Array.from({ length: 50 }, () => mine);
  assert.equal((await own.request('archive', { taskIds: many })).status, 200);
  assertRefused(await own.request('archive', { taskIds: [...many, mine] }), 422, 'invalid_request');
});

test('403 a link that was altered, 410 one of a video that was deleted since', async () => {
  const { archive, store } = await newClient();
  const [one, two] = [await store('one', 10), await store('two', 20)];
  const { path, pathname } = await archive(one);
  const both = await archive(one, two);
  const again = `${path}&expires=1`;
  for (const altered of [path.replace(one, two), path.replace(one, `${one},${two}`), pathname, again])
    assertRefused(await open(altered), 403, 'link_invalid');
  await markMediaDeleted(service.database.db, one);
  for (const ended of [path, both.path]) assertRefused(await open(ended), 410, 'media_deleted');
});

test('409 an account has one archive at a time; another account does not wait, and the end of the archive frees it', async (t) => {
  const store = createFolderStore(await temporaryFolder(t), { publicUrl: 'http://media.test' });
  const held = new Readable({ read: () => {} });
  let readers = 0;
  let begun = () => {};
  const isBegun = new Promise<void>((resolve) => (begun = resolve));
  // The first video that is read stays open until its bytes are given.
  const read: typeof store.read = (key) => {
    readers += 1;
    if (readers > 1) return store.read(key);
    begun();
    return Promise.resolve(held);
  };
  const slow = await startHttpService({ resultStore: { ...store, read } });
  t.after(() => slow.close());
  const [own, other] = [await newClient(slow), await newClient(slow)];
  const [mine, theirs] = [await own.store('mine', 5), await other.store('theirs', 5)];
  const [{ path }, foreign] = [await own.archive(mine), await other.archive(theirs)];
  const first = slow.send('GET', path, {});
  await isBegun;
  assertRefused(await slow.send('GET', path, {}), 409, 'archive_running');
  assertRefused(await own.request('archive', { taskIds: [mine] }), 409, 'archive_running');
  assert.equal((await slow.send('GET', foreign.path, {})).status, 200);
  held.push('bytes');
  held.push(null);
  assert.deepEqual(
    Object.values(unzipSync((await first).bytes)).map((bytes) => Buffer.from(bytes).toString()),
    ['bytes'],
  );
  assert.equal((await slow.send('GET', path, {})).status, 200);
});
