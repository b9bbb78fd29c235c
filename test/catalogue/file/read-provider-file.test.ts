import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { readProviderFileAt } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { ConfigError } from '../../../src/platform/setup-errors-and-error-messages.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('a file of a provider is read by its path or its built-in name', async (t) => {
  const path = join(await temporaryFolder(t), 'copy.yaml');
  const text = readFileSync('assets/providers/kie.yaml', 'utf8');
  await writeFile(path, text);
  // As JSON, because the functions of two equal expressions differ.
  const [copied, own, other] = [path, 'builtin:kie', 'builtin:kling'].map((one) =>
    JSON.stringify(readProviderFileAt(one)),
  );
  assert.equal(copied, own);
  assert.notEqual(other, own);
});

test('the problems of a file of a provider are reported with its path, and an unknown built-in name alone', async (t) => {
  const folder = await temporaryFolder(t);
  const problemsOf = (path: string) => {
    try {
      readProviderFileAt(path);
    } catch (error) {
      assert.ok(error instanceof ConfigError);
      return error.problems;
    }
    return [];
  };
  const [missing, broken, wrong] = ['missing.yaml', 'broken.yaml', 'wrong.yaml'].map((name) => join(folder, name));
  assert.ok(missing !== undefined && broken !== undefined && wrong !== undefined);
  await writeFile(broken, 'a: 1\na: 2\n');
  await writeFile(wrong, '7');
  assert.deepEqual(problemsOf(missing), [`${missing}: cannot be read (ENOENT)`]);
  assert.deepEqual(problemsOf(broken), [`${broken}: line 2, column 1: no valid YAML: Map keys must be unique`]);
  assert.deepEqual(problemsOf(wrong), [`${wrong}: must be a map`]);
  assert.deepEqual(problemsOf('builtin:klling'), ['unknown built-in file, did you mean kling?']);
  assert.deepEqual(problemsOf('builtin:../kie'), ['builtin:../kie: cannot be read (ENOENT)']);
});
