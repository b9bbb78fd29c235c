import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { mediaDeletedError } from '../../../src/api/media/send-media.ts';
import type { Task } from '../../../src/catalogue/tasks/task.ts';
import { dayMs } from '../../../src/platform/timing/milliseconds-per-unit.ts';
import { createFolderStore } from '../../support/folder-store.ts';
import { startHttpService } from '../../support/service/http-service.ts';
import { storeVideo } from '../../library/gallery/gallery-stage.ts';
import { markMediaDeleted } from '../../../src/tasks/end/expired-media-rows.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { taskParam } from '../../support/tasks/tasks.ts';

const retentionMs = 14 * dayMs;
const completedAt = Date.UTC(2026, 0, 1);
const expiredAt = completedAt + retentionMs;
const task: Task = {
  taskId: 'task',
  accountId: 'account',
  param: taskParam('A lighthouse'),
  state: 'success',
  priceName: 'standard',
  creditsCharged: 1,
  creditsRefunded: 0,
  failure: undefined,
  result: undefined,
  mediaDeletedAt: expiredAt,
  createdAt: completedAt,
  updatedAt: completedAt,
  generationStartedAt: completedAt,
  completedAt,
};
const on = (ms: number) => `, on ${new Date(ms).toISOString()}`;

for (const [what, changes, reason] of [
  ['at the end of its retention', {}, ` after its retention of 14 days${on(expiredAt)}`],
  ['a millisecond before it', { mediaDeletedAt: expiredAt - 1 }, on(expiredAt - 1)],
  ['with its content', { mediaDeletedAt: 5, contentDeletedAt: 5 }, ` on request${on(5)}`],
  ['before its content', { mediaDeletedAt: 5, contentDeletedAt: 6 }, on(5)],
  ['without a time of its end', { completedAt: undefined }, on(expiredAt)],
] as const) {
  test(`410 a video that was deleted ${what} says why, as far as it is known`, () => {
    const { code, envelope } = mediaDeletedError({ ...task, ...changes }, retentionMs);
    assert.deepEqual([code, envelope.msg], ['media_deleted', `the video was deleted${reason}`]);
  });
}

for (const changes of [{ mediaDeletedAt: undefined }, { state: 'fail' }] as const) {
  test(`410 a task with ${JSON.stringify(changes)} gives no time of a deletion`, () => {
    assert.doesNotMatch(mediaDeletedError({ ...task, ...changes }, retentionMs).envelope.msg, /, on /);
  });
}

test('302 a redirect to a bucket is cached for ten minutes at most, and never longer than its link', async (t) => {
  const url = 'https://bucket.example/video';
  let now = Date.now();
  const store = createFolderStore(await temporaryFolder(t), { publicUrl: 'http://x', now: () => now });
  const resultStore = { ...store, sourceOf: () => Promise.resolve({ kind: 'redirect', url } as const) };
  const service = await startHttpService({ resultStore, now: () => now });
  t.after(() => service.close());
  const link = store.link('results/0193/video.mp4').slice('http://x'.length);
  const expiresAt = Number(/expires=(\d+)/.exec(link)?.[1]) * 1000;
  for (const [leftMs, seconds] of [
    [900_000, 600],
    [599_999, 599],
  ] as const) {
    now = expiresAt - leftMs;
    const { status, headers } = await service.send('GET', link);
    assert.deepEqual([status, headers.location, headers['cache-control']], [302, url, `private, max-age=${seconds}`]);
  }
});

test('a link to a missing file of a task says whether it was deleted; one to a file of no task does not', async (t) => {
  const service = await startHttpService();
  t.after(() => service.close());
  const { db } = service.database;
  const { resultStore } = service.deps;
  const { accountId } = await service.newAccount(1_000);
  const { taskId } = await storeVideo(service, accountId, 'A lighthouse');
  const answer = async (key: string) => {
    const { pathname, search } = new URL(resultStore.link(key));
    const { json } = await service.send('GET', pathname + search);
    return [json.code, json.error, json.msg];
  };
  const key = `results/${taskId}/video.mp4`;
  await resultStore.delete(key);
  assert.deepEqual((await answer(key)).slice(0, 2), [404, 'media_missing']);
  await markMediaDeleted(db, taskId);
  const deleted = await answer(key);
  assert.deepEqual(deleted.slice(0, 2), [410, 'media_deleted']);
  assert.match(String(deleted[2]), /^the video was deleted, on \d{4}-/);
  for (const other of ['results/00000000-0000-4000-8000-000000000000/video.mp4', 'results/0193/video.mp4'])
    assert.deepEqual(await answer(other), [410, 'media_deleted', 'the file was deleted']);
});

test('a link to a file in a bucket that is sent on has its part and size, and no claim about other ranges', async (t) => {
  const store = createFolderStore(await temporaryFolder(t), { publicUrl: 'http://x' });
  const sources: Awaited<ReturnType<typeof store.sourceOf>>[] = [
    { kind: 'stream', sizeBytes: 3, body: Readable.from([Buffer.from('234')]), contentRange: 'bytes 2-4/10' },
    { kind: 'outside', sizeBytes: 10 },
  ];
  const resultStore = { ...store, sourceOf: () => Promise.resolve(sources.shift()) };
  const service = await startHttpService({ resultStore });
  t.after(() => service.close());
  const link = store.link('results/0193/video.mp4').slice('http://x'.length);
  const part = await service.send('GET', link);
  assert.deepEqual([part.status, part.bytes.toString()], [206, '234']);
  assert.deepEqual(
    ['content-range', 'content-length', 'accept-ranges'].map((name) => part.headers[name]),
    ['bytes 2-4/10', '3', undefined],
  );
  const outside = await service.send('GET', link);
  assert.deepEqual([outside.status, outside.headers['content-range']], [416, 'bytes */10']);
});
