import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveCatalogue } from '../../../src/catalogue/file/resolve-catalogue.ts';
import { standardModelInput } from '../../../src/catalogue/input/task-input.ts';
import { inputJsonSchema } from '../../../src/tasks/accept/documented-task-request.ts';

const four = {
  resolution: { values: ['720p', '1080p'] },
  duration: { min: 4, max: 15 },
  ratio: { values: ['16:9'] },
  generateAudio: {},
};

function resolve(input: unknown) {
  const model = { model: 'm', title: 'M', prices: [{ creditsPerSecond: 1 }], ...(input !== undefined && { input }) };
  return resolveCatalogue({ models: [model] });
}

test('a model without input has the six fields of the specification', () => {
  assert.deepEqual(resolve(undefined).catalogue?.models.get('m')?.input, standardModelInput);
  assert.deepEqual(Object.keys(standardModelInput.fields), [
    'prompt',
    'resolution',
    'duration',
    'ratio',
    'generateAudio',
    'imageUrls',
  ]);
});

test('a model that names no images takes none, and one that names no prompt takes the longest', () => {
  const { catalogue, problems } = resolve({ ...four, resolution: { values: ['720p'] } });
  assert.deepEqual(problems, []);
  const fields = catalogue?.models.get('m')?.input.fields;
  assert.deepEqual(fields?.imageUrls, { min: 0, max: 0 });
  assert.deepEqual(fields?.prompt, { maxCharacters: 5000 });
});

test('a model whose prompt is optional documents it so, and its requests have an image or a prompt', () => {
  const { catalogue, problems } = resolve({ ...four, prompt: { required: false }, imageUrls: { max: 1 } });
  assert.deepEqual(problems, []);
  const input = catalogue?.models.get('m')?.input ?? assert.fail();
  const { properties, required = [] } = inputJsonSchema(input) as {
    readonly properties: Readonly<Record<string, object>>;
    readonly required?: readonly string[];
  };
  assert.deepEqual(required, []);
  assert.deepEqual(properties['prompt'], {
    type: 'string',
    description: 'May be left out with an image.',
    maxLength: 5000,
  });
});
