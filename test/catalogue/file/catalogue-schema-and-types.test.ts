import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { catalogueJsonSchema } from '../../../src/catalogue/file/catalogue-schema-and-types.ts';

const committed: object = JSON.parse(readFileSync('docs/catalogue.schema.json', 'utf8')) as object;
const ajv = new Ajv2020({ strict: false, validateFormats: false });
const isValid = ajv.compile(committed);

test('docs/catalogue.schema.json is what the schema of the file says today; "npm run openapi" writes it', () => {
  assert.deepEqual(JSON.parse(JSON.stringify(catalogueJsonSchema())), committed);
});

test('an editor with the published schema finds nothing wrong with the example', () => {
  isValid(parse(readFileSync('docs/catalogue.example.yaml', 'utf8')));
  assert.deepEqual(isValid.errors ?? [], []);
});

test('an editor with the published schema finds a typo, a wrong kind and a key that stands in the file', () => {
  const models = [{ model: 'm', title: 'M', prices: [{ creditsPerSecond: 1 }] }];
  const file = (provider: object) => ({ providers: { p: { baseUrl: 'http://x.example', ...provider } }, models });
  assert.equal(isValid(file({ kind: 'own', key: { env: 'KEY' } })), true);
  for (const provider of [
    { kind: 'own', limitt: 1 },
    { kind: 'owl' },
    { kind: 'own', key: 'sk-1' },
    { kind: 'own', key: {} },
  ]) {
    assert.equal(isValid(file(provider)), false, JSON.stringify(provider));
  }
});
