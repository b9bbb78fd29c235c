import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { playExample } from '../../../src/providers/http/example.ts';
import { readProviderFile } from '../../../src/providers/http/file-schema.ts';

const folder = new URL('.', import.meta.resolve('#assets/providers/kie.yaml'));

for (const name of readdirSync(folder)) {
  describe(`the shipped file ${name}`, async () => {
    const { file, problems } = readProviderFile(parse(readFileSync(new URL(name, folder), 'utf8')));
    test('has no problems', () => assert.deepEqual(problems, []));
    if (file === undefined) return;
    for (const { exchange, differences } of await playExample(file)) {
      test(`${exchange.step}: HTTP ${exchange.status} ${JSON.stringify(exchange.answer ?? null).slice(0, 100)} means ${exchange.means}`, () => {
        assert.deepEqual(differences, []);
      });
    }
  });
}
