import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtInCatalogue, readCatalogueOrThrow } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { defaultModels } from '../../../src/catalogue/models/model-type-and-name-lookup.ts';
import { SetupError } from '../../../src/platform/setup-errors-and-error-messages.ts';
import { faultsOf, readCatalogue } from './read-catalogue.ts';

const prices = [{ creditsPerSecond: 7 }];
const model = { model: 'm', title: 'M', prices };

test('the example loads, with every kind of provider, its rules, prices and tiers', () => {
  const { providers, models, files } = readCatalogueOrThrow({ path: 'docs/catalogue.example.yaml' });
  const kinds = new Set([...providers.values()].map(({ kind }) => kind));
  const all = 'ark cog comfy-v2 comfyui http openai-videos own preview';
  assert.equal([...kinds].toSorted().join(' '), all);
  const fast = models.get('videogen-2.0-fast');
  assert.deepEqual(fast?.providers, ['ark-intl', 'minimax', 'fal']);
  assert.deepEqual(fast.tiers[0]?.[0]?.cost, { currency: 'USD', perMillionTokens: 5_600_000 });
  assert.equal(fast.tiers[0][0].pool, 'ark-intl/dreamina-seedance-2-0-fast-260128');
  assert.equal(fast.tiers[0][0].limit, 20);
  const wan = models.get('wan-2.2')?.tiers[0]?.[1];
  assert.deepEqual([wan?.rules.durations, wan?.rules.ratios, wan?.rules.images.max], [[5], ['16:9', '9:16'], 1]);
  assert.deepEqual(
    [...models.values()].map(({ isRemote }) => isRemote),
    [true, true, true, true, false],
  );
  assert.equal(models.get('house-video')?.moderation?.shape, 'plain');
  assert.deepEqual([...files.keys()], ['builtin:fal-seedance', './workflows/wan22-5b.json']);
});

test('what a file does not say is as it is without one', () => {
  const { creditValue, models } = readCatalogue({ models: [model] });
  assert.deepEqual(creditValue, { micros: 5000, currency: 'USD' });
  const { providers, deadlineMs, tiers, fit, isRemote } = models.get('m') ?? assert.fail();
  assert.deepEqual([providers, deadlineMs, fit, isRemote], [['preview'], 1_800_000, 'keep', false]);
  assert.equal(tiers[0]?.[0]?.pool, 'preview/m');
});

test('without a file there are the built-in models', () => {
  const { models } = builtInCatalogue();
  const asBefore = [...models.values()].map(
    ({ tiers: _tiers, fit: _fit, lastFrame: _lastFrame, isRemote: _isRemote, ...rest }) => rest,
  );
  assert.deepEqual(asBefore, defaultModels);
});

const faulty = `
creditValue: { micros: -1, curency: usd }
providers:
  ark: { kind: ark, baseUrl: 'https://u:p@x', key: sk-live-1, limitt: 3, onLostJob: resubmit, cost: { perSecond: 1e-9 } }
  b: { kind: openai-video, baseUrl: 'http://x' }
  preview: { kind: own, baseUrl: http://x }
  c: { kind: openai-videos, dialect: vlm-omni, baseUrl: http://x, key: { env: VIDEOGEN_SECRET } }
  comfy: { kind: comfyui, baseUrl: http://x }
  'bad name': { kind: own, baseUrl: http://x }
  h: { kind: http, baseUrl: http://x, file: builtin:fal-sedance }
  i: { kind: http, baseUrl: http://x, file: ./none.yaml }
models:
  - model: a
    titel: x
    prices: [{ creditsPerSecond: 0, from: yesterday }]
    tiers:
      - - { provider: arkk, wieght: 3 }
        - { provider: ark, parameters: { model: x } }
        - { provider: preview, rules: { durations: five, audio: alwys } }
        - { provider: comfy, parameters: { workflow: ./editor.json, fsp: 3 } }
        - { provider: comfy, parameters: { workflow: ./list.json } }
  - { model: a, title: x, prices: [{ creditsPerSecond: 1, from: '2999-01-01T00:00:00Z' }], providers: [preview, c, comfy] }
  - { model: b, title: x, prices: [{ creditsPerSecond: 1 }], tiers: [], providers: [none] }
  - 7
`;

test('all problems of a file are in one report: where, what is allowed, what was probably meant', () => {
  const files = { '/etc/videogen/editor.json': '{"nodes": [], "links": []}', '/etc/videogen/list.json': '[1]' };
  const expected = `
creditValue.micros: must be at least 0
creditValue.curency: unknown field, did you mean currency?
providers.ark.baseUrl: must be an http or https URL without user, password, query or fragment
providers.ark.key: must be { env: NAME } or { file: PATH }; the secret itself does not belong in this file
providers.ark.onLostJob: must be fail
providers.ark.cost.perSecond: must be a decimal number from 0 to 999999.999999, such as 0.2419
providers.ark.limitt: unknown field, did you mean limit?
providers.b.kind: must be one of own, ark, openai-videos, comfyui, comfy-v2, cog, http; did you mean openai-videos?
providers.preview: is the name of a built-in provider; choose another
providers.c.dialect: must be one of vllm-omni, sglang, openrouter, generic; did you mean vllm-omni?
providers.c.key.env: must name an environment variable in capitals that is no setting of this service, such as ARK_API_KEY
providers.bad name: must be 1 to 60 letters, digits, dots, dashes or underscores
providers.h.file: unknown built-in file, did you mean fal-seedance?
providers.i.file: this file cannot be read (ENOENT)
models[0].title: is required
models[0].titel: unknown field, allowed: model, title, description, sample, aliases, input, prices, deadlineSeconds, tiers, providers, rules, moderation, fit, lastFrame, shortfall
models[0].prices: must have a price in force
models[0].prices[0]: must have creditsPerSecond or creditsPerVideo of at least 1
models[0].prices[0].from: must be an instant, such as 2027-01-01T00:00:00Z
models[0].tiers: must not mix the preview, which runs on our workers, with upstreams
models[0].tiers[0][0].provider: unknown provider, did you mean ark?
models[0].tiers[0][0].wieght: unknown field, did you mean weight?
models[0].tiers[0][1].parameters.model: is set by this service from the task
models[0].tiers[0][2].rules.durations: must be a list of whole seconds, such as [5, 10], or { min, max }
models[0].tiers[0][2].rules.audio: must be one of optional, always, never; did you mean always?
models[0].tiers[0][3].parameters.workflow: this file must be a map of nodes, each with its class_type; export the workflow for the API
models[0].tiers[0][3].parameters.fsp: unknown field, allowed: width, height, fps, workflow
models[0].tiers[0][4]: has the provider and upstream model of an earlier entry
models[0].tiers[0][4].parameters.workflow: this file must be a map of nodes, each with its class_type
models[1].model: is used twice; names and aliases of models must differ from all others
models[1].prices: must have a price in force
models[1].providers: must not mix the preview, which runs on our workers, with upstreams
models[1].providers[2]: needs parameters; use tiers
models[2].tiers: must have at least 1 item
models[2].providers: must not stand beside tiers; use one of them
models[2].providers[0]: unknown provider, allowed: ark, b, preview, c, comfy, bad name, h, i
models[3]: must be a map
`;
  assert.deepEqual([...faultsOf(faulty, files)].toSorted(), expected.trim().split('\n').toSorted());
});

test('a size below the resolution sold is refused, unless videos are converted to what is sold', () => {
  const providers = { box: { kind: 'openai-videos', baseUrl: 'http://x' } };
  const tiers = [[{ provider: 'box', parameters: { width: 832, height: 480 } }]];
  const fields = { duration: { values: [5] }, ratio: { values: ['16:9'] }, generateAudio: { fixed: false } };
  const faults = (more: object) => faultsOf({ providers, models: [{ ...model, tiers, ...more }] });
  const message =
    'models[0].tiers[0][0].parameters: 832 × 480 is smaller than the 720p of the model; enlarge it, or set fit: convert';
  assert.deepEqual(faults({}), [message]);
  assert.deepEqual(faults({ fit: 'convert' }), []);
  assert.deepEqual(faults({ input: { ...fields, resolution: { values: ['480p'] } } }), []);
  const both = { ...fields, resolution: { values: ['480p', '720p'] } };
  assert.deepEqual(faults({ input: both }), [message], 'its default is 720p');
  assert.deepEqual(faults({ input: { ...both, resolution: { ...both.resolution, default: '480p' } } }), []);
});

test('the size of an entry is that of 16:9 at the default resolution of its model', () => {
  const providers = { box: { kind: 'openai-videos', baseUrl: 'http://x' }, own: { kind: 'own', baseUrl: 'http://y' } };
  const input = {
    resolution: { values: ['480p'] },
    duration: { values: [5] },
    ratio: { values: ['16:9'] },
    generateAudio: { fixed: false },
  };
  const [box, own] = ['box', 'own'].map((provider) => ({ provider, parameters: { width: 832, height: 480 } }));
  const { models } = readCatalogue({ providers, models: [{ ...model, input, tiers: [[box, own]] }] });
  const entries = models.get(model.model)?.tiers.flat() ?? assert.fail();
  assert.deepEqual(
    entries.map(({ parameters }) => parameters),
    [
      { width: 832, height: 480, resolution: '480p' },
      { width: 832, height: 480 },
    ],
    'the parameters of other kinds are their own',
  );
});

test('rules that together allow nothing are reported where they meet', () => {
  const providers = { box: { kind: 'own', baseUrl: 'http://x', rules: { durations: [5] } } };
  const entry = { provider: 'box', rules: { durations: { min: 6 } } };
  assert.deepEqual(faultsOf({ providers, models: [{ ...model, tiers: [[entry]] }] }), [
    'models[0].tiers[0][0].rules: together with those of model and provider they allow no duration of the model',
  ]);
});

test('an upstream that fetches images from us and cannot reach us takes none', () => {
  const imagesAt = (publicUrl: string) => {
    const providers = Object.fromEntries(
      ['kie', 'runway'].map((file) => [file, { kind: 'http', baseUrl: 'https://x.example', file: `builtin:${file}` }]),
    );
    const tiers = [[{ provider: 'kie' }], [{ provider: 'runway' }]];
    const readText = () => JSON.stringify({ providers, models: [{ ...model, tiers }] });
    const { models } = readCatalogueOrThrow({ path: 'x', readText, publicUrl });
    return models
      .get('m')
      ?.tiers.flat()
      .map(({ rules }) => rules.images.max);
  };
  assert.deepEqual(imagesAt('http://127.0.0.1:3000'), [0, 1]);
  assert.deepEqual(imagesAt('https://videogen.example'), [9, 1]);
});

test('a deadline is refused that is longer than a provider of the model keeps its jobs', () => {
  const http = { kind: 'http', baseUrl: 'https://x.example' };
  const providers = {
    kling: { ...http, file: 'builtin:kling' },
    replicate: { ...http, file: 'builtin:replicate-seedance' },
  };
  const faultsFor = (deadlineSeconds: number, names: readonly string[]) =>
    faultsOf({ providers, models: [{ ...model, deadlineSeconds, providers: names }] });
  const message = (deadlineSeconds: number) =>
    `models[0].deadlineSeconds: is ${deadlineSeconds}, but provider replicate deletes a job after 3600 seconds; allowed: 10 to 3600`;
  assert.deepEqual(faultsFor(3600, ['kling', 'replicate']), []);
  assert.deepEqual(faultsFor(3601, ['kling', 'replicate']), [message(3601)]);
  assert.deepEqual(faultsFor(86_400, ['replicate']), [message(86_400)]);
  assert.deepEqual(faultsFor(86_400, ['kling']), [], 'stored for a week');
});

test('a workflow with an unknown placeholder is reported, with a suggestion', () => {
  const providers = { comfy: { kind: 'comfyui', baseUrl: 'http://x' } };
  const entry = { provider: 'comfy', parameters: { workflow: './w.json' } };
  const workflow = { '1': { class_type: 'CLIPTextEncode', inputs: { text: '{{promt}}' } } };
  const files = { '/etc/videogen/w.json': JSON.stringify(workflow) };
  assert.deepEqual(faultsOf({ providers, models: [{ ...model, tiers: [[entry]] }] }, files), [
    'models[0].tiers[0][0].parameters.workflow: this file is wrong in a placeholder: unknown placeholder, did you mean prompt?',
  ]);
});

test('a workflow with a node that has no class_type is no workflow for the API', () => {
  const providers = { comfy: { kind: 'comfyui', baseUrl: 'http://x' } };
  const entry = { provider: 'comfy', parameters: { workflow: './w.json' } };
  const files = { '/etc/videogen/w.json': JSON.stringify({ '1': { class_type: 'SaveVideo' }, '2': {} }) };
  assert.deepEqual(faultsOf({ providers, models: [{ ...model, tiers: [[entry]] }] }, files), [
    'models[0].tiers[0][0].parameters.workflow: this file must be a map of nodes, each with its class_type',
  ]);
});

test('a file without any node is no workflow', () => {
  const providers = { comfy: { kind: 'comfyui', baseUrl: 'http://x' } };
  const entry = { provider: 'comfy', parameters: { workflow: './w.json' } };
  for (const text of ['{}', '[]'])
    assert.deepEqual(
      faultsOf({ providers, models: [{ ...model, tiers: [[entry]] }] }, { '/etc/videogen/w.json': text }),
      ['models[0].tiers[0][0].parameters.workflow: this file must be a map of nodes, each with its class_type'],
    );
});

test('a name or alias that another model has is reported where it is repeated', () => {
  const models = [
    { ...model, model: 'a', aliases: ['x'] },
    { ...model, model: 'b', aliases: ['y', 'a', 'x'] },
  ];
  const message = 'is used twice; names and aliases of models must differ from all others';
  assert.deepEqual(faultsOf({ models }), [`models[1].aliases[1]: ${message}`, `models[1].aliases[2]: ${message}`]);
});

test('a syntax error is reported with its line, and without the text of the file', () => {
  const broken = [
    'providers:\n  a: { key: sk-live-1\nmodels: x',
    'a: sk-live-1\na: sk-live-2',
    'a: *sk-live-1',
    'a: !sk-live-1 x',
  ];
  for (const text of [
    ...broken,
    'a: "\\sk-live-1"',
    '%sk-live-1\n---\na: 1',
    'a: 1\n---\nb: sk-live-1',
    '\tsk-live-1: 1',
  ]) {
    const faults = faultsOf(text).join('\n');
    assert.match(faults, /no valid YAML|no usable YAML/, text);
    assert.doesNotMatch(faults, /sk-live/);
  }
  assert.deepEqual(faultsOf('models:\n  - model: a\n    model: b\n'), [
    'line 3, column 5: no valid YAML: Map keys must be unique',
  ]);
  for (const [text, message] of [
    ['models:\n\t- model: a\n', 'Tabs are not allowed as indentation'],
    ['models:\n  a: 1\n b: 2\n', 'All mapping items must start at the same column'],
    ['models: "a\n', 'Missing closing "quote'],
  ] as const)
    assert.ok(faultsOf(text).join('\n').includes(`no valid YAML: ${message}`), faultsOf(text).join('\n'));
});

test('a file is bounded in size and depth, and aliases cannot make it endless', () => {
  assert.match(faultsOf(`# ${'x'.repeat(1024 * 1024)}`).join(), /at most 1048576 characters/);
  assert.match(faultsOf(`{"models": ${'['.repeat(40)}${']'.repeat(40)}}`).join(), /deeper than 32 levels/);
  assert.match(faultsOf('a: '.repeat(3) + '['.repeat(100_000)).join(), /YAML/);
  assert.match(faultsOf('models: &a [*a, *a]').join(), /deeper than 32 levels/);
  const bomb = Array.from(
    { length: 30 },
    (_, index) => `x${index + 1}: &x${index + 1} [*x${index}, *x${index}, *x${index}]`,
  );
  assert.equal(faultsOf(['x0: &x0 [1, 1, 1]', ...bomb].join('\n')).length, 1);
  assert.equal(
    faultsOf({ models: Array.from({ length: 101 }, (_, index) => ({ ...model, model: `m${index}` })) }).length,
    1,
  );
});

test('a file is accepted up to its limits of characters and levels, and refused beyond them', () => {
  const json = JSON.stringify({ models: [model] });
  const most = 1024 * 1024;
  assert.deepEqual(faultsOf(json.padEnd(most)), []);
  assert.deepEqual(faultsOf(json.padEnd(most + 1)), ['must be at most 1048576 characters']);
  // The lists are in a map, and the innermost one is empty.
  const nested = (levels: number) => faultsOf(`{"models": ${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`).join();
  assert.doesNotMatch(nested(32), /nested/);
  assert.match(nested(33), /nested deeper than 32 levels/);
});

test('a report has a bound, too', () => {
  const aliases = Array.from({ length: 50 }, () => '?');
  const models = Array.from({ length: 10 }, (_, index) => ({ ...model, model: `m${index}`, aliases }));
  const faults = faultsOf({ models });
  assert.equal(faults.length, 201);
  assert.equal(faults.at(-1), '300 more');
});

test('a missing secret is reported for its field, and any other error while it is read is thrown unchanged', () => {
  const providers = { own: { kind: 'own', baseUrl: 'http://x', key: { env: 'OWN_KEY' } } };
  const text = JSON.stringify({ providers, models: [{ ...model, providers: ['own'] }] });
  const reading = (error: Error) => () =>
    readCatalogueOrThrow({
      path: 'x',
      readText: () => text,
      readSecret: () => () => {
        throw error;
      },
    });
  assert.throws(reading(new SetupError('is not set')), { problems: ['x: providers.own.key: is not set'] });
  const bug = new Error('a bug');
  assert.throws(reading(bug), bug);
});
