import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CatalogueModel } from '../../../src/catalogue/file/catalogue-schema-and-types.ts';
import {
  type GenerationQueue,
  generationQueueOf,
  mayBeSold,
  unservedModels,
  type WorkerReport,
} from '../../../src/catalogue/models/models-served-by-workers.ts';

const report = (queue: GenerationQueue, ...models: readonly string[]): WorkerReport => ({
  workerId: models.join(),
  queue,
  models,
  refusal: undefined,
});
const local = { model: 'drawn', isRemote: false };
const remote = { model: 'bought', isRemote: true };

test('models of upstreams have a queue of their own', () => {
  assert.deepEqual([local, remote].map(generationQueueOf), ['generation', 'generation-remote']);
});

test('a model is served if no worker of its queue lives, or if any of them has it', () => {
  for (const [reports, ...served] of [
    [[], true, true],
    [[report('generation', 'drawn'), report('generation-remote', 'bought')], true, true],
    [[report('generation', 'bought')], false, true],
    [[report('generation-remote', 'drawn')], true, false],
    [[report('generation-remote'), report('generation-remote', 'other', 'bought')], true, true],
  ] as const) {
    assert.deepEqual([mayBeSold(local, reports), mayBeSold(remote, reports)], served, JSON.stringify(reports));
    const models = new Map([local, remote].map((one) => [one.model, one as CatalogueModel] as const));
    const unserved = [local, remote].filter((_one, index) => served[index] !== true).map(({ model }) => model);
    assert.deepEqual(unservedModels({ models }, reports), unserved);
  }
});
