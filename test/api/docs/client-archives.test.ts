import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync, unzipSync } from 'fflate';
import { listClientArchiveNames } from '../../../src/api/docs/client-archives.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';

let service: HttpService;
let folder: string;
before(async () => {
  service = await startHttpService();
  folder = await mkdtemp(join(tmpdir(), 'videogen-clients-'));
});
after(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

test('the service serves its clients, by the names that the quickstart and their READMEs use', async () => {
  const names = listClientArchiveNames();
  assert.equal(names.length, 2);
  const { json } = await service.send('GET', '/clients');
  const clients = names.map((name) => `http://media.test/clients/${name}`);
  assert.deepEqual(json, { code: 200, msg: 'success', data: { clients } });
  const pages = await Promise.all(
    ['docs/quickstart.md', 'clients/typescript/README.md', 'clients/python/README.md'].map((page) =>
      readFile(page, 'utf8'),
    ),
  );
  for (const name of names) {
    assert.equal(pages.filter((page) => page.includes(`/clients/${name}`)).length, 2, name);
  }
  const named = pages.flatMap((page) =>
    [...page.matchAll(/\/clients\/([\w.-]+\.(?:tgz|whl))/g)].map(([, name = '']) => name),
  );
  assert.deepEqual([...new Set(named)].toSorted(), names);
});

test('npm installs the archive for TypeScript, and its main file is there', async () => {
  const [archive = ''] = listClientArchiveNames().filter((name) => name.endsWith('.tgz'));
  const { status, headers, bytes } = await service.send('GET', `/clients/${archive}`);
  assert.deepEqual([status, headers['content-type']], [200, 'application/gzip']);
  assert.equal(headers['cache-control'], 'public, max-age=3600');
  await writeFile(join(folder, archive), bytes);
  await writeFile(join(folder, 'package.json'), '{"private": true, "type": "module"}');
  const options = ['install', '--offline', '--no-audit', '--no-fund', `./${archive}`];
  execFileSync('npm', options, { cwd: folder, stdio: 'pipe', shell: process.platform === 'win32' });
  const main = `import { createClient } from 'videogen-client'; console.log(typeof createClient)`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', main], { cwd: folder });
  assert.equal(printed.toString(), 'function\n');
  assert.ok(gunzipSync(bytes).length > bytes.length);
});

test('the wheel records the digest and the length of each of its files', async () => {
  const [wheel = ''] = listClientArchiveNames().filter((name) => name.endsWith('.whl'));
  const { status, bytes } = await service.send('GET', `/clients/${wheel}`);
  assert.equal(status, 200);
  const files = unzipSync(bytes);
  const [info = ''] = Object.keys(files).filter((name) => name.endsWith('/RECORD'));
  const text = (name: string) => Buffer.from(files[name] ?? []).toString();
  const recorded = text(info)
    .trim()
    .split('\n')
    .map((line) => line.split(',')[0]);
  assert.deepEqual(new Set(recorded), new Set(Object.keys(files)));
  const { createHash } = await import('node:crypto');
  for (const line of text(info).trim().split('\n').slice(0, -1)) {
    const [name = '', digest, length] = line.split(',');
    const content = Buffer.from(files[name] ?? []);
    assert.equal(digest, `sha256=${createHash('sha256').update(content).digest('base64url')}`, name);
    assert.equal(Number(length), content.length, name);
  }
  const metadata = text(info.replace('RECORD', 'METADATA'));
  assert.match(metadata, /^Name: videogen-gateway$/m);
  assert.match(metadata, /^Requires-Dist: httpx/m);
  assert.match(metadata, /^Requires-Dist: standardwebhooks/m);
  assert.ok(files['videogen_gateway/__init__.py'] && files['videogen_gateway/py.typed']);
});

test('llms.txt names the documents, and each of its pages is served', async () => {
  const { status, headers, bytes } = await service.send('GET', '/llms.txt');
  assert.deepEqual([status, headers['content-type']], [200, 'text/plain; charset=utf-8']);
  assert.equal(headers['cache-control'], 'no-cache');
  assert.match(bytes.toString(), /^# Videogen\n\n> /);
  assert.doesNotMatch(bytes.toString(), /: $/m, 'each has a subject');
  const paths = [...bytes.toString().matchAll(/\(http:\/\/media\.test(\/[^)]+)\)/g)].map(([, path = '']) => path);
  assert.ok(paths.length >= 8);
  for (const path of paths.filter((one) => one !== '/mcp'))
    assert.equal((await service.send('GET', path)).status, 200, path);
});
