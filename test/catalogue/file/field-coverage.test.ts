import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { resolveCatalogue } from '../../../src/catalogue/file/resolve-catalogue.ts';
import {
  inputErrorsOfModel,
  untriedTiersForTask,
} from '../../../src/catalogue/models/input-refusals-and-untried-tiers.ts';
import { fieldPath } from '../../../src/platform/text/field-errors.ts';
import { withDefaults } from '../../../src/catalogue/input/task-input.ts';

const baseUrl = 'http://upstream.example';
const providers = {
  own: { kind: 'own', baseUrl },
  ark: { kind: 'ark', baseUrl },
  vllm: { kind: 'openai-videos', dialect: 'vllm-omni', baseUrl },
  sglang: { kind: 'openai-videos', dialect: 'sglang', baseUrl },
  openrouter: { kind: 'openai-videos', dialect: 'openrouter', baseUrl },
  generic: { kind: 'openai-videos', baseUrl },
  cog: { kind: 'cog', baseUrl },
  file: { kind: 'http', baseUrl, file: './file.yaml' },
};
type Data = { readonly input?: object; readonly [field: string]: unknown };

/** The least that a model must say about its input. */
const plain = {
  resolution: { values: ['720p'] },
  duration: { values: [5] },
  ratio: { values: ['16:9'] },
  generateAudio: { fixed: true },
};

function resolved(model: Data, world: Parameters<typeof resolveCatalogue>[1] = {}) {
  const input = model.input && { ...plain, ...model.input };
  const models = [{ model: 'm', title: 'M', prices: [{ creditsPerSecond: 1 }], ...model, ...(input && { input }) }];
  const { catalogue, problems } = resolveCatalogue({ providers, models }, world);
  return {
    model: catalogue?.models.get('m'),
    problems: problems.map(({ path, message }) => `${fieldPath(path)}: ${message}`),
  };
}

const entry = (provider: string, fields: object = {}) => ({ provider, ...fields });
const template = (input: object) => entry('cog', { parameters: { input } });
const advice = 'remove it, or add a provider that passes it on';

/** One field each, with the entries that pass it on and those that ignore it. */
const fields: readonly (readonly [object, passed: readonly object[], ignored: readonly object[]])[] = [
  [
    { negativePrompt: {} },
    ['own', 'vllm', 'sglang'].map((name) => entry(name)),
    ['ark', 'openrouter', 'generic', 'preview', 'file']
      .map((name) => entry(name))
      .concat(template({ text: '{{prompt}}' })),
  ],
  [
    { resolution: { values: ['480p', '720p'] } },
    ['own', 'ark', 'vllm', 'sglang', 'openrouter', 'generic', 'preview'].map((name) => entry(name)),
    [template({ text: '{{prompt}}' }), entry('file')],
  ],
  [
    { duration: { values: [5, 10] } },
    ['own', 'ark', 'vllm', 'sglang', 'openrouter', 'generic', 'preview'].map((name) => entry(name)),
    [template({ text: '{{prompt}}' }), entry('file')],
  ],
  [
    { ratio: { values: ['16:9', '9:16'] } },
    ['own', 'ark', 'vllm', 'sglang', 'openrouter', 'generic', 'preview'].map((name) => entry(name)),
    [template({ text: '{{prompt}}' }), entry('file')],
  ],
  [
    { generateAudio: { default: false } },
    [
      entry('own'),
      entry('vllm'),
      template({ sound: '{{generateAudio}}' }),
      entry('sglang', { rules: { audio: 'always' } }),
    ],
    [entry('sglang'), entry('generic'), entry('own', { rules: { audio: 'never' } })],
  ],
  [
    { imageUrls: { max: 2 } },
    [entry('own'), entry('ark'), template({ image: '{{image:2}}' }), entry('file')],
    [template({ text: '{{prompt}}' }), entry('own', { rules: { images: { max: 0 } } })],
  ],
  [{ firstFrameUrl: {} }, [entry('own'), entry('sglang'), entry('preview')], [template({ image: '{{image}}' })]],
  [
    { lastFrameUrl: {} },
    [entry('own'), entry('ark'), entry('openrouter'), entry('vllm', { model: 'MiniMaxAI/MiniMax-H3' })],
    [entry('vllm', { model: 'Wan-AI/Wan2.2' }), entry('sglang'), entry('generic')],
  ],
  [{ videoUrls: { max: 1 } }, [entry('own'), entry('ark'), entry('openrouter')], [entry('vllm'), entry('preview')]],
  [{ audioUrls: { max: 1 } }, [entry('own'), entry('ark'), entry('openrouter')], [entry('sglang'), entry('generic')]],
  [
    { seed: {} },
    [entry('own'), entry('ark', { model: 'seedance-1-5-pro-251215' }), entry('sglang'), template({ seed: '{{seed}}' })],
    [entry('ark', { model: 'dreamina-seedance-2-0-260128' }), entry('generic'), template({ text: '{{prompt}}' })],
  ],
  [
    { options: { cameraFixed: { type: 'boolean' } } },
    [entry('own'), entry('ark'), entry('vllm'), entry('generic'), entry('file')],
    [entry('preview'), entry('openrouter'), template({ text: '{{prompt}}' })],
  ],
  // Addresses that Ark would call, and files that a server would read, are not a client's to name.
  [{ options: { callbackUrl: { type: 'string' } } }, [entry('own'), entry('generic')], [entry('ark')]],
  [{ options: { videoPath: { type: 'string' } } }, [entry('own'), entry('ark')], [entry('sglang')]],
];

const file = { data: { create: { json: '{ "images": images, "camera": input.options.cameraFixed }' } } };

describe('a field that a client can ask for', () => {
  for (const [input, passed, ignored] of fields) {
    const [name = ''] = Object.keys(input);
    const options = Object.keys((input as { options?: object }).options ?? {}).map((option) => `options.${option}`);
    const field = options[0] ?? name;
    test(`${field} needs an entry that passes it on`, () => {
      for (const one of passed) {
        const { problems } = resolved({ input, tiers: [[one]] }, { readFile: () => file });
        assert.deepEqual(problems, [], JSON.stringify(one));
      }
      for (const one of ignored) {
        const { problems } = resolved({ input, tiers: [[one]] }, { readFile: () => file });
        assert.match(
          problems.join('\n'),
          new RegExp(
            `^models\\[0\\]\\.input\\.${field}: ${field} is passed on by no provider of this model \\([\\w-]+\\)`,
          ),
          JSON.stringify(one),
        );
      }
    });
  }

  test('the message names every kind of provider that the model has', () => {
    const tiers = [[entry('generic'), entry('ark')], [entry('openrouter')]];
    assert.deepEqual(resolved({ input: { negativePrompt: {} }, tiers }).problems, [
      `models[0].input.negativePrompt: negativePrompt is passed on by no provider of this model (openai-videos, ark); ${advice}`,
    ]);
  });

  test('with one value only, or without its own declaration, needs none', () => {
    const tiers = [[template({ text: '{{prompt}}' })]];
    assert.deepEqual(resolved({ tiers }).problems, []);
    assert.deepEqual(resolved({ tiers, input: {} }).problems, []);
  });

  for (const [input, rules] of [
    [{ duration: { values: [5, 10] } }, [{ durations: [5] }, { durations: [10] }]],
    [{ ratio: { values: ['16:9', '9:16'] } }, [{ ratios: ['16:9'] }, { ratios: ['9:16'] }]],
    [{ resolution: { values: ['480p', '720p'] } }, [{ resolutions: ['480p'] }, { resolutions: ['720p'] }]],
  ] as const) {
    test(`needs none where each entry makes one value of ${Object.keys(input).join()}`, () => {
      const oneEach = rules.map((rule, index) => entry('file', { model: `m-${index}`, rules: rule }));
      assert.deepEqual(resolved({ input, tiers: [oneEach] }, { readFile: () => file }).problems, []);
    });
  }

  test('by link is not passed on to an upstream that cannot fetch it', () => {
    const input = { videoUrls: { max: 1 } };
    const { problems } = resolved({ input, tiers: [[entry('ark')]] }, { isReachableFrom: () => false });
    assert.deepEqual(problems, [
      'models[0].input.videoUrls: videoUrls is passed on by no provider of this model (ark), ' +
        `because the upstream cannot reach PUBLIC_URL; ${advice}`,
    ]);
  });

  test('is a resolution that the rules of some entry allow', () => {
    const input = { resolution: { values: ['480p', '720p', '1080p'] } };
    const rules = { resolutions: ['480p', '720p'] };
    assert.deepEqual(resolved({ input, tiers: [[entry('ark', { rules })]] }).problems, [
      'models[0].input.resolution: the rules of every provider exclude 1080p',
    ]);
    assert.deepEqual(resolved({ input, tiers: [[entry('ark', { rules }), entry('own')]] }).problems, []);
  });

  test('is a resolution that no parameter replaces', () => {
    const tiers = [[entry('ark', { parameters: { resolution: '1080p' } })]];
    assert.deepEqual(resolved({ input: { resolution: { values: ['720p', '1080p'] } }, tiers }).problems, [
      'models[0].tiers[0][0].parameters.resolution: must be left out, because clients choose the resolution of this model',
    ]);
    assert.deepEqual(resolved({ input: {}, tiers }).problems, []);
    assert.deepEqual(resolved({ tiers }).problems, []);
  });

  test('is a seed that every entry gets, because every task has one', () => {
    const tiers = [[entry('own')], [entry('ark', { model: 'seedance-2' })]];
    assert.deepEqual(resolved({ input: { seed: {} }, tiers }).problems, [
      'models[0].tiers[1][0]: ark does not pass on seed, which every task of this model has',
    ]);
    const short = { input: { seed: {} }, providers: ['own', 'file'] };
    assert.deepEqual(resolved(short, { readFile: () => file }).problems, [
      'models[0].providers[1]: http does not pass on seed, which every task of this model has',
    ]);
  });
});

describe('a field that only some entries pass on', () => {
  const options = { style: { type: 'string', default: 'natural' }, steps: { type: 'integer' } };
  const input = { negativePrompt: {}, generateAudio: { default: true }, imageUrls: { max: 2 }, options };
  const tiers = [[entry('own')], [template({ text: '{{prompt}}', image: '{{images}}' })]];
  const { model, problems } = resolved({ input, tiers });
  assert.deepEqual(problems, []);
  assert.ok(model !== undefined);
  const routesFor = (given: object) => {
    const request = withDefaults({ prompt: 'x', ...given }, model.input);
    return untriedTiersForTask(model, { taskId: 't', input: request, used: new Set() })
      .flat()
      .map(({ provider }) => provider);
  };

  test('is stored with the entries that ignore it, as plain JSON', () => {
    const [first, second] = model.tiers.flat();
    assert.equal(first?.ignores, undefined);
    assert.deepEqual(second?.ignores, {
      negativePrompt: null,
      generateAudio: true,
      'options.style': 'natural',
      'options.steps': null,
    });
    assert.deepEqual(JSON.parse(JSON.stringify(second)), second);
  });

  test('narrows the entries of a task that uses it', () => {
    assert.deepEqual(routesFor({}), ['own', 'cog']);
    assert.deepEqual(routesFor({ imageUrls: ['https://x.example/a.png'], generateAudio: true }), ['own', 'cog']);
    assert.deepEqual(routesFor({ options: { style: 'natural' } }), ['own', 'cog']);
    for (const given of [
      { negativePrompt: 'rain' },
      { generateAudio: false },
      { options: { style: 'anime' } },
      { options: { steps: 3 } },
    ])
      assert.deepEqual(routesFor(given), ['own'], JSON.stringify(given));
  });

  test('is refused before the charge when the entries that pass it on exclude the rest of the input', () => {
    const narrow = { ...input, duration: { values: [5, 10] } };
    const cog = entry('cog', { parameters: { input: { seconds: '{{seconds}}', image: '{{images}}' } } });
    const { model: sold } = resolved({ input: narrow, tiers: [[cog], [entry('own', { rules: { durations: [5] } })]] });
    assert.ok(sold !== undefined);
    const refused = (given: object) => inputErrorsOfModel(sold, withDefaults({ prompt: 'x', ...given }, sold.input));
    assert.deepEqual(refused({ negativePrompt: 'rain' }), []);
    assert.deepEqual(refused({ duration: 10 }), []);
    assert.deepEqual(refused({ duration: 10, negativePrompt: 'rain', options: { style: 'anime' } }), [
      { path: 'input.negativePrompt', message: 'must be left out for m with the rest of this input' },
      { path: 'input.options.style', message: 'must be natural for m with the rest of this input' },
    ]);
  });
});
