import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import {
  defaultModels,
  indexModelsByName,
  type Model,
} from '../../../src/catalogue/models/model-type-and-name-lookup.ts';
import { documentedTaskRequestSchema, inputJsonSchema } from '../../../src/tasks/accept/documented-task-request.ts';

const [standard] = defaultModels;
const modelNamed = (model: string, maxDuration?: number): Model => {
  const { input, ...rest } = standard ?? assert.fail();
  const shorter = { ...input, fields: { ...input.fields, duration: { min: 1, max: maxDuration ?? 15 } } };
  return { ...rest, model, aliases: [], input: shorter };
};

function documented(models: readonly Model[]) {
  return documentedTaskRequestSchema({ models: indexModelsByName(models) });
}

test('the documented request has one shape for all models with the same input, and the last model as its example', () => {
  const [a, b, short] = [modelNamed('a'), modelNamed('b'), modelNamed('short', 5)];
  const one = documented([a, b]);
  assert.ok(one instanceof z.ZodObject);
  assert.equal((one.meta() as { readonly example: { readonly model: string } }).example.model, 'b');
  const two = documented([a, short, b]);
  assert.equal(two instanceof z.ZodUnion ? two.options.length : undefined, 2);
  assert.deepEqual([one.meta()?.id, two.meta()?.id], ['TaskRequest', 'TaskRequest']);
  const takes = (request: object) => two.safeParse(request).success;
  const input = { prompt: 'A boat' };
  for (const model of ['a', 'b', 'short']) assert.equal(takes({ model, input }), true, model);
  assert.equal(takes({ model: 'another', input }), false);
  assert.equal(takes({ model: 'a', input: { ...input, duration: 15 } }), true);
  assert.equal(takes({ model: 'short', input: { ...input, duration: 15 } }), false);
  assert.equal(takes({ model: 'a', input: { ...input, unknown: 1 } }), false);
  assert.equal(takes({ model: 'a', input, unknown: 1 }), false);
  for (const callBackUrl of ['https://receiver.example/', null])
    assert.equal(takes({ model: 'a', input, callBackUrl }), true);
  assert.equal(takes({ model: 'a', input, callBackUrl: 'no address' }), false);
  assert.throws(() => documented([]), /at least one model/);
});

test('the JSON Schema of an input is made once, and has the defaults that a request without the field gets', () => {
  const { input } = modelNamed('a');
  const schema = inputJsonSchema(input);
  assert.equal(inputJsonSchema(input), schema);
  const { properties } = schema as { properties: Readonly<Record<string, Readonly<Record<string, unknown>>>> };
  const defaults = Object.entries(properties).flatMap(([name, field]) =>
    'default' in field ? [[name, field['default']]] : [],
  );
  assert.deepEqual(Object.fromEntries(defaults), {
    duration: 5,
    resolution: '720p',
    ratio: '16:9',
    generateAudio: true,
  });
});
