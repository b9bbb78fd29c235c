import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxShareLinkDays } from '../../../src/library/gallery/share-links.ts';
import { dayMs } from '../../../src/platform/timing/milliseconds-per-unit.ts';
import { startHttpService } from '../../support/service/http-service.ts';
import { createFolderStore } from '../../support/folder-store.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { assertRefused, clientOf, storeVideo } from '../../library/gallery/gallery-stage.ts';

test('a link ends after a week unless it is given another time within a year, and its page signs media for an hour at most', async (t) => {
  const startedAt = Date.now();
  const lives: (number | undefined)[] = [];
  const store = createFolderStore(await temporaryFolder(t));
  const resultStore: typeof store = {
    ...store,
    link: (key, lifeMs) => {
      lives.push(lifeMs);
      return store.link(key, lifeMs);
    },
  };
  const service = await startHttpService({ resultStore, now: () => startedAt });
  t.after(() => service.close());
  const { accountId, key } = await service.newAccount(1_000, ['tasks:write', 'tasks:read']);
  const { taskId } = await storeVideo(service, accountId, 'A lighthouse');
  const { request, data } = clientOf(service, key);
  const share = async (more: object = {}) => {
    const { url, link } = await data('share', { taskId, ...more });
    return { path: new URL(String(url)).pathname, expiresAt: (link as { readonly expireTime: number }).expireTime };
  };
  const latest = startedAt + maxShareLinkDays * dayMs;
  for (const expireTime of [startedAt, latest + 1])
    assertRefused(await request('share', { taskId, expireTime }), 422, 'invalid_request');
  assert.equal((await share({ expireTime: latest })).expiresAt, latest);
  const [week, soon] = [await share(), await share({ expireTime: startedAt + 1_800_000 })];
  assert.equal(week.expiresAt, startedAt + 7 * dayMs);
  for (const [{ path }, lifeMs] of [
    [week, 3_600_000],
    [soon, 1_800_000],
  ] as const) {
    lives.length = 0;
    assert.equal((await service.send('GET', path)).status, 200);
    assert.deepEqual(lives, [lifeMs, lifeMs]);
  }
});

test('200 the links of one video are listed, the newest first, until they are revoked; those of others are not found', async (t) => {
  const startedAt = Date.now();
  const service = await startHttpService({ now: () => startedAt });
  t.after(() => service.close());
  const [own, other] = [await service.newAccount(1_000), await service.newAccount(1_000)];
  const { taskId } = await storeVideo(service, own.accountId, 'one');
  const { taskId: second } = await storeVideo(service, own.accountId, 'two');
  const [{ data, request }, strange] = [clientOf(service, own.key), clientOf(service, other.key)];
  type Shared = { readonly link: { readonly linkId: string; readonly createTime: number }; readonly url: string };
  const share = async (more: object) => (await data('share', { taskId, ...more })) as Shared; // the documented shape
  const expireTime = startedAt + dayMs;
  const titled = await share({ title: ' Fog ', showsAccountName: true, expireTime });
  const plain = await share({ title: null, showsAccountName: null, expireTime: null });
  await share({ taskId: second });
  const shown = { linkId: titled.link.linkId, taskId, createTime: titled.link.createTime };
  assert.deepEqual(titled.link, { ...shown, title: 'Fog', showsAccountName: true, expireTime });
  const { linkId, createTime } = plain.link;
  const about = { linkId, taskId, createTime, title: null, showsAccountName: false };
  assert.deepEqual(plain.link, { ...about, expireTime: startedAt + 7 * dayMs });
  assert.ok(titled.url !== plain.url && /^http:\/\/media\.test\/s\/\S{43}$/.test(plain.url));
  const listed = async () => (await data(`shareLinks?taskId=${taskId}`))['links'];
  assert.deepEqual(await listed(), [plain.link, titled.link]);
  assert.deepEqual(await strange.data(`shareLinks?taskId=${taskId}`), { links: [] });
  assertRefused(await strange.request('share', { taskId }), 404, 'task_not_found');
  for (const client of [strange, { request }]) {
    const id = client === strange ? linkId : taskId;
    assertRefused(await client.request('revokeLink', { linkId: id }), 404, 'share_link_not_found');
  }
  assert.deepEqual(await data('revokeLink', { linkId }), {});
  assertRefused(await request('revokeLink', { linkId }), 404, 'share_link_not_found');
  assert.deepEqual(await listed(), [titled.link]);
  assert.equal((await service.send('GET', new URL(plain.url).pathname)).status, 404);
  assert.equal((await service.send('GET', new URL(titled.url).pathname)).status, 200);
});

test('409 a video has at most 20 links; another video of the account has its own', async (t) => {
  const service = await startHttpService();
  t.after(() => service.close());
  const { accountId, key } = await service.newAccount(1_000);
  const { taskId } = await storeVideo(service, accountId, 'one');
  const { taskId: second } = await storeVideo(service, accountId, 'two');
  const { data, request } = clientOf(service, key);
  for (let links = 0; links < 20; links += 1) await data('share', { taskId });
  const refused = await request('share', { taskId });
  assertRefused(refused, 409, 'too_many_share_links');
  assert.deepEqual(refused.json.data, { limit: 20 });
  await data('share', { taskId: second });
});

test('403 a key that may only read shares and revokes nothing, and one that may only create lists no links', async (t) => {
  const service = await startHttpService();
  t.after(() => service.close());
  const [reader, writer] = [await service.newAccount(0, ['tasks:read']), await service.newAccount(0, ['tasks:write'])];
  const { taskId } = await storeVideo(service, (await service.newAccount(1_000)).accountId, 'one');
  const readerClient = clientOf(service, reader.key);
  assertRefused(await readerClient.request('share', { taskId }), 403, 'scope_missing');
  assertRefused(await readerClient.request('revokeLink', { linkId: taskId }), 403, 'scope_missing');
  const links = await clientOf(service, writer.key).request(`shareLinks?taskId=${taskId}`);
  assertRefused(links, 403, 'scope_missing');
});
