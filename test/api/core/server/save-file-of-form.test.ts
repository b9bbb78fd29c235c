import assert from 'node:assert/strict';
import { access, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import type { Context } from '../../../../src/api/core/request-context-and-responses.ts';
import { HttpError } from '../../../../src/api/core/http-error.ts';
import { isMultipartForm, saveOnlyFileOfForm } from '../../../../src/api/core/server/save-file-of-form.ts';

let folder: string;
let saved = 0;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'videogen-form-'));
});
after(() => rm(folder, { recursive: true }));

const type = 'multipart/form-data; boundary=x';
const contextOf = (body: string, contentType = type) => {
  const req = Object.assign(Readable.from([Buffer.from(body, 'latin1')]), { headers: {} });
  // The parts of a context that the function reads.
  return { req, get: () => contentType } as unknown as Context;
};

/** The bytes of the only file of a form. */
async function fileOf(body: string, maxBytes = body.length): Promise<string> {
  const path = join(folder, String((saved += 1)));
  await saveOnlyFileOfForm(contextOf(body), path, maxBytes);
  await assert.rejects(access(`${path}.form`), { code: 'ENOENT' });
  return readFile(path, 'latin1');
}

const refused = (body: string, code: string, maxBytes?: number) =>
  assert.rejects(fileOf(body, maxBytes), (error) => error instanceof HttpError && error.code === code);

const field = (value: string) => `--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n${value}\r\n`;
const file = (content: string, boundary = '--x') =>
  `${boundary}\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n${content}\r\n`;
const end = '--x--\r\n';

test('a form is recognized by its type, in any case', () => {
  assert.equal(isMultipartForm(contextOf('', 'Multipart/Form-Data; boundary=x')), true);
  assert.equal(isMultipartForm(contextOf('', 'image/png')), false);
});

test('the file of a form is saved byte by byte, at each place and with any content', async () => {
  for (const content of ['', 'a', 'ab', '\r\n', 'a\r\n', 'a--x--\r\n', '\r\n--xy\r\n', '\r\n\r\n\xff\0']) {
    for (const form of [file(content), field('1') + file(content), file(content) + field('1')])
      assert.equal(await fileOf(form + end), content, JSON.stringify(form));
  }
  assert.equal(await fileOf(`--x\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n${end}`), '');
  assert.equal(await fileOf(field('without a name') + end), 'without a name');
});

test('a form has exactly one file', async () => {
  await refused(file('a') + file('b') + end, 'invalid_request');
  await refused(field('a') + field('b') + end, 'invalid_request');
  for (const malformed of ['', end, 'a', file('a'), `--x\r\nname\r\n${end}`])
    await refused(malformed, 'malformed_form');
});

test('a form has at most 19 parts, and the headers of each at most 8 KiB', async () => {
  const fields = (count: number) => field('1').repeat(count);
  assert.equal(await fileOf(fields(18) + file('a') + end), 'a');
  await refused(fields(19) + file('a') + end, 'invalid_request');
  const padded = (bytes: number) => {
    const head = `\r\nContent-Disposition: form-data; name="f"; filename="f"\r\nX: `;
    return `--x${head}${'y'.repeat(bytes - head.length - 4)}\r\n\r\na\r\n${end}`;
  };
  assert.equal(await fileOf(padded(8 * 1024)), 'a');
  await refused(padded(8 * 1024 + 1), 'malformed_form');
});

test('a form that is too large is refused, and no file is replaced', async () => {
  const form = file('a') + end;
  assert.equal(await fileOf(form, form.length), 'a');
  await refused(form, 'body_too_large', form.length - 1);
  const path = join(folder, 'existing');
  await saveOnlyFileOfForm(contextOf(form), path, form.length);
  await assert.rejects(saveOnlyFileOfForm(contextOf(file('b') + end), path, form.length), { code: 'EEXIST' });
  assert.equal(await readFile(path, 'latin1'), 'a');
});

/** Forms are read in blocks of this size. */
const block = 1024 * 1024;

for (const [where, boundary] of [
  ['', '--x'],
  [' and white space behind it', `--x${' '.repeat(60)}`],
] as const) {
  test(`a boundary${where} is found once at each place around the end of a block`, async () => {
    const head = field('').length - 2;
    const { length } = boundary;
    for (const [blocks, shift] of [
      ...[-length - 3, -length - 2, -length - 1, -length, -3, -2, -1, 0, 1, 2, 3].map((at) => [1, at] as const),
      [2, 0],
    ] as const) {
      const form = field('y'.repeat(blocks * block + shift - head - 2)) + file('content', boundary) + end;
      assert.equal(form.indexOf(boundary, 3), blocks * block + shift);
      assert.equal(await fileOf(form), 'content', `at ${blocks} blocks and ${shift}`);
    }
  });
}
