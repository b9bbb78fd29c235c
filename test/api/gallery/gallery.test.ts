import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { maxTagsOfAccount } from '../../../src/library/gallery/favorites-and-tags.ts';
import { listVideos, maxVideosExamined } from '../../../src/library/gallery/videos.ts';
import { markMediaDeleted } from '../../../src/tasks/end/expired-media-rows.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';
import { assertRefused, clientOf, storeVideo } from '../../library/gallery/gallery-stage.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

async function newClient() {
  const { accountId, key } = await service.newAccount(1_000_000, ['tasks:write', 'tasks:read', 'content:delete']);
  const store = (prompt: string, how?: Parameters<typeof storeVideo>[3]) => storeVideo(service, accountId, prompt, how);
  return { accountId, key, store, ...clientOf(service, key) };
}

test('only videos that can be played are listed, newest first, in pages', async () => {
  const { accountId, store, list } = await newClient();
  const { db } = service.database;
  const videos = [await store('one'), await store('two'), await store('three')]
    .map(({ taskId }) => taskId)
    .toReversed();
  const { taskId: expired } = await store('expired');
  await markMediaDeleted(db, expired);
  await acceptTestTask(db, accountId, taskParam('unfinished'));
  const failed = await acceptTestTask(db, accountId, taskParam('failed'));
  await failAndRefund(db, failed, { failCode: 'internal', failMsg: 'It failed.' });
  const first = await list('limit=2');
  assert.deepEqual(first.taskIds, videos.slice(0, 2));
  assert.equal(first.nextCursor, videos[1]);
  const second = await list(`limit=2&cursor=${String(first.nextCursor)}`);
  assert.deepEqual([second.taskIds, second.nextCursor], [videos.slice(2), null]);
});

test('each filter finds its videos, also together with the others', async () => {
  const { store, data, list } = await newClient();
  const { taskId: fox } = await store('A red fox', { input: { ratio: '9:16' }, durationSeconds: 3.9996 });
  const { taskId: hen } = await store('A red hen', { model: 'other-model' });
  const { taskId: owl } = await store('An owl, at night');
  await data('label', { taskIds: [fox, hen], favorite: true, addTags: ['Animals '] });
  await data('label', { taskIds: [owl], addTags: ['animals', 'night'] });
  const found = async (query: string) => (await list(query)).taskIds;
  assert.deepEqual(await found('model=other-model'), [hen]);
  assert.deepEqual(await found('ratio=9:16'), [fox]);
  assert.deepEqual(await found('favorite=true'), [hen, fox]);
  assert.deepEqual(await found('tag=ANIMALS'), [owl, hen, fox]);
  assert.deepEqual(await found('search=red'), [hen, fox]);
  assert.deepEqual(await found('search=owl+nig'), [owl]);
  assert.deepEqual(await found('search=!'), []);
  assert.deepEqual(await found('tag=animals&favorite=true&search=red&ratio=16:9&model=other-model'), [hen]);
  assert.deepEqual(await found('tag=night&favorite=true'), []);
  for (const query of ['favorite=true', 'tag=animals', 'search=red', 'favorite=true&tag=animals']) {
    const whole = await found(query);
    const pages: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await list(`${query}&limit=1${cursor === undefined ? '' : `&cursor=${cursor}`}`);
      pages.push(...page.taskIds);
      cursor = page.nextCursor as string | null; // of the list
    } while (cursor !== null && pages.length <= whole.length);
    assert.deepEqual(pages, whole, query);
  }
  assert.deepEqual((await data('tags'))['tags'], ['animals', 'night']);
  const [first] = (await list('tag=night')).videos;
  assert.deepEqual([first?.favorite, first?.tags, first?.prompt], [false, ['animals', 'night'], 'An owl, at night']);
  const [shown] = (await data('videos?ratio=9:16'))['videos'] as Record<string, unknown>[];
  const { videoUrl, posterUrl, createTime, ...others } = shown ?? {};
  const { model } = taskParam('');
  assert.ok(Number.isInteger(createTime));
  assert.deepEqual(
    [videoUrl, posterUrl].map((url) => new URL(String(url)).pathname),
    [`/media/results/${fox}/video.mp4`, `/media/results/${fox}/poster.jpg`],
  );
  assert.deepEqual(others, {
    taskId: fox,
    model,
    prompt: 'A red fox',
    ratio: '9:16',
    width: 1280,
    height: 720,
    seconds: 4,
    hasAudio: true,
    favorite: true,
    tags: ['animals'],
  });
});

test('labels can be removed, and a repeated request changes nothing', async () => {
  const { store, data, list } = await newClient();
  const { taskId } = await store('a boat');
  for (let pass = 0; pass < 2; pass += 1)
    await data('label', { taskIds: [taskId], favorite: true, addTags: ['a', 'b'] });
  for (let pass = 0; pass < 2; pass += 1)
    await data('label', { taskIds: [taskId], favorite: false, removeTags: ['B'] });
  const labels = async () => {
    const [video] = (await list()).videos;
    return [video?.favorite, video?.tags];
  };
  assert.deepEqual(await labels(), [false, ['a']]);
  await data('label', { taskIds: [taskId], favorite: true });
  await data('label', { taskIds: [taskId], favorite: null, addTags: null, removeTags: ['a'] });
  assert.deepEqual(await labels(), [true, []], 'what is null stays');
});

test('a tag has at most 40 characters, also in lower case', async () => {
  const { store, request, data } = await newClient();
  const { taskId } = await store('a boat');
  // This letter becomes two.
  for (const addTags of [['\u0130'.repeat(21)], ['a'.repeat(41)]])
    assertRefused(await request('label', { taskIds: [taskId], addTags }), 422, 'invalid_request');
  const addTags = ['\u0130'.repeat(20), 'a'.repeat(40)];
  await data('label', { taskIds: [taskId], addTags });
  assert.equal(((await data('tags'))['tags'] as unknown[]).length, 2);
});

test('409 a video beyond 20 tags, and an account beyond 200, and then no video of the request is labeled', async () => {
  const { store, request, data, list } = await newClient();
  const ids: string[] = [];
  for (let count = 0; count < 12; count += 1) ids.push((await store('a boat')).taskId);
  const tags = (from: number, count: number) => Array.from({ length: count }, (_, index) => `tag ${from + index}`);
  const [full = '', other = ''] = ids;
  await data('label', { taskIds: [full], addTags: tags(0, 20) });
  const more = await request('label', { taskIds: [other, full], addTags: ['more'] });
  assertRefused(more, 409, 'too_many_tags');
  assert.deepEqual([more.json.data, more.json.msg], [{ limit: 20 }, 'a video has at most 20 tags; remove one first']);
  assert.deepEqual((await list('tag=more')).taskIds, []);
  for (let index = 1; index < 10; index += 1)
    await data('label', { taskIds: [ids[index]], addTags: tags(index * 20, 20) });
  assert.equal(((await data('tags'))['tags'] as unknown[]).length, maxTagsOfAccount);
  const beyond = await request('label', { taskIds: [ids[10], ids[11]], favorite: true, addTags: ['one more'] });
  assertRefused(beyond, 409, 'too_many_tags');
  assert.deepEqual(beyond.json.data, { limit: maxTagsOfAccount });
  assert.deepEqual((await list('favorite=true')).taskIds, []);
  await data('label', { taskIds: [ids[10]], addTags: tags(5, 1) });
});

test('404 a video of another account, a task without a video, or an id of another form, and nothing is labeled', async () => {
  const { accountId, store, request, list } = await newClient();
  const other = await newClient();
  const { taskId: foreign } = await other.store('foreign');
  const { taskId } = await store('own');
  const unfinished = await acceptTestTask(service.database.db, accountId, taskParam('unfinished'));
  for (const invalid of [foreign, unfinished, 'no-id']) {
    assertRefused(await request('label', { taskIds: [taskId, invalid], favorite: true }), 404, 'task_not_found');
  }
  assert.deepEqual((await list('favorite=true')).taskIds, []);
  assert.deepEqual((await other.list(`cursor=${taskId}`)).taskIds, [], 'a cursor of another account');
});

test('labels end with the content of the task, and cannot be given to it again', async () => {
  const { key, store, request, data, list } = await newClient();
  const { taskId } = await store('a boat');
  await data('label', { taskIds: [taskId], favorite: true, addTags: ['boats'] });
  const deleted = await service.send('POST', '/api/v1/jobs/deleteTask', {
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ taskId }),
  });
  assert.equal(deleted.status, 200);
  assert.deepEqual((await data('tags'))['tags'], []);
  assert.deepEqual((await list('favorite=true')).taskIds, []);
  assertRefused(await request('label', { taskIds: [taskId], favorite: true }), 404, 'task_not_found');
});

test('a sparse filter in a large account examines a bounded number of videos a page, and its cursors lead to every match', async () => {
  const { accountId, store } = await newClient();
  const { db } = service.database;
  const { taskId: oldest } = await store('the rare word zebra', { input: { ratio: '1:1' } });
  // Copies of one row, each a millisecond older, because a thousand creates would take long.
  const copies = `
insert into tasks (id, account_id, model, param, state, credits_charged, price_name, result, request_sha256, deadline_ms, created_at, completed_at)
select gen_random_uuid(), account_id, model, '{"input": {"prompt": "common words", "ratio": "16:9"}}', state, credits_charged, price_name,
  result, request_sha256, deadline_ms, created_at + n * interval '1 millisecond', now()
from tasks, generate_series(1, $2) n where id = $1`;
  await db.run({ name: 'test-copy-videos', text: copies }, [oldest, maxVideosExamined * 2]);
  const pages: (readonly string[])[] = [];
  let cursor: string | undefined;
  do {
    const page = await listVideos(db, { accountId, ratio: '1:1', after: cursor, limit: 10 });
    pages.push(page.videos.map(({ taskId }) => taskId));
    cursor = page.nextAfter;
  } while (cursor !== undefined);
  assert.deepEqual(pages, [[], [], [oldest]]);
  // The index of words leads to a rare word immediately.
  const rare = await listVideos(db, { accountId, words: 'zebra', limit: 10 });
  assert.deepEqual([rare.videos.map(({ taskId }) => taskId), rare.nextAfter], [[oldest], undefined]);
  const common = await listVideos(db, { accountId, words: 'common', limit: 10 });
  assert.equal(common.videos.length, 10);
});
