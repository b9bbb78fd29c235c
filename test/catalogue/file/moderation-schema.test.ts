import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCatalogueOrThrow } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { ConfigError, SetupError } from '../../../src/platform/setup-errors-and-error-messages.ts';
import type { SecretReader } from '../../../src/catalogue/file/provider-schema.ts';

const url = 'https://hook.test/v1/moderations';

function modelWith(moderation: unknown, readHookSecret?: SecretReader) {
  const models = [{ model: 'm', title: 'M', prices: [{ creditsPerSecond: 7 }], moderation }];
  const readText = () => JSON.stringify({ models });
  const source = { path: 'x', readText, ...(readHookSecret !== undefined && { readHookSecret }) };
  return readCatalogueOrThrow(source).models.get('m')?.moderation;
}

test('a hook needs its shape and address, and has defaults for the rest', () => {
  const common = { url, timeoutSeconds: 5, onError: 'refuse', concurrency: 32 };
  const openai = { shape: 'openai', ...common, model: 'omni-moderation-latest' };
  assert.deepEqual(modelWith({ shape: 'openai', url }), openai);
  assert.deepEqual(modelWith({ shape: 'plain', url }), { shape: 'plain', ...common });
  assert.deepEqual(modelWith({ shape: 'none' }), { shape: 'none' });
  assert.equal(modelWith(undefined), undefined);
});

const atModel = 'x: models[0].moderation';
for (const [moderation, ...problems] of [
  [{ url }, '.shape: must be one of openai, plain, none'],
  [{ shape: 'opnai', url }, '.shape: must be one of openai, plain, none; did you mean openai?'],
  [{ shape: 'openai' }, '.url: is required'],
  ['none', ': must be a map'],
  [
    { shape: 'plain', url: 'https://u:p@hook.test', model: 'x', onError: 'alow', timeoutSeconds: 31, concurrency: 0 },
    '.url: must be an http or https URL without user, password, query or fragment',
    '.timeoutSeconds: must be at most 30',
    '.onError: must be one of allow, refuse; did you mean allow?',
    '.concurrency: must be at least 1',
    '.model: unknown field, allowed: shape, url, key, timeoutSeconds, onError, concurrency',
  ],
  [
    { shape: 'openai', url, key: 'sk-live-1' },
    '.key: must be { env: NAME } or { file: PATH }; the secret itself does not belong in this file',
  ],
  [{ shape: 'none', url }, '.url: unknown field, allowed: shape'],
] as const)
  test(`${JSON.stringify(moderation)} is refused with every reason`, () => {
    assert.throws(
      () => modelWith(moderation),
      (error) => {
        assert.ok(error instanceof ConfigError);
        assert.deepEqual([...error.problems].toSorted(), problems.map((problem) => atModel + problem).toSorted());
        return true;
      },
    );
  });

test('the API, which calls hooks, needs their secrets; other processes do not', () => {
  const moderation = { shape: 'plain', url, key: { env: 'HOOK_KEY' } };
  assert.ok(modelWith(moderation));
  const missing = () => () => {
    throw new SetupError('is not set: the variable or file that it names is missing or empty');
  };
  const problems = [`${atModel}.key: is not set: the variable or file that it names is missing or empty`];
  assert.throws(
    () => modelWith(moderation, missing),
    (error) => {
      assert.ok(error instanceof ConfigError);
      assert.deepEqual(error.problems, problems);
      return true;
    },
  );
  assert.ok(modelWith(moderation, () => () => 'secret'));
});
