import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parameterSchemas, videoDialects } from '../../../src/catalogue/file/provider-schema.ts';
import { inputFieldNames } from '../../../src/catalogue/input/task-input.ts';
import { kinds } from '../../fakes/provider-kinds.ts';
import { carriedBy } from '../../support/every-field/carried-fields.ts';
import { fieldKinds } from '../../support/every-field/field-kinds.ts';

// test/service/every-field.full.test.ts compares the requests that upstreams get with the parts of requests that stand in
// test/support/every-field. Here it is only checked that no part and no kind is missing.

/** `preview` has no upstream. */
const declaredKinds = Object.keys(parameterSchemas).filter((kind) => kind !== 'preview');

for (const [name, kind] of Object.entries(fieldKinds)) {
  test(`each field that ${name} passes on has its part of a request, and no other field`, () => {
    const parts = new Set(kind.tasks.flatMap(({ sent }) => Object.keys(sent)));
    assert.deepEqual(
      inputFieldNames.filter((field) => parts.has(field)),
      carriedBy(kind),
    );
  });
}

test('a template can have a placeholder for every field', () => {
  for (const name of ['comfyui', 'comfy-v2', 'cog'])
    assert.deepEqual(carriedBy(fieldKinds[name] ?? assert.fail()), inputFieldNames);
});

test('each kind of provider, and each dialect, has requests with every field', () => {
  const tested = Object.values(fieldKinds).map(({ settings: { kind, dialect } }) => [kind, dialect].join(' '));
  const dialects = videoDialects.map((dialect) => `openai-videos ${dialect}`);
  const others = declaredKinds.filter((kind) => kind !== 'openai-videos');
  assert.deepEqual([...new Set(tested)].toSorted(), [...dialects, ...others.map((kind) => `${kind} `)].toSorted());
});

test('each kind of provider has a fake, against which the contract of providers is tested', () => {
  const faked = new Set([...kinds.values()].map(({ settings }) => settings['kind']));
  assert.deepEqual(
    declaredKinds.filter((kind) => !faked.has(kind)),
    [],
  );
});
