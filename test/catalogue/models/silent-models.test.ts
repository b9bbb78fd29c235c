import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  inputErrorsOfModel,
  untriedTiersForTask,
} from '../../../src/catalogue/models/input-refusals-and-untried-tiers.ts';
import { withDefaults } from '../../../src/catalogue/input/task-input.ts';
import { faultsOf, readCatalogue } from '../file/read-catalogue.ts';

const providers = {
  silent: { kind: 'own', baseUrl: 'http://127.0.0.1:9000' },
  loud: { kind: 'own', baseUrl: 'http://127.0.0.1:9001' },
};
const never = { provider: 'silent', rules: { audio: 'never' } };
const loud = { provider: 'loud' };
const standard = { resolution: { values: ['720p'] }, duration: { values: [5] }, ratio: { values: ['16:9'] } };
const catalogue = (model: object) => ({
  providers,
  models: [{ model: 'sold', title: 'Sold', prices: [{ creditsPerSecond: 1 }], ...model }],
});
const soldAs = (model: object) => readCatalogue(catalogue(model)).models.get('sold') ?? assert.fail();

test('a model without input whose providers make silent videos is sold without sound', () => {
  assert.deepEqual(soldAs({ tiers: [[never]] }).input.fields.generateAudio, { fixed: false });
  assert.deepEqual(soldAs({ tiers: [[loud]], rules: { audio: 'never' } }).input.fields.generateAudio, { fixed: false });
  assert.deepEqual(soldAs({ tiers: [[never, loud]] }).input.fields.generateAudio, { default: true });
});

for (const generateAudio of [{}, { default: true }, { default: false }, { fixed: true }])
  test(`a model with generateAudio ${JSON.stringify(generateAudio)} and silent videos alone is invalid`, () => {
    assert.deepEqual(faultsOf(catalogue({ input: { ...standard, generateAudio }, tiers: [[never]] })), [
      'models[0].input.generateAudio: generateAudio is passed on by no provider of this model (own), because their videos are silent ' +
        '(audio: never); set it to { fixed: false }',
    ]);
  });

test('a provider of silent videos gets tasks without sound only', () => {
  for (const input of [undefined, { ...standard, generateAudio: { default: true } }]) {
    const model = soldAs({ ...(input && { input }), tiers: [[never, loud]] });
    const providersFor = (generateAudio: boolean) => {
      const task = { taskId: 'task', used: new Set<string>(), input: withDefaults({ prompt: 'a fox', generateAudio }) };
      assert.deepEqual(inputErrorsOfModel(model, task.input), []);
      return untriedTiersForTask(model, task).flatMap((tier) => tier.map(({ provider }) => provider).toSorted());
    };
    assert.deepEqual(providersFor(true), ['loud']);
    assert.deepEqual(providersFor(false), ['loud', 'silent']);
  }
});
