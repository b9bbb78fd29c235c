import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modelInput } from '../../src/models/catalogue/model-input.ts';
import { defaultModels, modelCatalogue, type Model } from '../../src/models/model.ts';
import { requestSchema } from '../../src/tasks/request-schema.ts';

type Schema = {
  readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly required: unknown;
};

/** A declared input has at least these. */
const basis = { resolution: { values: ['720p'] }, ratio: { values: ['16:9'] }, generateAudio: {} };

function modelsOf(inputs: Readonly<Record<string, object>>) {
  const [template] = defaultModels;
  assert.ok(template);
  const models = Object.entries(inputs).map(([model, input]): Model => ({
    ...template,
    model,
    input: modelInput.parse({ ...basis, ...input }),
  }));
  return modelCatalogue(models);
}

test('the schema of a request for all models is one object', () => {
  const { properties, required } = requestSchema(
    modelsOf({
      a: { duration: { values: [4, 8] }, firstFrameUrl: { required: true } },
      b: { duration: { values: [4, 8] }, firstFrameUrl: { required: true }, seed: {} },
      c: { duration: { min: 2, max: 6 }, firstFrameUrl: {} },
    }),
  );
  assert.deepEqual(required, ['model', 'input']);
  assert.deepEqual(properties['model'], { type: 'string', enum: ['a', 'b', 'c'] });
  const input = properties['input'] as unknown as Schema;
  assert.deepEqual(input.required, ['prompt'], 'what every model requires');
  const { prompt, duration, seed } = input.properties;
  assert.equal(prompt?.['type'], 'string', 'a field that is the same in every model');
  const variants = duration?.['anyOf'] as readonly Readonly<Record<string, unknown>>[];
  assert.deepEqual(
    variants.map(({ title }) => title),
    ['For a, b', 'For c'],
  );
  assert.equal(seed?.['title'], 'For b', 'a field of some models');
});
