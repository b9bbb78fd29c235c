import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { delayAbort, startDeadline } from '../../activities/abort-timers.ts';

const mockTime = ({ mock }: TestContext) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  return (ms: number) => mock.timers.tick(ms);
};

test('a deadline passes after its time, at once without any, and never after it was stopped', (t) => {
  const tick = mockTime(t);
  for (const leftMs of [0, -1]) assert.equal(startDeadline(leftMs).signal.aborted, true);
  const [passes, stopped] = [startDeadline(5), startDeadline(5)];
  tick(4);
  assert.equal(passes.signal.aborted, false);
  stopped.stop();
  tick(1);
  assert.deepEqual([passes.signal.aborted, stopped.signal.aborted], [true, false]);
});

for (const isAborted of [false, true]) {
  test(`work in flight is aborted some time after a signal that ${isAborted ? 'has aborted' : 'aborts'}, for its reason`, (t) => {
    const tick = mockTime(t);
    const first = new AbortController();
    if (isAborted) first.abort('the deadline');
    const late = delayAbort(first.signal, 5, startDeadline);
    tick(9);
    assert.equal(late.signal.aborted, isAborted, 'the time begins with the abort');
    if (isAborted) return assert.equal(late.signal.reason, 'the deadline');
    first.abort('the deadline');
    tick(4);
    assert.equal(late.signal.aborted, false);
    tick(1);
    assert.deepEqual([late.signal.aborted, late.signal.reason], [true, 'the deadline']);
  });
}

test('work that has ended is not aborted, before the signal and after it', (t) => {
  const tick = mockTime(t);
  const started: number[] = [];
  const start = (leftMs: number) => {
    started.push(leftMs);
    return startDeadline(leftMs);
  };
  const [before, during] = [new AbortController(), new AbortController()];
  const [first, second] = [delayAbort(before.signal, 5, start), delayAbort(during.signal, 7, start)];
  first.stop();
  before.abort();
  assert.deepEqual(started, []);
  during.abort();
  assert.deepEqual(started, [7]);
  second.stop();
  tick(9);
  assert.deepEqual([first.signal.aborted, second.signal.aborted], [false, false]);
});
