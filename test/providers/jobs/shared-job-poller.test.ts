import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  after,
  allRun,
  forever,
  mostInASecond,
  running,
  says,
  secondsOf,
  stage,
  succeeded,
  unclear,
} from './poller-stage.ts';

describe('jobs share requests', () => {
  test('500 jobs are polled twice a second in ten requests, and their ends are noticed within a second', async (t) => {
    const { followMany, pass, asked, say, ends } = stage(t);
    followMany(500);
    await pass(3000);
    asked();
    await pass(10_000);
    const requests = asked();
    assert.ok(mostInASecond(requests) <= 11, `${mostInASecond(requests)} requests in a second`);
    assert.equal(secondsOf(requests, 'job-7').length, 20);
    say(async ({ ids }) => says(ids, () => succeeded));
    await pass(1000);
    assert.equal(ends.size, 500);
  });

  test('2,000 jobs keep the rate of requests, and each is polled every two seconds', async (t) => {
    const { followMany, pass, asked } = stage(t);
    followMany(2000);
    await pass(20_000);
    const requests = asked();
    assert.ok(mostInASecond(requests) <= 15, `${mostInASecond(requests)} requests in a second`);
    for (const id of ['job-0', 'job-999', 'job-1999']) assert.ok(secondsOf(requests, id).length >= 10, id);
  });

  test('jobs that were begun at many moments come to share requests', async (t) => {
    const { follow, pass, asked } = stage(t);
    for (let index = 0; index < 50; index += 1) {
      follow(`job-${index}`);
      await pass(10);
    }
    await pass(2000);
    asked();
    await pass(5000);
    assert.ok(asked().length <= 20);
  });

  test('without batches the rate holds, too, and no job is forgotten', async (t) => {
    const { followMany, pass, asked } = stage(t, { maxBatch: 1 });
    followMany(100);
    await pass(16_000);
    const requests = asked();
    assert.ok(mostInASecond(requests) <= 15);
    assert.equal(new Set(requests.flatMap(({ ids }) => ids)).size, 100);
    assert.ok(requests.every(({ ids }) => ids.length === 1));
  });

  test('without batches a job is polled less often the older it is, but every ten seconds at least', async (t) => {
    const { follow, pass, asked } = stage(t, { maxBatch: 1 });
    follow('young', { ageMs: 0 });
    follow('old', { ageMs: 100_000 });
    follow('ancient', { ageMs: 3_600_000 });
    await pass(21_000);
    const requests = asked();
    assert.deepEqual(secondsOf(requests, 'ancient'), [0.2, 10.2, 20.2]);
    assert.deepEqual(secondsOf(requests, 'old').length, 4);
    assert.ok(secondsOf(requests, 'young').length > 20);
  });

  test('no more than eight requests are under way, however slow the answers', async (t) => {
    const { followMany, pass, say, mostOpen } = stage(t, { maxBatch: 1, maxPollsPerSecond: 100 });
    say(({ ids }) =>
      after(
        600,
        says(ids, () => running),
      ),
    );
    followMany(100);
    await pass(5000);
    assert.equal(mostOpen(), 8);
  });
});

describe('a request without an answer', () => {
  test('times out after ten seconds, and other requests continue meanwhile', async (t) => {
    const { follow, followMany, pass, say, asked, ends } = stage(t, { maxBatch: 1 });
    const hung = follow('hung').jobKey;
    assert.ok(hung);
    followMany(5);
    say(async ({ ids }) => (ids.includes('hung') ? await forever : says(ids, () => running)));
    await pass(9000);
    const requests = asked();
    assert.equal(secondsOf(requests, 'hung').length, 1);
    assert.ok(secondsOf(requests, 'job-1').length > 10);
    say(async ({ ids }) => says(ids, () => succeeded));
    await pass(5000);
    assert.equal(ends.size, 6);
  });

  test('is repeated in halves, so that the job that causes it is soon alone and delays no other', async (t) => {
    const { followMany, pass, say, asked, ends, mostOpen } = stage(t);
    followMany(500);
    say(async ({ ids }) => (ids.includes('job-7') ? await forever : says(ids, () => running)));
    await pass(120_000);
    asked();
    await pass(20_000);
    const requests = asked();
    assert.ok(requests.filter(({ ids }) => ids.includes('job-7')).every(({ ids }) => ids.length === 1));
    assert.ok(secondsOf(requests, 'job-8').length >= 38);
    say(async ({ ids }) => says(ids, () => succeeded));
    await pass(120_000);
    assert.equal(ends.get('job-7')?.state, 'succeeded');
    assert.ok(mostOpen() <= 8);
  });
});

describe('an answer that is no verdict', () => {
  test('makes the pauses longer, up to a minute, and one good answer ends that', async (t) => {
    const { follow, pass, say, asked, warnings } = stage(t);
    follow('job', { ageMs: 1000 });
    say(async () => Promise.reject(new Error('reset')));
    await pass(190_000);
    const seconds = secondsOf(asked(), 'job').map(Math.round);
    assert.deepEqual(seconds, [0, 1, 3, 7, 15, 31, 63, 123, 183]);
    assert.equal(warnings[0], 'job polling paused: reset');
    say(allRun);
    await pass(60_000);
    asked();
    await pass(5000);
    assert.equal(asked().length, 10);
  });

  test('does not count once the upstream works again: all jobs end as soon as the first', async (t) => {
    const { followMany, pass, say, ends } = stage(t, { maxBatch: 1 });
    followMany(5);
    say(async ({ ids }) => says(ids, () => unclear));
    await pass(400_000);
    say(async ({ ids }) => says(ids, () => succeeded));
    await pass(70_000);
    const times = [...ends.values()].map(({ at }) => at);
    assert.equal(times.length, 5);
    assert.ok(Math.max(...times) - Math.min(...times) <= 1000, times.join());
  });

  test('of eight requests at the same time is one failure', async (t) => {
    const { followMany, pass, say, asked } = stage(t);
    followMany(800);
    say(({ ids }) =>
      after(
        600,
        says(ids, () => unclear),
      ),
    );
    await pass(2000);
    asked();
    await pass(1000);
    assert.ok(asked().length > 0, 'the pause is one second, not a minute');
  });

  test('may set the length of the pause', async (t) => {
    const { followMany, pass, say, asked } = stage(t);
    followMany(300);
    say(async ({ ids }) => says(ids, () => ({ ...unclear, retryAfterMs: 20_000 })));
    await pass(2000);
    asked();
    await pass(17_000);
    assert.equal(asked().length, 0);
    say(allRun);
    await pass(5000);
    assert.ok(asked().length > 0);
  });

  test('about one job delays that job alone', async (t) => {
    const { followMany, pass, say, asked, ends } = stage(t);
    followMany(100);
    say(async ({ ids }) => says(ids, (id) => (id === 'job-7' ? unclear : running)));
    await pass(70_000);
    const requests = asked();
    assert.ok(secondsOf(requests, 'job-8').length >= 135);
    assert.ok(secondsOf(requests, 'job-7').length <= 8);
    say(async ({ ids }) => says(ids, () => succeeded));
    await pass(60_000);
    assert.equal(ends.size, 100);
  });

  test('about a job every other time delays it little', async (t) => {
    const { followMany, pass, say, asked } = stage(t);
    followMany(2);
    let isTurn = false;
    say(async ({ ids }) => says(ids, (id) => (id === 'job-1' && (isTurn = !isTurn) ? unclear : running)));
    await pass(60_000);
    assert.ok(secondsOf(asked(), 'job-1').length >= 70);
  });

  test('is one that does not mention the job', async (t) => {
    const { followMany, pass, say, asked, ends } = stage(t);
    followMany(2);
    say(async () => ({ 'job-0': running }));
    await pass(30_000);
    assert.ok(secondsOf(asked(), 'job-1').length <= 6);
    assert.equal(ends.size, 0);
  });
});

test('the progress that an upstream reports is passed on, and each answer is counted as one or as unclear', async (t) => {
  const { follow, pass, say, progress, outcomes } = stage(t);
  follow('job');
  const story = [{ ...running, progress: 10 }, running, unclear, { state: 'queued' as const, progress: 0 }, succeeded];
  say(async ({ ids }) => says(ids, () => story.shift() ?? succeeded));
  await pass(10_000);
  assert.deepEqual(progress, [10, 0]);
  assert.deepEqual(outcomes, ['answered', 'answered', 'unclear', 'answered', 'answered']);
});
