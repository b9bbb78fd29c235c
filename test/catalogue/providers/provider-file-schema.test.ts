import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { providerFileJsonSchema, parseProviderFile } from '../../../src/catalogue/providers/provider-file-schema.ts';
import { playExample } from '../../../src/providers/http/play-example-exchanges.ts';
import { shippedFile } from '../../providers/http/shipped-file.ts';

const kie = () => parse(readFileSync(new URL(import.meta.resolve('#assets/providers/kie.yaml')), 'utf8')) as object; // a map

describe('a provider file', () => {
  test('is no larger than what is kept with each job', () => {
    const { problems } = parseProviderFile({ ...kie(), headers: { 'x-note': 'x'.repeat(1_000) } });
    assert.deepEqual(problems, []);
    const create = { method: 'POST', path: "'/a'", json: `'${'x'.repeat(41_000)}'`, id: 'body.id' };
    assert.match(parseProviderFile({ ...kie(), create }).problems[0]?.message ?? '', /at most/);
  });

  test('gets all its problems in one report, each with its place', () => {
    const { problems } = parseProviderFile({
      ...kie(),
      auth: { kind: 'baerer' },
      imagez: 'link',
      headers: { 'X Y': 'v' },
      create: { path: "'/a", json: '$evel(1)', id: '/a+/', retries: 3 },
      status: { path: '1', state: '2', states: { ok: 'suceeded' } },
      errors: [{ code: '1', kind: 'contents' }],
    });
    assert.deepEqual(
      problems.map(({ path, message }) => [path.join('.'), message.split(',')[0]]),
      [
        ['auth.kind', 'must be one of none'],
        ['headers.X Y', 'must be the name of a header'],
        ['create.path', 'at character 3: String literal must be terminated by a matching quote'],
        ['create.json', 'at character 5: $evel: unknown function'],
        ['create.id', 'at character 4: patterns are not allowed; use $contains'],
        ['create.retries', 'unknown field'],
        ['status.states.ok', 'must be one of queued'],
        ['errors.0.kind', 'must be one of content'],
        ['imagez', 'unknown field'],
      ],
    );
    for (const { message } of problems.filter(({ path }) =>
      ['auth.kind', 'status.states.ok', 'imagez'].includes(path.join('.')),
    ))
      assert.match(message, /did you mean (bearer|succeeded|images)\?$/);
  });

  test('has a word for success, and an upload exactly if images are uploaded', () => {
    const problemsOf = (fields: object) =>
      parseProviderFile({ ...kie(), ...fields }).problems.map(({ path, message }) => `${path.join('.')}: ${message}`);
    const upload = { path: "'/upload'", field: 'file', value: 'body.id' };
    const status = { path: "'/a'", state: 'body.state', states: { done: 'running' } };
    assert.deepEqual(problemsOf({ status }), ['status.states: must have a word for succeeded']);
    const misplaced = ['upload: must stand in the file if images are uploaded, and not otherwise'];
    assert.deepEqual(problemsOf({ upload }), misplaced);
    assert.deepEqual(problemsOf({ images: 'upload' }), misplaced);
    assert.deepEqual(problemsOf({ images: 'upload', upload }), []);
  });

  test('that is no map has a fault, and none throws', () => {
    for (const data of [null, 1, 'x', [], { create: 1 }, { ...kie(), example: [] }])
      assert.notDeepEqual(parseProviderFile(data).problems, []);
  });

  test('with an example that it does not fulfil shows what differs', async () => {
    const file = shippedFile('kie', {
      status: { path: "'/other'", state: 'body.data.state', states: { success: 'succeeded' } },
    });
    const played = await playExample(file);
    const differences = played.flatMap(({ exchange, differences: all }) => (exchange.step === 'status' ? all : []));
    assert.match(differences.join('\n'), /sends GET \/other instead of GET \/api\/v1\/jobs\/recordInfo/);
    assert.match(differences.join('\n'), /means running instead of upstream/);
  });
});

describe('docs/provider-file.schema.json', () => {
  const committed = JSON.parse(readFileSync('docs/provider-file.schema.json', 'utf8')) as object; // written by us
  const isValid = new Ajv2020({ strict: false, validateFormats: false }).compile(committed);

  test('is what the schema says today; "npm run openapi" writes it', () => {
    assert.deepEqual(JSON.parse(JSON.stringify(providerFileJsonSchema())), committed);
  });

  test('finds nothing wrong with a file that is right, and a typo in one that is not', () => {
    isValid(kie());
    assert.deepEqual(isValid.errors ?? [], []);
    assert.equal(isValid({ ...kie(), imagez: 'link' }), false);
  });
});
