import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createProviderTestActivity, type ProviderTestDeps } from '../../activities/run-provider-test.ts';

type Models = ReturnType<ProviderTestDeps['models']>;
/** Only the providers of the tiers count. */
const models = new Map(
  [[['one'], ['two', 'three']], [['three', 'four']]].map((tiers, index) => [
    `model-${index}`,
    { tiers: tiers.map((tier) => tier.map((provider) => ({ provider, ofModel: index }))) },
  ]),
) as unknown as Models;

const tested: object[] = [];
const activity = createProviderTestActivity({
  models: () => models,
  testProvider: (entry) => {
    tested.push(entry);
    return Promise.resolve({ outcome: 'ok' });
  },
});
const run = (provider: string) => new MockActivityEnvironment().run(activity, { provider });

test('a provider is tested with the first model that uses it', async () => {
  for (const [provider, ofModel] of [
    ['one', 0],
    ['three', 0],
    ['four', 1],
  ] as const) {
    assert.deepEqual(await run(provider), { outcome: 'ok' });
    assert.deepEqual(tested.pop(), { provider, ofModel });
  }
});

test('a provider that no model uses is not tested, and the answer says why', async () => {
  assert.deepEqual(await run('five'), { outcome: 'not_tested', detail: 'no model of the catalogue uses it' });
  assert.deepEqual(tested, []);
});
