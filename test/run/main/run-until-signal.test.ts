import assert from 'node:assert/strict';
import { test } from 'node:test';
import { samePressMs, signalled } from '../../../src/run/main/run-until-signal.ts';

test('the first signal stops a process in order, and the second one, half a second later or more, at once', async (t) => {
  t.mock.timers.enable({ apis: ['Date'] });
  const exit = t.mock.method(process, 'exit', (() => undefined) as unknown as typeof process.exit); // returns, unlike it
  const names = ['SIGTERM', 'SIGINT'] as const;
  const before = names.map((name) => process.listeners(name));
  const stopped = signalled();
  // The test's own process has listeners of its own, which are not called.
  const [onTerminate, onInterrupt] = names.map((name, index) => {
    const [added, ...others] = process.listeners(name).filter((one) => before[index]?.includes(one) === false);
    assert.ok(added !== undefined && others.length === 0);
    t.after(() => process.off(name, added));
    return () => added(name);
  });
  onTerminate?.();
  assert.equal(await stopped, 'SIGTERM');
  for (const later of [0, samePressMs - 1]) {
    t.mock.timers.setTime(later);
    for (const press of [onTerminate, onInterrupt]) press?.();
    assert.equal(exit.mock.callCount(), 0, 'one press of Ctrl-C may arrive twice');
  }
  t.mock.timers.setTime(500);
  onInterrupt?.();
  assert.deepEqual(
    exit.mock.calls.map((call) => call.arguments),
    [[1]],
  );
});
