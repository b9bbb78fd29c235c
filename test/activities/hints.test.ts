import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHints } from '../../activities/hints.ts';
import type { HintedCall } from '../../src/domain/hook-link.ts';

test('who watches a job hears what was announced about it, also after a look has failed, until it stops', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const asked: (readonly string[])[] = [];
  const errors: unknown[] = [];
  let take: () => Promise<readonly HintedCall[]> = async () => [];
  const hints = createHints({
    take: async (taskIds) => {
      asked.push(taskIds);
      return await take();
    },
    onError: (error) => void errors.push(error),
  });
  const look = async () => {
    t.mock.timers.tick(500);
    await new Promise((resolve) => setImmediate(resolve));
  };
  const heard: string[] = [];
  const watch = (taskId: string, ordinal: number) =>
    hints.watch({ taskId, ordinal }, () => heard.push(`${taskId} ${ordinal}`));
  const watches = [watch('a', 1), watch('a', 2), watch('b', 1)];
  await look();
  assert.deepEqual([asked, heard], [[['a', 'b']], []]);
  take = async () => {
    throw new Error('no database');
  };
  await look();
  assert.deepEqual([errors.length, heard], [1, []]);
  take = async () => [
    { taskId: 'a', ordinal: 2 },
    { taskId: 'b', ordinal: 7 },
  ];
  await look();
  assert.deepEqual(heard, ['a 2']);
  for (const { stop } of watches) stop();
  const before = asked.length;
  await look();
  assert.equal(asked.length, before, 'nobody watches any more');
});
