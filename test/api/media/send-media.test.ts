import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mediaDeletedError } from '../../../src/api/media/send-media.ts';
import type { Task } from '../../../src/catalogue/tasks/task.ts';
import { dayMs } from '../../../src/platform/timing/duration.ts';
import { createFolderStore } from '../../support/folder-store.ts';
import { startHttpService } from '../../support/service/http-service.ts';
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
