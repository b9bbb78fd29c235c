import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSwitches } from '../../activities/switches.ts';

type State = 'enabled' | 'draining' | 'off';

function started(states: Record<string, State>) {
  const errors: unknown[] = [];
  let looks = 0;
  let fault: Error | undefined;
  const switches = createSwitches({
    list: async () => {
      looks += 1;
      if (fault !== undefined) throw fault;
      return Object.entries(states).map(([provider, state]) => ({ provider, state }));
    },
    onError: (error) => void errors.push(error),
  });
  return { switches, errors, looks: () => looks, fail: (error?: Error) => (fault = error) };
}

test('only a provider that is off is; those who ask at the same time share a look', async () => {
  const { switches, looks } = started({ a: 'off', b: 'draining', c: 'enabled' });
  const asked = await Promise.all(['a', 'b', 'c', 'd'].map((provider) => switches.isOff(provider)));
  assert.deepEqual([asked, looks()], [[true, false, false, false], 1]);
});

test('who watches a provider hears within seconds that it was switched off, also when a look has failed', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const states: Record<string, State> = { a: 'enabled' };
  const { switches, errors, fail, looks } = started(states);
  const [a, b] = [switches.watch('a'), switches.watch('b')];
  const look = async () => {
    t.mock.timers.tick(3_000);
    await new Promise((resolve) => setImmediate(resolve));
  };
  await look();
  states['a'] = 'off';
  fail(new Error('no database'));
  await look();
  assert.deepEqual([errors.length, a.signal.aborted], [1, false]);
  fail();
  await look();
  assert.deepEqual([a.signal.aborted, b.signal.aborted], [true, false]);
  for (const watch of [a, b]) watch.stop();
  const before = looks();
  await look();
  assert.equal(looks(), before, 'nobody watches any more');
});
