import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { after, mostInASecond, running, says, stage, succeeded } from './poller-stage.ts';

describe('a hint', () => {
  test('asks earlier, and about that job', async (t) => {
    const { follow, pass, say, asked, ends, poller } = stage(t, { maxBatch: 1 });
    const { jobKey } = follow('old', { ageMs: 3_600_000 });
    await pass(1000);
    asked();
    say(async ({ ids }) => says(ids, () => succeeded));
    poller.hint('another');
    await pass(1000);
    assert.equal(asked().length, 0);
    poller.hint(jobKey);
    await pass(100);
    assert.equal(ends.get('old')?.state, 'succeeded');
  });

  test('that comes while an older question is under way asks once more', async (t) => {
    const { follow, pass, say, ends, poller } = stage(t, { maxBatch: 1 });
    const { jobKey } = follow('old', { ageMs: 3_600_000 });
    say(() => after(500, { old: running }));
    await pass(200);
    poller.hint(jobKey);
    say(async () => ({ old: succeeded }));
    await pass(500);
    assert.equal(ends.get('old')?.state, 'succeeded');
  });

  test('goes ahead also where the rate lets others wait', async (t) => {
    const { followMany, pass, say, ends, poller } = stage(t, { maxBatch: 1 });
    const jobs = followMany(300);
    await pass(60_000);
    say(async ({ ids }) => says(ids, (id) => (id === 'job-123' ? succeeded : running)));
    poller.hint(jobs[123]?.jobKey ?? '');
    await pass(1000);
    assert.equal(ends.size, 1);
  });

  test('goes ahead of thousands also about a job that was asked about a moment ago', async (t) => {
    const { followMany, pass, say, asked, ends, poller } = stage(t);
    const jobs = followMany(2000);
    await pass(10_000);
    const { ids: [recent = ''] = [] } = asked().at(-4) ?? {};
    say(async ({ ids }) => says(ids, (id) => (id === recent ? succeeded : running)));
    poller.hint(jobs.find(({ id }) => id === recent)?.jobKey ?? '');
    await pass(200);
    assert.deepEqual([...ends.keys()], [recent]);
  });

  test('in a flood of hints about one job leaves the others their turns', async (t) => {
    const { followMany, pass, asked, poller } = stage(t, { maxBatch: 1 });
    const [first] = followMany(100);
    for (let step = 0; step < 1000; step += 1) {
      poller.hint(first?.jobKey ?? '');
      await pass(10);
    }
    assert.equal(new Set(asked().flatMap(({ ids }) => ids)).size, 100);
  });

  test('in a flood keeps the rate', async (t) => {
    const { follow, pass, asked, poller } = stage(t, { maxBatch: 1 });
    const { jobKey } = follow('job');
    for (let step = 0; step < 300; step += 1) {
      poller.hint(jobKey);
      await pass(10);
    }
    assert.ok(mostInASecond(asked()) <= 15);
  });
});
