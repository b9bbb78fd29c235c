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
