import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { playExample } from '../../../src/providers/http/play-example-exchanges.ts';
import { parseProviderFile } from '../../../src/catalogue/providers/provider-file-schema.ts';
import { fieldsPassedByFile } from '../../../src/catalogue/providers/fields-passed-by-provider-file.ts';
import { inputFieldNames } from '../../../src/catalogue/input/task-input.ts';

const folder = new URL('.', import.meta.resolve('#assets/providers/kie.yaml'));

for (const name of readdirSync(folder)) {
  describe(`the shipped file ${name}`, async () => {
    const { file, problems } = parseProviderFile(parse(readFileSync(new URL(name, folder), 'utf8')));
    test('has no problems', () => assert.deepEqual(problems, []));
    if (file === undefined) return;
    for (const { exchange, differences } of await playExample(file)) {
      test(`${exchange.step}: HTTP ${exchange.status} ${JSON.stringify(exchange.answer ?? null).slice(0, 100)} means ${exchange.means}`, () => {
        assert.deepEqual(differences, []);
      });
    }
  });
}

test('a shipped file limits prompts as the vendor documents, or says why it does not', () => {
  for (const name of readdirSync(folder)) {
    const text = readFileSync(new URL(name, folder), 'utf8');
    const { file } = parseProviderFile(parse(text));
    const isLimited = file?.rules.some((rule) => rule.models === undefined && rule.maxPromptCharacters !== undefined);
    assert.ok(isLimited === true || /^# No maxPromptCharacters\b.*: ./m.test(text), name);
  }
});

test('the shipped files pass on every field that their comments do not exclude, and options under their own names', () => {
  const lacking = Object.fromEntries(
    readdirSync(folder).map((name) => {
      const { fields, options } = fieldsPassedByFile(parse(readFileSync(new URL(name, folder), 'utf8')));
      assert.equal(options, 'all', name);
      return [name.replace('.yaml', ''), inputFieldNames.filter((field) => !fields.has(field))];
    }),
  );
  const clips = ['videoUrls', 'audioUrls'];
  assert.deepEqual(lacking, {
    'fal-seedance': ['negativePrompt'],
    kie: ['negativePrompt', 'seed'],
    kling: [...clips, 'seed'],
    luma: ['negativePrompt', 'generateAudio', ...clips, 'seed'],
    minimax: ['negativePrompt', 'ratio', 'generateAudio', ...clips, 'seed'],
    openrouter: ['negativePrompt'],
    pixverse: clips,
    'replicate-seedance': ['negativePrompt'],
    runway: clips,
    veo: ['generateAudio', ...clips, 'seed'],
    vidu: ['negativePrompt', ...clips],
    wan: ['generateAudio'],
    xai: ['negativePrompt', 'generateAudio', 'lastFrameUrl', ...clips, 'seed'],
  });
});
