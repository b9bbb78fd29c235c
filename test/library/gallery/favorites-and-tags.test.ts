import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  listFavoriteOrTaggedVideos,
  normalizedTag,
  setFavoritesAndTags,
} from '../../../src/library/gallery/favorites-and-tags.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { storeVideo } from './gallery-stage.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

test('the labeled videos of an account are listed for its export, each once, by id and page by page', async () => {
  const { db } = service.database;
  const newAccount = async () => (await service.newAccount(100_000)).accountId;
  const [accountId, other] = [await newAccount(), await newAccount()];
  const label = async (of: string, isFavorite: boolean, addTags: readonly string[]) => {
    const { taskId } = await storeVideo(service, of, 'a boat');
    assert.ok(await setFavoritesAndTags(db, { accountId: of, taskIds: [taskId], isFavorite, addTags, removeTags: [] }));
    return { taskId, isFavorite, tags: addTags };
  };
  const made = [
    await label(accountId, true, ['boats', 'sea']),
    await label(accountId, false, ['sea']),
    await label(accountId, true, []),
  ];
  await label(accountId, false, []);
  await label(other, true, ['sea']);
  const labeled = made.toSorted((a, b) => (a.taskId < b.taskId ? -1 : 1));
  const list = (cursor: string | undefined, limit: number) => listFavoriteOrTaggedVideos(db, accountId, cursor, limit);
  assert.deepEqual(await list(undefined, 10), labeled);
  assert.deepEqual(
    [await list(undefined, 2), await list(labeled[1]?.taskId, 2)],
    [labeled.slice(0, 2), labeled.slice(2)],
  );
});

test('a video that is named twice is labeled once', async () => {
  const { db } = service.database;
  const { accountId } = await service.newAccount(100_000);
  const { taskId } = await storeVideo(service, accountId, 'a boat');
  const label = { accountId, taskIds: [taskId, taskId], isFavorite: true, addTags: ['boats'], removeTags: [] };
  assert.equal(await setFavoritesAndTags(db, label), true);
  const labeled = await listFavoriteOrTaggedVideos(db, accountId, undefined, 10);
  assert.deepEqual(labeled, [{ taskId, isFavorite: true, tags: ['boats'] }]);
});

test('tags that differ in case, spaces or composition are the same', () => {
  for (const text of ['red caf\u00e9', ' Red \t  CAF\u00c9\n', 'red cafe\u0301'])
    assert.equal(normalizedTag(text), 'red caf\u00e9');
});
