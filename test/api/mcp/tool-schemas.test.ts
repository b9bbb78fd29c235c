import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describeTools } from '../../../src/api/mcp/describe-tools.ts';
import { modelSummaryText, summarizeModel } from '../../../src/api/mcp/model-summary.ts';
import { builtInCatalogue, readCatalogueOrThrow } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { inputFieldNames } from '../../../src/catalogue/input/task-input.ts';
import { modelInputDeclarationSchema } from '../../../src/catalogue/input/model-input-declaration-schema.ts';
import {
  defaultModels,
  type Model,
  indexModelsByName,
  type ModelsByName,
} from '../../../src/catalogue/models/model-type-and-name-lookup.ts';
import { sampleRequest } from '../../../src/tasks/accept/documented-task-request.ts';
import { documentedRecipes } from '../../support/documents/documented-examples.ts';

// The subset that docs/decisions/api.md states with its sources.

const types = ['string', 'number', 'integer', 'boolean', 'array', 'object'];
const keys = ['type', 'description', 'properties', 'required', 'items', 'enum'];

type Schema = Readonly<Record<string, unknown>>;

function assertInSubset(schema: unknown, path: string): void {
  assert.ok(typeof schema === 'object' && schema !== null, path);
  const { type, properties, required = [], items, enum: choices } = schema as Schema; // an object, as just checked
  for (const key of Object.keys(schema)) assert.ok(keys.includes(key), `${path}: ${key}`);
  assert.ok(typeof type === 'string' && types.includes(type), `${path}: type ${JSON.stringify(type)}`);
  if (choices !== undefined) {
    assert.equal(type, 'string', `${path}: an enum of ${type}`);
    assert.ok(Array.isArray(choices) && choices.length > 0 && choices.every((one) => typeof one === 'string'), path);
  }
  if (type === 'array') assertInSubset(items, `${path}[]`);
  else assert.equal(items, undefined, path);
  if (type !== 'object') return assert.equal(properties, undefined, path);
  assert.ok(typeof properties === 'object' && properties !== null, `${path}: an object without properties`);
  for (const name of required as readonly string[]) assert.ok(Object.hasOwn(properties, name), `${path}.${name}`);
  for (const [name, field] of Object.entries(properties)) {
    assert.match(name, /^[\w.-]{1,64}$/);
    assertInSubset(field, `${path}.${name}`);
  }
}

function assertTools(models: ModelsByName): void {
  for (const { name, inputSchema } of describeTools(models)) {
    assert.match(name, /^\w{1,64}$/);
    assertInSubset(inputSchema, name);
  }
}

const workflow = JSON.stringify({ '1': { class_type: 'SaveVideo', inputs: { filename_prefix: '{{prefix}}' } } });
const recipes = ['README.md', 'docs/tutorial.md', 'docs/models.md']
  .concat(readdirSync('docs/providers').map((page) => `docs/providers/${page}`))
  .flatMap((page) => documentedRecipes(page).map(({ text }) => [page, text] as const));

function readRecipe(text: string): ModelsByName {
  const readText = (path: string) => (path.endsWith('.json') ? workflow : text);
  try {
    return readCatalogueOrThrow({ path: '/etc/videogen/catalogue.yaml', readText }).models;
  } catch {
    // test/catalogue/file/catalogue-examples.test.ts loads them with their whole workflows.
    return new Map();
  }
}

describe('every tool stays within the subset that agents accept', () => {
  test('for the built-in catalogue', () => assertTools(builtInCatalogue().models));

  test('for the example of a catalogue', () => {
    const text = readFileSync('docs/catalogue.example.yaml', 'utf8');
    const readText = (path: string) => (path.endsWith('.yaml') && !path.includes('assets') ? text : workflow);
    assertTools(readCatalogueOrThrow({ path: '/etc/videogen/catalogue.yaml', readText }).models);
  });

  test('for every catalogue of the documentation', () => {
    const catalogues = recipes.map(([, text]) => readRecipe(text)).filter(({ size }) => size > 0);
    assert.ok(catalogues.length > 10);
    for (const models of catalogues) assertTools(models);
    const all = catalogues.flatMap((models, index) =>
      [...models.values()].map((one) => ({ ...one, model: `${one.model}-${index}` })),
    );
    assertTools(indexModelsByName(all));
  });

  test('for models whose fields have lists of numbers, fixed values, and options of every type', () => {
    assertTools(indexModelsByName(differing));
    const generate = describeTools(indexModelsByName(differing)).find(({ name }) => name === 'generate_video');
    const input = generate?.inputSchema.properties?.['input'] as {
      readonly properties: Record<string, Schema>;
      readonly required: unknown;
    };
    assert.deepEqual(input.required, ['prompt']);
    const fields = ['prompt', 'resolution', 'duration', 'ratio', 'generateAudio', 'firstFrameUrl', 'seed', 'options'];
    assert.deepEqual(Object.keys(input.properties).toSorted(), fields.toSorted());
    const ofSome = Object.entries(input.properties).filter(([, one]) =>
      /Only for models/.test(String(one['description'])),
    );
    assert.deepEqual(ofSome.map(([name]) => name).toSorted(), ['firstFrameUrl', 'seed']);
    assert.deepEqual(input.properties['duration'], {
      type: 'number',
      description: 'Seconds. Values differ: see list_models.',
    });
    assert.deepEqual(input.properties['ratio']?.['enum'], ['16:9', 'adaptive', '9:16', '1:1']);
    const options = input.properties['options'] as { readonly properties: Record<string, Schema> };
    assert.deepEqual(options.properties['steps'], { type: 'integer', description: '1 to 50. Default 20.' });
    assert.deepEqual(options.properties['mode'], {
      type: 'string',
      enum: ['x', 'y', '1', '2'],
      description: 'Values differ: see list_models.',
    });
  });
});

const [template] = defaultModels;
assert.ok(template);

function modelOf(model: string, input: object): Model {
  assert.ok(template);
  const basis = { resolution: { values: ['720p'] }, ratio: { values: ['16:9'] }, generateAudio: {} };
  return {
    ...template,
    model,
    input: modelInputDeclarationSchema.parse({ ...basis, duration: { min: 4, max: 15 }, ...input }),
  };
}

const differing = [
  modelOf('a', {
    duration: { values: [4, 5, 10] },
    generateAudio: { fixed: true },
    options: { steps: { type: 'integer', min: 1, max: 50, default: 20 }, mode: { type: 'string', values: ['x', 'y'] } },
  }),
  modelOf('b', {
    duration: { min: 2, max: 6 },
    ratio: { values: ['adaptive', '16:9', '9:16', '1:1'] },
    firstFrameUrl: { required: true },
    seed: {},
    options: {
      mode: { type: 'integer', values: [1, 2] },
      weight: { type: 'number', min: 0.1, max: 2 },
      loop: { type: 'boolean' },
    },
  }),
];

test('each field is described, also where models differ in all of them', () => {
  const everyField = (max: number, values: readonly string[]) => ({
    resolution: { values: [max === 1 ? '720p' : '1080p'] },
    ratio: { values: [max === 1 ? '16:9' : '9:16'] },
    duration: { min: max, max: max + 5 },
    generateAudio: { default: max === 1 },
    negativePrompt: {},
    firstFrameUrl: {},
    lastFrameUrl: {},
    imageUrls: { max },
    videoUrls: { max },
    audioUrls: { max },
    seed: {},
    options: { style: { type: 'string', values } },
  });
  const models = indexModelsByName([modelOf('c', everyField(1, ['x'])), modelOf('d', everyField(2, ['y']))]);
  const generate = describeTools(models).find(({ name }) => name === 'generate_video');
  assert.ok(generate);
  const { model, input, callBackUrl } = generate.inputSchema.properties as Readonly<Record<string, Schema>>; // of the request
  assert.deepEqual(model, { type: 'string', enum: ['c', 'd'] });
  assert.equal(callBackUrl?.['type'], 'string');
  const fields = Object.entries(input?.['properties'] as Readonly<Record<string, Schema>>); // an object
  assert.deepEqual(fields.map(([name]) => name).toSorted(), [...inputFieldNames].toSorted());
  for (const [name, { description }] of fields) {
    assert.match(String(description), /^[A-Z].*\.$/, name);
    assert.doesNotMatch(String(description), /undefined|Only for models/, name);
  }
});

test('a schema of the subset accepts the sample request of every model', () => {
  const models = indexModelsByName([...differing, ...defaultModels]);
  const generate = describeTools(models).find(({ name }) => name === 'generate_video');
  const accepts = new Ajv2020({ strict: false }).compile(generate?.inputSchema ?? {});
  for (const { model, input } of models.values()) assert.ok(accepts(sampleRequest(model, input)), model);
});

test('the schemas of twenty models stay small, and so does what list_models says of them', () => {
  const twenty = Array.from({ length: 20 }, (_, index) =>
    modelOf(`vendor/model-${index}`, {
      negativePrompt: {},
      resolution: { values: ['480p', '720p', '1080p'] },
      duration: index % 2 === 0 ? { values: [5, 10] } : { min: 4, max: 4 + index },
      ratio: { values: ['adaptive', '16:9', '9:16', '1:1'] },
      imageUrls: { max: 1 + (index % 9) },
      firstFrameUrl: {},
      lastFrameUrl: { requires: 'firstFrameUrl' },
      seed: {},
      options: {
        cameraFixed: { type: 'boolean', default: false },
        [`style${index % 4}`]: { type: 'string', values: ['natural', 'anime'] },
      },
      exclusive: [['imageUrls', 'firstFrameUrl']],
    }),
  );
  const listed = JSON.stringify(describeTools(indexModelsByName(twenty)));
  const prices = [{ name: 'standard', when: {}, rates: [{ creditsPerSecond: 41, creditsPerVideo: 0, fromTime: 0 }] }];
  const said = twenty.map((model) => modelSummaryText(summarizeModel(model, prices, 1))).join('\n');
  // About four bytes a token.
  assert.ok(listed.length < 14_000, `tools/list has ${listed.length} bytes`);
  assert.ok(said.length < 16_000, `list_models says ${said.length} bytes`);
});

test('list_models says in words what each model is, costs and takes', () => {
  const prices = [
    {
      name: '4k',
      when: { resolution: '2160p' as const },
      rates: [{ creditsPerSecond: 80, creditsPerVideo: 0, fromTime: 0 }],
    },
    { name: 'other', when: {}, rates: [{ creditsPerSecond: 41, creditsPerVideo: 5, fromTime: 0 }] },
  ];
  const [a] = differing;
  assert.ok(a);
  const words = summarizeModel({ ...a, description: 'Calm films.', providers: ['gpu'] }, prices, 1);
  assert.equal(
    words.costs,
    '80 credits per second with resolution 2160p; 41 credits per second and 5 credits per video otherwise',
  );
  assert.deepEqual(words.takes, [
    'prompt: at most 5000 characters (required)',
    'resolution: 720p, default 720p',
    'duration: 4, 5, 10, default 5',
    'ratio: 16:9, default 16:9',
    'generateAudio: always true, default true',
    'options.steps: 1 to 50, default 20',
    'options.mode: x, y',
  ]);
  assert.equal(words.about, 'Calm films.');
  assert.match(modelSummaryText(words), /^a: .+\. Calm films\.\n  Costs 80 credits .+\.\n  Takes prompt: .+\.$/);
  assert.match(modelSummaryText({ ...words, about: '' }), /^a: [^.]+(?:\.\d[^.]*)?\.\n  Costs /);
  assert.match(
    summarizeModel({ ...a, description: 'Ours.', providers: ['preview'] }, prices, 1).about,
    /^Ours\. It is not an AI model: /,
  );
  for (const model of builtInCatalogue().models.values()) {
    const { about } = summarizeModel(model, prices, 1);
    assert.equal([...about.matchAll(/not an AI model/g)].length, 1, about);
  }
});

test('list_models says the price in force, with the conditions of each', () => {
  const [a] = differing;
  assert.ok(a);
  const rate = { creditsPerSecond: 5, creditsPerVideo: 0, fromTime: 0 };
  const when = { imageUrls: 'present', firstFrameUrl: 'absent', options: { mode: 'x' } } as const;
  const prices = [
    { name: 'images', when, rates: [rate, { ...rate, creditsPerSecond: 6, fromTime: 10 }] },
    { name: 'later', when: {}, rates: [{ ...rate, fromTime: 11 }] },
    { name: 'standard', when: {}, rates: [{ creditsPerSecond: 0, creditsPerVideo: 7, fromTime: 0 }] },
  ];
  const conditions = 'with imageUrls and no firstFrameUrl and mode x';
  const costsAt = (now: number) => summarizeModel(a, prices, now).costs.split('; ');
  const perVideo = '7 credits per video';
  assert.deepEqual(costsAt(9), [`5 credits per second ${conditions}`, 'later: nothing yet', perVideo]);
  assert.deepEqual(costsAt(10), [`6 credits per second ${conditions}`, 'later: nothing yet', perVideo]);
  assert.deepEqual(costsAt(11).slice(1), ['5 credits per second otherwise', perVideo]);
});

test('tools state whether they change something, and which arguments and results they have', () => {
  const reads = { readOnlyHint: true, openWorldHint: false };
  const writes = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };
  const tools = describeTools(builtInCatalogue().models);
  assert.deepEqual(Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations])), {
    list_models: reads,
    get_price: reads,
    generate_video: { ...writes, openWorldHint: true, idempotentHint: false },
    get_video: reads,
    cancel_video: { ...writes, destructiveHint: true, idempotentHint: true },
    list_videos: reads,
    upload_media: { ...writes, idempotentHint: true },
    get_balance: reads,
  });
  const { inputSchema, outputSchema } = tools.find(({ name }) => name === 'generate_video') ?? {};
  assert.deepEqual(Object.keys(inputSchema?.properties ?? {}).toSorted(), [
    'callBackUrl',
    'idempotency_key',
    'input',
    'model',
    'wait_seconds',
  ]);
  assert.deepEqual(inputSchema?.required, ['model', 'input']);
  assert.deepEqual(outputSchema, {
    type: 'object',
    properties: {
      taskId: { type: 'string' },
      creditsCharged: { type: 'integer' },
      isRepeat: { type: 'boolean' },
    },
    required: ['taskId', 'creditsCharged', 'isRepeat'],
  });
  const uploaded = tools.find(({ name }) => name === 'upload_media')?.outputSchema;
  assert.deepEqual(uploaded?.['properties'], {
    url: { type: 'string' },
    fields: { type: 'array', items: { type: 'string' } },
  });
});
