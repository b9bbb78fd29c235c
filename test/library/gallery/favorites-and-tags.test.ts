import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  listFavoriteOrTaggedVideos,
  listTagNames,
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

test('a video has 20 tags at most and an account 200, and a change beyond them changes nothing', async () => {
  const { db } = service.database;
  const { accountId } = await service.newAccount(100_000);
  const taskIds: string[] = [];
  for (let videos = 0; videos < 11; videos += 1) taskIds.push((await storeVideo(service, accountId, 'a boat')).taskId);
  const tagsOf = (video: number) =>
    Array.from({ length: 20 }, (_, tag) => `tag ${String(20 * video + tag).padStart(3, '0')}`);
  const change = (video: number, addTags: readonly string[], removeTags: readonly string[] = []) =>
    setFavoritesAndTags(db, {
      accountId,
      taskIds: taskIds.slice(video, video + 1),
      isFavorite: undefined,
      addTags,
      removeTags,
    });
  for (let video = 0; video < 10; video += 1) assert.equal(await change(video, tagsOf(video)), true);
  const all = Array.from({ length: 10 }, (_, video) => tagsOf(video)).flat();
  const names = async () => (await listTagNames(db, accountId)).map(({ tag }) => tag);
  assert.deepEqual(await names(), all);
  const error = { name: 'TooManyTagsError' };
  await assert.rejects(change(0, ['tag 199']), { ...error, limit: 20 });
  await assert.rejects(change(10, ['a new one']), { ...error, limit: 200 });
  assert.deepEqual(await names(), all);
  assert.equal(await change(10, ['tag 199']), true);
  assert.equal(await change(0, ['a new one'], ['tag 000']), true);
  assert.deepEqual(await names(), ['a new one', ...all.slice(1)]);
});

test('a favorite and a tag are removed from the named videos alone, and videos of another account are refused', async () => {
  const { db } = service.database;
  const newAccount = async () => (await service.newAccount(100_000)).accountId;
  const [accountId, other] = [await newAccount(), await newAccount()];
  const [first, second] = [await storeVideo(service, accountId, 'a'), await storeVideo(service, accountId, 'b')];
  const theirs = await storeVideo(service, other, 'c');
  const change = (
    taskIds: readonly string[],
    isFavorite: boolean | undefined,
    addTags: readonly string[],
    removeTags: readonly string[],
  ) => setFavoritesAndTags(db, { accountId, taskIds, isFavorite, addTags, removeTags });
  const list = () => listFavoriteOrTaggedVideos(db, accountId, undefined, 10);
  const [a, b] = [first.taskId, second.taskId];
  assert.equal(await change([a, b], true, ['sea', 'boats'], []), true);
  assert.equal(await change([a], false, [], ['sea']), true);
  const labeled = [
    { taskId: a, isFavorite: false, tags: ['boats'] },
    { taskId: b, isFavorite: true, tags: ['boats', 'sea'] },
  ].toSorted((x, y) => (x.taskId < y.taskId ? -1 : 1));
  assert.deepEqual(await list(), labeled);
  assert.equal(await change([a, theirs.taskId], true, ['all'], []), false);
  assert.equal(await change([a], undefined, [], []), true);
  assert.deepEqual(await list(), labeled);
  assert.deepEqual(await listFavoriteOrTaggedVideos(db, other, undefined, 10), []);
});
