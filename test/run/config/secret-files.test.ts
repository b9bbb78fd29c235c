import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { catalogueSecretReader } from '../../../src/run/config/config.ts';
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

test('a secret of a catalogue is one line from a variable or from a file in its folder', async (t) => {
  const folder = await temporaryFolder(t);
  const files = {
    plain: ' a secret \n',
    json: '{\n "key": "value"\n}\n',
    lines: 'a\nb',
    empty: '\n',
    accent: 'sécret',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const read = catalogueSecretReader(folder, { KEY: ' of a variable ', EMPTY: '' });
  assert.equal(read({ env: 'KEY' })(), 'of a variable');
  assert.equal(read({ file: 'plain' })(), 'a secret');
  assert.equal(read({ file: join(folder, 'plain') })(), 'a secret');
  assert.equal(read({ file: 'json' })(), '{"key":"value"}');
  for (const [ref, message] of [
    [{ env: 'EMPTY' }, /^is not set/],
    [{ env: 'ABSENT' }, /^is not set/],
    [{ file: 'empty' }, /^is not set/],
    [{ file: 'lines' }, /^must be one line of ASCII/],
    [{ file: 'accent' }, /^must be one line of ASCII/],
    [{ file: 'absent' }, /^refers to a file that cannot be read/],
  ] as const)
    assert.throws(read(ref), { name: 'SetupError', message });
});
