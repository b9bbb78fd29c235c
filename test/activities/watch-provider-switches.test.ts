import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchProviderSwitches } from '../../activities/watch-provider-switches.ts';

type State = 'enabled' | 'draining' | 'off';

function started(states: Record<string, State>) {
  const errors: unknown[] = [];
  const database: { error?: Error | undefined } = {};
  const switches = watchProviderSwitches({
    list: async () => {
      if (database.error !== undefined) throw database.error;
      return Object.entries(states).map(([provider, state]) => ({ provider, state }));
    },
    onError: (error) => void errors.push(error),
  });
  return { switches, errors, database };
}

test('an unknown provider is enabled, a draining one takes no task, and only `off` forbids every request', async () => {
  const { switches } = started({ a: 'off', b: 'draining', c: 'enabled' });
  const providers = ['a', 'b', 'c', 'd'];
  const isOff = await Promise.all(providers.map((provider) => switches.isOff(provider)));
  const isDisabled = await Promise.all(providers.map((provider) => switches.isDisabled(provider)));
  assert.deepEqual(
    [isOff, isDisabled],
    [
      [true, false, false, false],
      [true, true, false, false],
    ],
  );
});

test('the signal of a watched provider aborts within seconds after it is switched off, also after a failed read', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const states: Record<string, State> = { a: 'enabled' };
  const { switches, errors, database } = started(states);
  const [a, b, again, stopped] = [switches.watch('a'), switches.watch('b'), switches.watch('a'), switches.watch('a')];
  stopped.stop();
  const poll = async () => {
    t.mock.timers.tick(3_000);
    await new Promise((resolve) => setImmediate(resolve));
  };
  await poll();
  states['a'] = 'off';
  database.error = new Error('no database');
  await poll();
  assert.deepEqual([errors.length, a.signal.aborted], [1, false]);
  database.error = undefined;
  await poll();
  assert.deepEqual(
    [a, b, again, stopped].map(({ signal }) => signal.aborted),
    [true, false, true, false],
  );
});
