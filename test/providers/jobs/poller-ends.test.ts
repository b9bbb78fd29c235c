import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, test } from 'node:test';
import { missing, running, says, secondsOf, stage, succeeded, unclear } from './poller-stage.ts';

describe('a job that is missing', () => {
  test('soon after its acceptance is not visible yet', async (t) => {
    const { follow, pass, say, ends } = stage(t, { forgetsJobs: true });
    follow('job', { ageMs: 0 });
    say(async ({ ids }) => says(ids, () => missing));
    await pass(59_000);
    assert.equal(ends.size, 0);
  });

  test('is gone after two answers over five seconds where jobs are in memory only', async (t) => {
    const { follow, pass, say, ends } = stage(t, { forgetsJobs: true });
    follow('job', { ageMs: 61_000 });
    say(async ({ ids }) => says(ids, () => missing));
    await pass(4900);
    assert.equal(ends.size, 0);
    await pass(500);
    assert.equal(ends.get('job')?.state, 'lost');
  });

  test('is gone after three answers over a minute anywhere else', async (t) => {
    const { follow, pass, say, ends } = stage(t);
    follow('job', { ageMs: 61_000 });
    say(async ({ ids }) => says(ids, () => missing));
    await pass(59_000);
    assert.equal(ends.size, 0);
    await pass(2000);
    assert.equal(ends.get('job')?.state, 'lost');
  });

  // The first answer comes after 10 ms here; it counts from a minute after the acceptance on.
  for (const [forgetsJobs, ageMs, lostAt] of [
    [true, 59_990, 5_010],
    [true, 59_989, 5_510],
    [false, 59_990, 60_010],
  ] as const)
    test(`is gone after ${lostAt} ms if it was accepted ${ageMs} ms ago: ${forgetsJobs ? 'in memory' : 'stored'}`, async (t) => {
      const { follow, pass, say, ends } = stage(t, { forgetsJobs });
      follow('job', { ageMs });
      say(async ({ ids }) => says(ids, () => missing));
      await pass(lostAt + 1_000);
      assert.deepEqual(ends.get('job'), { at: lostAt, state: 'lost' });
    });

  test('is not gone by two answers, however long the time between them', async (t) => {
    const { follow, pass, say, ends } = stage(t);
    follow('job', { ageMs: 61_000 });
    const story = [missing, { ...unclear, retryAfterMs: 120_000 }, missing];
    say(async ({ ids }) => says(ids, () => story.shift() ?? missing));
    await pass(155_000);
    assert.deepEqual([ends.size, story.length], [0, 0]);
    await pass(30_000);
    assert.equal(ends.get('job')?.state, 'lost');
  });

  test('is not gone when it was found in between, and answers without a verdict do not count', async (t) => {
    const { follow, pass, say, ends } = stage(t);
    follow('job', { ageMs: 61_000 });
    const story = [missing, missing, running, missing, unclear, missing, unclear];
    say(async ({ ids }) => says(ids, () => story.shift() ?? running));
    await pass(300_000);
    assert.deepEqual([ends.size, story.length], [0, 0]);
  });
});

describe('the signal of an attempt', () => {
  test('ends its following and nothing else', async (t) => {
    const { follow, pass, asked, ends } = stage(t);
    const stop = new AbortController();
    follow('stopped', { signal: stop.signal });
    follow('other');
    await pass(1000);
    stop.abort(new Error('the deadline'));
    await pass(100);
    asked();
    await pass(5000);
    assert.deepEqual([...ends.keys(), ends.get('stopped')?.state], ['stopped', 'Error: the deadline']);
    const requests = asked();
    assert.equal(secondsOf(requests, 'stopped').length, 0);
    assert.equal(secondsOf(requests, 'other').length, 10);
  });

  test('is left alone once the job has ended, for it may outlive many jobs', async (t) => {
    const { follow, pass, say, ends } = stage(t);
    const { signal } = new AbortController();
    follow('job', { signal });
    assert.equal(getEventListeners(signal, 'abort').length, 1);
    say(async ({ ids }) => says(ids, () => succeeded));
    await pass(1000);
    assert.equal(ends.get('job')?.state, 'succeeded');
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });

  test('that was aborted before sends no request', async (t) => {
    const { follow, pass, asked, ends } = stage(t);
    follow('job', { signal: AbortSignal.abort(new Error('over')) });
    await pass(1000);
    assert.deepEqual([asked().length, ends.get('job')?.state], [0, 'Error: over']);
  });
});
