import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAccount } from '../../../src/credits/open-account.ts';
import {
  findAccountVideosByIds,
  findAnyVideosByIds,
  type GalleryVideo,
  listVideos,
  maxVideosExamined,
  type VideoFilter,
} from '../../../src/library/gallery/videos.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { ago, failedAgo, insertRow, insertTask, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
let accountId: string;
let other: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'one', credits: 0 });
  other = await createAccount(database.db, { name: 'other', credits: 0 });
});
after(() => database.close());

const uuid = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
const param = (prompt: string, ratio = '16:9') => JSON.stringify({ model: 'm', input: { prompt, ratio } });
const video = { state: 'success', result: '{"videoKey":"video"}', completed_at: ago(0), param: param('a boat') };

test('videos are found by their ids, of one account or of any, the newest first, and only those that can be played', () =>
  rolledBack(database.db, async (db) => {
    const add = (id: number, of: string, row: Readonly<Record<string, unknown>>) =>
      insertTask(db, of, { id: uuid(id), ...video, ...row });
    await add(1, accountId, { created_at: ago(1_000) });
    await add(2, accountId, { created_at: ago(3_000) });
    await add(3, accountId, { created_at: ago(2_000) });
    await add(4, accountId, { created_at: ago(2_000) });
    await add(5, other, { created_at: ago(2_500) });
    await add(6, accountId, { created_at: ago(0) });
    await add(7, accountId, { media_deleted_at: ago(0) });
    await insertTask(db, accountId, { id: uuid(8), ...failedAgo(0) });
    await insertTask(db, accountId, { id: uuid(9) });
    const asked = [1, 2, 3, 4, 5, 7, 8, 9, 10].map(uuid);
    const tasks = (ids: readonly number[]) => Promise.all(ids.map((id) => findTask(db, uuid(id))));
    assert.deepEqual(await findAccountVideosByIds(db, accountId, asked), await tasks([1, 4, 3, 2]));
    assert.deepEqual(await findAccountVideosByIds(db, other, asked), await tasks([5]));
    assert.deepEqual(await findAnyVideosByIds(db, asked), await tasks([1, 4, 3, 5, 2]));
    assert.deepEqual(await findAnyVideosByIds(db, []), []);
  }));

test('the gallery lists the videos of an account by each filter, with their labels, page by page', () =>
  rolledBack(database.db, async (db) => {
    // Of the videos 2 and 3 neither is older.
    const add = async (
      id: number,
      of: string,
      ageMs: number,
      labels: { readonly favorite?: boolean; readonly tags?: readonly string[] },
      row: Readonly<Record<string, unknown>> = {},
    ) => {
      await insertTask(db, of, { id: uuid(id), ...video, created_at: ago(ageMs), ...row });
      const label = { task_id: uuid(id), account_id: of, task_created_at: ago(ageMs) };
      if (labels.favorite === true) await insertRow(db, 'task_favorites', label);
      for (const tag of labels.tags ?? []) await insertRow(db, 'task_tags', { ...label, tag });
    };
    await add(1, accountId, 4_000, { favorite: true, tags: ['sea', 'boats'] }, { model: 'n' });
    await add(2, accountId, 3_000, { tags: ['sea'] }, { param: param('a red boat', '9:16') });
    await add(3, accountId, 3_000, { favorite: true });
    await add(4, accountId, 2_000, {}, { param: param('a red car') });
    await add(5, other, 1_000, { favorite: true, tags: ['sea'] }, { param: param('a red boat') });
    await add(6, accountId, 1_000, { favorite: true, tags: ['sea'] }, { media_deleted_at: ago(0) });
    const row = async (id: number, isFavorite = false, tags: readonly string[] = []): Promise<GalleryVideo> => ({
      ...((await findTask(db, uuid(id))) ?? assert.fail()),
      isFavorite,
      tags,
    });
    const [one, two, three, four] = [
      await row(1, true, ['boats', 'sea']),
      await row(2, false, ['sea']),
      await row(3, true),
      await row(4),
    ];
    const list = (filter: Partial<VideoFilter> = {}) => listVideos(db, { accountId, limit: 10, ...filter });
    const whole = (...videos: readonly GalleryVideo[]) => ({ videos, nextAfter: undefined });
    assert.deepEqual(await list(), whole(four, three, two, one));
    assert.deepEqual(await list({ model: 'n' }), whole(one));
    assert.deepEqual(await list({ ratio: '9:16' }), whole(two));
    assert.deepEqual(await list({ isFavorite: true }), whole(three, one));
    assert.deepEqual(await list({ isFavorite: false }), whole(four, three, two, one));
    assert.deepEqual(await list({ tag: 'sea' }), whole(two, one));
    assert.deepEqual(await list({ tag: 'sea', isFavorite: true }), whole(one));
    assert.deepEqual(await list({ words: 'red' }), whole(four, two));
    assert.deepEqual(await list({ words: 'red & boat:*', tag: 'sea' }), whole(two));
    assert.deepEqual(await list({ words: 'green' }), whole());
    for (const [filter, all] of [
      [{}, [four, three, two, one]],
      [{ ratio: '16:9' }, [four, three, one]],
      [{ isFavorite: true }, [three, one]],
      [{ tag: 'sea' }, [two, one]],
      [{ words: 'red' }, [four, two]],
    ] as const)
      for (const [index, next] of all.entries()) {
        const page = await list({ ...filter, after: all[index - 1]?.taskId, limit: 1 });
        const isLast = index === all.length - 1;
        assert.deepEqual(page, { videos: [next], nextAfter: isLast ? undefined : next.taskId });
      }
    for (const filter of [{}, { isFavorite: true }, { tag: 'sea' }, { words: 'red' }] as const)
      assert.deepEqual(await list({ ...filter, after: uuid(5) }), whole(), JSON.stringify(filter));
  }));

test('a video behind a thousand others is found by its label or its words at once, and by its ratio on a later page', () =>
  rolledBack(database.db, async (db) => {
    const old = { ...video, created_at: ago(5_000), param: param('a rare boat', '9:16') };
    const taskId = await insertTask(db, accountId, old);
    const label = { task_id: taskId, account_id: accountId, task_created_at: ago(5_000) };
    await insertRow(db, 'task_favorites', label);
    await insertRow(db, 'task_tags', { ...label, tag: 'sea' });
    const text = `
insert into tasks (id, account_id, model, price_name, param, credits_charged, deadline_ms, request_sha256, state, result, completed_at, created_at)
select ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, $1, 'm', 'standard', $2, 1, 1, sha256('a'), 'success', '{}', now(),
  now() - n * interval '1 millisecond' from generate_series(1, $3) n`;
    await db.run({ name: 'test-add-videos', text }, [accountId, param('a car'), maxVideosExamined]);
    const list = async (filter: Partial<VideoFilter>) => {
      const { videos, nextAfter } = await listVideos(db, { accountId, limit: 2, ...filter });
      return { ids: videos.map((one) => one.taskId), nextAfter };
    };
    const whole = { ids: [taskId], nextAfter: undefined };
    for (const filter of [{ tag: 'sea' }, { isFavorite: true }, { words: 'rare' }])
      assert.deepEqual(await list(filter), whole, JSON.stringify(filter));
    const nextAfter = uuid(maxVideosExamined);
    assert.deepEqual(await list({ ratio: '9:16' }), { ids: [], nextAfter });
    assert.deepEqual(await list({ ratio: '9:16', after: nextAfter }), whole);
  }));
