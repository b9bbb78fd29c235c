import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestProvider } from '../../activities/test-provider.ts';
import { modelsAt } from '../support/tasks/fake-providers.ts';
import { silentActivity } from '../support/workflows/silent-activity.ts';

test('a provider is tested by an entry of its own, and one that no model uses is not', async () => {
  const tested: string[] = [];
  const run = (provider: string) => {
    const testProvider = createTestProvider({
      models: () => modelsAt(['first', 'second']),
      testProvider: async (entry, signal) => {
        assert.equal(signal.aborted, false);
        tested.push(entry.provider);
        return { outcome: 'ok' };
      },
    });
    return silentActivity({ workflowId: 'test-provider' }, () => testProvider({ provider }));
  };
  assert.deepEqual([await run('second'), await run('first')], [{ outcome: 'ok' }, { outcome: 'ok' }]);
  assert.equal((await run('third')).outcome, 'not_tested');
  assert.deepEqual(tested, ['second', 'first']);
});
