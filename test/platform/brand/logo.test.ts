import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readLogo } from '../../../src/platform/brand/logo.ts';

const folder = mkdtempSync(join(tmpdir(), 'videogen-logo-'));
after(() => rmSync(folder, { recursive: true }));
const path = join(folder, 'logo');

/** A file of so many bytes that begins like this. */
function readFrom(start: string, size: number) {
  const bytes = Buffer.alloc(size);
  bytes.write(start, 'latin1');
  writeFileSync(path, bytes);
  return readLogo(path);
}

test('a logo is a PNG or WebP of at most 256 KB, by its first bytes', () => {
  const [png, webp] = ['\x89PNG\r\n\x1a\n', 'RIFF\0\0\0\0WEBP'];
  assert.equal(readFrom(png, 256 * 1024).type, 'image/png');
  assert.equal(readFrom(webp, 256 * 1024).type, 'image/webp');
  assert.throws(() => readFrom(png, 256 * 1024 + 1), /at most 256 KB/);
  for (const start of [
    '<svg xmlns="http://www.w3.org/2000/svg"/>',
    '\x89PNG\r\n\x1a',
    'RIFF\0\0\0\0WAVE',
    'XIFF\0\0\0\0WEBP',
    'GIF89a',
  ])
    assert.throws(() => readFrom(start, 100), /must be a PNG or WebP file/, start);
});

test('the version of a logo, which is part of its address, changes with the file', () => {
  const versions = [100, 101, 100].map((size) => readFrom('\x89PNG\r\n\x1a\n', size).version);
  assert.equal(versions[0], versions[2]);
  assert.notEqual(versions[0], versions[1]);
});
