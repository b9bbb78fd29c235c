import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { jsonOnOneLine, secretInFile } from '../../../src/run/config/secret-files.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('a key file in JSON becomes one line, and any other text stays as it is', () => {
  assert.equal(jsonOnOneLine('{\n  "type": "service_account",\n  "n": [1]\n}\n'), '{"type":"service_account","n":[1]}');
  for (const text of ['a secret\n', '', '{"type":\n']) assert.equal(jsonOnOneLine(text), text);
});

test('a secret in a file is its text, and a file that cannot be read is refused without its path', async (t) => {
  const path = join(await temporaryFolder(t), 'secret');
  await writeFile(path, ' sécret\n');
  assert.equal(secretInFile(path), ' sécret\n');
  const missing = { name: 'SetupError', message: 'refers to a file that cannot be read (ENOENT)' };
  assert.throws(() => secretInFile(`${path}-of-none`), missing);
});
