import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { appendFile, cp, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { reserveFreePort } from '../src/run/embedded/local-ports.ts';
import { createTask, recordInfo } from './support/service/call-api.ts';
import { waitFor } from './support/wait-for.ts';

const run = promisify(execFile);
/** The image is built from these. Tests are not part of it, and take half of the time. */
const sources = ['src', 'activities', 'workflows', 'clients', 'build.mjs', 'tsconfig.json', 'package.json'].concat(
  'openapi.json',
);
/** A file of the previous build, without a source. */
const shortLived = 'dist/src/short-lived.js';
/** A build is the longest that a test waits for. */
const buildLimitMs = 15 * 60_000;
/** The build of this checkout stands in for a first one, which would take as long as the one that is tested. */
const isOfBuild = (path: string) => !/^dist\/(?:build\.json|test\/|bench\/)/.test(path);

describe('the build, in a checkout of its own', () => {
  let checkout: string;
  let modules: string;
  const build = (...args: readonly string[]) => run(process.execPath, ['build.mjs', ...args], { cwd: checkout });
  const builtAt = async () => (await stat(join(checkout, 'dist/build.json'))).mtimeMs;
  before(async () => {
    checkout = await mkdtemp(join(tmpdir(), 'videogen-build-'));
    modules = join(checkout, 'node_modules');
    for (const path of sources) await cp(path, join(checkout, path), { recursive: true });
    await cp('dist', join(checkout, 'dist'), { recursive: true, filter: isOfBuild });
    await symlink(resolve('node_modules'), modules);
    await writeFile(join(checkout, shortLived), 'export const shortLived = 1;\n');
  });
  after(() => rm(checkout, { recursive: true, force: true }));

  test('a running service and its command line go on while changed sources are built, and make a video after it', async () => {
    const port = await reserveFreePort();
    const baseUrl = `http://127.0.0.1:${port}`;
    const { DATABASE_URL: _, TEMPORAL_ADDRESS: __, ...rest } = process.env;
    const env = { ...rest, VIDEOGEN_DATA: join(checkout, 'data'), PORT: String(port) };
    const service = spawn(process.execPath, ['dist/src/run/cli/cli.js', 'start'], {
      cwd: checkout,
      env,
      stdio: 'pipe',
    });
    const output: string[] = [];
    for (const stream of [service.stdout, service.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => output.push(text));
    try {
      const key = await waitFor('the key', () => /vg_\w+/.exec(output.join(''))?.[0]);
      // In a file that every program loads.
      await appendFile(join(checkout, 'src/platform/database/database.ts'), '\nvoid process.argv0.length;\n');
      const building = { isDone: false };
      const done = build('--if-needed').finally(() => (building.isDone = true));
      // Written last. What is served changes only after it, when the build moves its files.
      const lastFile = join(checkout, 'dist.next/console/metafile.json');
      const isThere = () => (building.isDone || existsSync(lastFile) ? true : undefined);
      await waitFor('the last file', isThere, buildLimitMs);
      do {
        assert.equal((await recordInfo({ baseUrl, key }, 'none')).status, 404);
        const { stdout } = await run(process.execPath, ['dist/src/run/cli/cli.js', 'account', '--help'], {
          cwd: checkout,
        });
        assert.match(stdout, /^Usage: videogen account/);
      } while (!building.isDone);
      await done;
      assert.match(await readFile(join(checkout, 'dist/src/platform/database/database.js'), 'utf8'), /process\.argv0/);
      assert.ok(!existsSync(join(checkout, shortLived)), 'a file whose source is gone is removed');
      assert.ok(!existsSync(join(checkout, 'dist.next')));
      const input = { prompt: 'a paper boat', duration: 4, generateAudio: true };
      const { status, body } = await createTask({ baseUrl, key }, { model: 'videogen-2.0-fast', input });
      assert.equal(status, 200, body.msg);
      const state = await waitFor('the end of the task', async () => {
        const { body: record } = await recordInfo({ baseUrl, key }, String(body.data['taskId']));
        return record.data['completeTime'] === null ? undefined : record.data['state'];
      });
      assert.equal(state, 'success');
    } finally {
      service.kill('SIGTERM');
      if (service.exitCode === null) await once(service, 'exit');
    }
  });

  test('"prepare", which npx runs before each command, does nothing while dist is current', async () => {
    const { scripts } = JSON.parse(await readFile('package.json', 'utf8')) as { scripts: Record<string, string> };
    assert.equal(
      scripts['prepare'],
      'node ops/prune-packages.mjs && node build.mjs --if-needed && node ops/fetch-programs.mjs',
    );
    // A build that did something would need them.
    await rm(modules);
    await build('--if-needed');
    await writeFile(join(checkout, shortLived), 'export const shortLived = 1;\n');
    await assert.rejects(build('--if-needed'), 'dist is not what was built');
    await rm(join(checkout, shortLived));
    await build('--if-needed');
    await symlink(resolve('node_modules'), modules);
  });

  test('a quick build checks no types and keeps the bundles of unchanged files; the next full build checks them', async () => {
    const file = join(checkout, 'src/accounts/accounts.ts');
    const bundles = ['workflow-bundle.js', 'workflow-bundle-traced.js', 'console/index.html'];
    const versions = () => Promise.all(bundles.map(async (name) => (await stat(join(checkout, 'dist', name))).ino));
    const [text, before_] = [await readFile(file, 'utf8'), await versions()];
    await writeFile(file, `${text}\nexport const unchecked: string = 1;\n`);
    await build('--if-needed', '--quick');
    assert.match(await readFile(join(checkout, 'dist/src/accounts/accounts.js'), 'utf8'), /unchecked = 1/);
    assert.deepEqual(await versions(), before_);
    await assert.rejects(build('--if-needed'), ({ stdout }: { stdout: string }) => stdout.includes('accounts.ts'));
    await writeFile(file, text);
    await appendFile(join(checkout, 'workflows/video-task.ts'), '\nvoid 0;\n');
    await build('--if-needed', '--quick');
    const after_ = await versions();
    assert.deepEqual(
      after_.map((version, index) => version === before_[index]),
      [false, false, true],
      'only the changed bundles are built',
    );
  });

  test('a build that fails leaves the one before as it was', async () => {
    const earlier = await builtAt();
    await appendFile(join(checkout, 'src/broken.ts'), 'export const broken: string = 1;\n');
    // The compiler speaks on standard output.
    await assert.rejects(build(), ({ stdout }: { stdout: string }) => stdout.includes('broken.ts'));
    await rm(join(checkout, 'src/broken.ts'));
    assert.equal(await builtAt(), earlier);
    assert.ok(existsSync(join(checkout, 'dist/src/run/cli/cli.js')) && !existsSync(join(checkout, 'dist.next')));
  });
});
