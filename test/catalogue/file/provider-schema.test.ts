import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knownUpstreamRules, resolveCatalogue } from '../../../src/catalogue/file/resolve-catalogue.ts';
import { parseFileData } from '../../../src/catalogue/file/file-data-and-problems.ts';
import {
  parameterSchemas,
  type ProviderKind,
  providerSchema as schema,
  type ProviderSettings,
} from '../../../src/catalogue/file/provider-schema.ts';
import { effectiveRules } from '../../../src/catalogue/models/input-rules.ts';

const baseUrl = 'https://upstream.example/v1';

function parsed(fields: object): ProviderSettings {
  return schema.parse({ baseUrl, ...fields });
}

function faultsOf(fields: object): readonly string[] {
  return parseFileData(schema, { baseUrl, ...fields }).problems.map(
    ({ path, message }) => `${path.join('.')}: ${message}`,
  );
}

test('hosted upstreams take twenty jobs and never a second one for a task; own servers take one job and make it again', () => {
  const kinds = Object.keys(parameterSchemas).filter((kind) => kind !== 'preview');
  const defaults = kinds.map((kind) => {
    const settings = schema.parse({ kind, baseUrl, ...(kind === 'http' && { file: 'builtin:kie' }) });
    return [kind, settings.limit, settings.onLostJob, settings.failedJobs, settings.timeouts.submitSeconds];
  });
  assert.deepEqual(defaults, [
    ['own', 1, 'resubmit', 'billed', 60],
    ['ark', 20, 'fail', 'billed', 60],
    ['openai-videos', 1, 'fail', 'billed', 60],
    ['comfyui', 1, 'resubmit', 'billed', 60],
    ['comfy-v2', 1, 'fail', 'billed', 60],
    ['cog', 1, 'resubmit', 'billed', 60],
    ['http', 20, 'fail', 'billed', 60],
  ]);
});

test('Ark, which bills every job, cannot be told to make a second one', () => {
  assert.deepEqual(faultsOf({ kind: 'ark', onLostJob: 'resubmit' }), ['onLostJob: must be fail']);
});

test('a refused video is made once more only where failed jobs are free, at a provider or at an entry', () => {
  const [free, repeats] = [{ failedJobs: 'free' }, { onRefusedOutput: 'resubmit' }];
  const resolved = (provider: object, entry: object) =>
    resolveCatalogue({
      providers: { ark: { kind: 'ark', baseUrl, ...provider } },
      models: [{ model: 'm', title: 'M', prices: [{ creditsPerSecond: 1 }], tiers: [[{ provider: 'ark', ...entry }]] }],
    });
  const entryOf = (provider: object, entry: object) =>
    resolved(provider, entry).catalogue?.models.get('m')?.tiers[0]?.[0]?.onRefusedOutput;
  assert.equal(entryOf(free, {}), undefined);
  assert.equal(entryOf({ ...free, ...repeats }, {}), 'resubmit');
  assert.equal(entryOf(free, repeats), 'resubmit');
  assert.equal(entryOf({ ...free, ...repeats }, { onRefusedOutput: 'fail' }), undefined);
  const message = 'must be fail unless the provider has failedJobs: free, because the refused job is paid';
  const problemsOf = (provider: object, entry: object) =>
    resolved(provider, entry).problems.map((one) => `${one.path.join('.')}: ${one.message}`);
  assert.deepEqual(problemsOf(repeats, {}), [`providers.ark.onRefusedOutput: ${message}`]);
  assert.deepEqual(problemsOf({}, repeats), [`models.0.tiers.0.0.onRefusedOutput: ${message}`]);
  assert.deepEqual(faultsOf({ kind: 'ark', onRefusedOutput: 'retry' }), [
    'onRefusedOutput: must be one of fail, resubmit',
  ]);
});

test('prompts refer to images in Ark’s own way, unless the file says another', () => {
  const spelling = (fields: object) => schema.parse({ kind: 'ark', baseUrl, ...fields }).imageReference;
  assert.equal(spelling({}), '@Image{n}');
  assert.equal(spelling({ imageReference: '[Image{n}]' }), '[Image{n}]');
  assert.equal(schema.parse({ kind: 'own', baseUrl }).imageReference, undefined);
});

test('an address with a secret in it, or with what no path can follow, is refused', () => {
  const wrong = [
    'https://user:key@x.example',
    'https://key@x.example',
    'https://:key@x.example',
    'https://x.example/?key=1',
    'https://x.example/#a',
  ];
  for (const url of [...wrong, 'ftp://x.example', 'x.example', '', 'https://', 'https://x example', 7]) {
    assert.equal(faultsOf({ kind: 'own', baseUrl: url }).length, 1, String(url));
  }
  const settings = parsed({ kind: 'own', baseUrl: 'http://127.0.0.1:9000/v1//' });
  assert.equal('baseUrl' in settings && settings.baseUrl, 'http://127.0.0.1:9000/v1');
});

test('the paths of a server like Ark begin with a slash, that of a job has its id, and a video is in a field by name', () => {
  const faults = (fields: object) => faultsOf({ kind: 'ark', ...fields });
  for (const path of ['v2/videos', '/', '/a b', '/a?b=1', '/a#b', `/${'x'.repeat(201)}`])
    assert.deepEqual(
      faults({ paths: { create: path, list: path } }),
      ['create', 'list'].map((name) => `paths.${name}: must be a path, such as /v2/video_generation`),
      path,
    );
  for (const path of ['/v2/videos', '/v2/a.b/c-d_e', `/${'x'.repeat(200)}`])
    assert.deepEqual(faults({ paths: { create: path, list: path, get: '/v2/{id}/status' } }), [], path);
  assert.deepEqual(faults({ paths: { get: '/v2/status' } }), ['paths.get: must contain {id}']);
  for (const resultPath of ['', 'a.', '.a', 'a..b', 'a b', 'a.b.c.d.e.f.g'])
    assert.deepEqual(
      faults({ resultPath }),
      ['resultPath: must be names of fields with dots between them'],
      resultPath,
    );
  for (const resultPath of ['a', 'a.b_1.c.d.e.f']) assert.deepEqual(faults({ resultPath }), [], resultPath);
});

test('a key is a reference, to one place, and never to a setting of this service', () => {
  const forms = [{ env: 'ARK_API_KEY' }, { file: './ark.key' }];
  for (const key of forms) assert.deepEqual(faultsOf({ kind: 'ark', key }), []);
  const wrong: readonly unknown[] = [
    'sk-live-1',
    {},
    { env: 'A', file: 'b' },
    { value: 'sk-live-1' },
    { 'sk-live-1': null },
    { env: 'KEY', 'sk-live-1': null },
    { env: 'sk-live-1' },
  ];
  const ours = ['VIDEOGEN_SECRET', 'DATABASE_URL', 'TEMPORAL_API_KEY', 'PGPASSWORD'].map((env) => ({ env }));
  for (const key of [...wrong, ...ours]) {
    const faults = faultsOf({ kind: 'ark', key }).join();
    assert.match(faults, /key/, JSON.stringify(key));
    assert.doesNotMatch(faults, /sk-live/);
  }
});

test('a setting that a kind does not have is refused, with what was probably meant', () => {
  assert.deepEqual(faultsOf({ kind: 'comfyui', uploads: true }).length, 1);
  assert.deepEqual(faultsOf({ kind: 'cog', pollsPerSecond: 3 }).length, 1);
  assert.deepEqual(faultsOf({ kind: 'own', limitt: 3 }), ['limitt: unknown field, did you mean limit?']);
  assert.match(faultsOf({ kind: 'comfy' }).join(), /kind: must be one of own, .*did you mean comfyui\?/);
});

test('parameters are those of the kind, and none that the task decides', () => {
  const faults = (kind: ProviderKind, parameters: unknown) =>
    parseFileData<unknown>(parameterSchemas[kind], parameters).problems.length;
  assert.equal(faults('openai-videos', { width: 1344, height: 768, fps: 24, steps: 50, extra: { task: 't2va' } }), 0);
  assert.equal(faults('openai-videos', { form: { tenant: 'studio-7', shots: 2, draft: true } }), 0);
  assert.equal(faults('openai-videos', { form: { tenant: ['studio-7'] } }), 1);
  assert.equal(faults('openai-videos', { widht: 1344 }), 1);
  assert.equal(faults('ark', { watermark: false, priority: 1 }), 0);
  assert.equal(faults('ark', { model: 'x', callback_url: 'https://x.example' }), 2);
  assert.equal(faults('comfyui', {}), 1);
  assert.equal(faults('cog', { input: { prompt: '{{prompt}}', go_fast: true }, fps: 16 }), 0);
  assert.equal(faults('cog', { input: { prompt: '{{promt}}' } }), 1);
  assert.equal(faults('cog', {}), 1);
  assert.equal(faults('own', { any: ['thing', 1, null, { deep: true }] }), 0);
  const empty = '{"text":""}'.length;
  for (const [kind, at] of [
    ['own', (fields: object) => fields],
    ['openai-videos', (fields: object) => ({ form: fields })],
    ['openai-videos', (fields: object) => ({ extra: fields })],
  ] as const) {
    assert.equal(faults(kind, at({ text: 'x'.repeat(16_384 - empty) })), 0);
    assert.equal(faults(kind, at({ text: 'x'.repeat(16_385 - empty) })), 1);
  }
  assert.equal(faults('own', { text: '漢'.repeat(6_000) }), 1);
  assert.equal(faults('http', { factor: Number.NaN }), 1);
});

test('what is known of an upstream narrows what is sent there', () => {
  const ark = parsed({ kind: 'ark' });
  const sglang = parsed({ kind: 'openai-videos', dialect: 'sglang' });
  const elsewhere = parsed({ kind: 'ark', paths: { create: '/v2/video_generation', get: '/v2/query/{id}' } });
  const of = (settings: ProviderSettings, model: string) => effectiveRules(knownUpstreamRules(settings, model));
  assert.deepEqual(of(ark, 'dreamina-seedance-2-5-260628').ratiosWithImages, ['adaptive']);
  assert.equal(of(ark, 'dreamina-seedance-2-0-260128').ratiosWithImages.length, 7);
  assert.equal(of(ark, 'dreamina-seedance-2-0-260128').images.minPx, 300);
  assert.equal(of(ark, 'dreamina-seedance-2-0-260128').framesWithReferences, false);
  assert.deepEqual(knownUpstreamRules(elsewhere, 'MiniMax-H3'), []);
  assert.equal(of(sglang, 'Wan-AI/Wan2.2').images.max, 1);
  assert.equal(of(parsed({ kind: 'openai-videos' }), 'm').framesWithReferences, false);
  assert.equal(of(parsed({ kind: 'own' }), 'm').framesWithReferences, true);
});

test('what is known of each upstream, in full', () => {
  const images = { minPx: 300, maxPx: 6000, minAspect: 0.4, maxAspect: 2.5 };
  const ofArk = { images, framesWithReferences: false, lastFrameAlone: false, textCommands: true };
  const apart = { framesWithReferences: false };
  const commands = { textCommands: true };
  const elsewhere = { paths: { create: '/v2/generate' } };
  for (const [fields, model, expected] of [
    [{ kind: 'ark' }, 'm', [ofArk]],
    [{ kind: 'ark' }, 'seedance-2-5', [{ ...ofArk, ratiosWithImages: ['adaptive'] }]],
    [{ kind: 'ark', ...elsewhere }, 'm', []],
    [{ kind: 'ark', ...elsewhere }, 'seedance-2-5', [commands]],
    [{ kind: 'openai-videos' }, 'm', [apart]],
    [{ kind: 'openai-videos', dialect: 'openrouter' }, 'seedance', [commands, apart]],
    [{ kind: 'openai-videos', dialect: 'vllm-omni' }, 'm', [{ ...apart, lastFrameAlone: false }]],
    [{ kind: 'openai-videos', dialect: 'sglang' }, 'm', [{ ...apart, images: { max: 1 } }]],
    [{ kind: 'own' }, 'seedance', []],
    [{ kind: 'http', file: './none.yaml' }, 'm', []],
    [{ kind: 'http', file: './none.yaml' }, 'seedance', [commands]],
  ] as const)
    assert.deepEqual(knownUpstreamRules(parsed(fields), model), expected, `${JSON.stringify(fields)} ${model}`);
});
