import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, copyFile, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { call, createTask } from '../support/service/call-api.ts';
import { plainImage } from '../support/hostile/hostile-images.ts';
import { createTestAccount, createTestEnvironment, type TestEnvironment } from '../support/service/test-service.ts';
import { waitForEnd } from '../support/tasks/tasks.ts';
import { waitFor } from '../support/wait-for.ts';
import { ffmpegPath } from '../providers/preview/render-support.ts';

// The conditions of a container: an unprivileged account, a read-only file system except VIDEOGEN_DATA, RESULT_STORE and TMPDIR, and an
// API without the packages of workers.

const unprivilegedId = 65_534;

const guard = `
const Module = require('node:module');
const missing = ['@temporalio/worker', '@temporalio/core-bridge', '@temporalio/testing'];
const isMissing = (name) => missing.some((one) => name === one || name.startsWith(one + '/'));
const resolve = Module._resolveFilename;
Module._resolveFilename = function (name, ...rest) {
  if (isMissing(name)) throw Object.assign(new Error('missing: ' + name), { code: 'MODULE_NOT_FOUND' });
  return resolve.call(this, name, ...rest);
};
const hooks = 'const missing = ' + JSON.stringify(missing) + '; const isMissing = ' + isMissing + ';' +
  'export async function resolve(name, context, next) { if (isMissing(name)) throw new Error("missing: " + name); return next(name, context); }';
Module.register('data:text/javascript,' + encodeURIComponent(hooks));
`;

const unshared = ['--mount', '--propagation', 'private'];

function skipReason(): string | false {
  if (process.getuid?.() !== 0) return 'only root may mount the file system read-only';
  try {
    execFileSync('unshare', [...unshared, 'mount', '-o', 'remount,bind,ro', '/'], { stdio: 'pipe' });
    execFileSync('setpriv', ['--version'], { stdio: 'pipe' });
    return false;
  } catch {
    return 'this machine cannot mount the file system read-only';
  }
}

describe('an unprivileged account on a file system that is read only', { skip: skipReason() }, () => {
  let environment: TestEnvironment;
  let folder: string;
  const running: ChildProcess[] = [];
  before(async () => {
    environment = await createTestEnvironment();
    folder = await mkdtemp(join(tmpdir(), 'videogen-read-only-'));
    await writeFile(join(folder, 'guard.cjs'), guard);
    // The account must get to its folders; those above are closed to it.
    for (let path = folder; path !== dirname(path); path = dirname(path)) {
      const { mode } = await stat(path);
      if ((mode & 0o011) !== 0o011) await chmod(path, (mode & 0o777) | 0o011);
    }
    await chmod(join(folder, 'guard.cjs'), 0o644);
    // The pinned one is in the home folder of the account that runs the tests.
    await copyFile(ffmpegPath(), join(folder, 'ffmpeg'));
    await chmod(join(folder, 'ffmpeg'), 0o755);
    for (const name of ['api', 'worker', 'results', 'tmp']) {
      await mkdir(join(folder, name));
      await chown(join(folder, name), unprivilegedId, unprivilegedId);
    }
  });
  after(async () => {
    for (const child of running) {
      const ended = once(child, 'exit');
      if (child.exitCode === null && child.kill('SIGTERM')) await ended;
    }
    await environment.close();
    await rm(folder, { recursive: true, force: true });
  });

  function start(name: 'api' | 'worker', extra: NodeJS.ProcessEnv = {}) {
    const writable = [name, 'results', 'tmp'].map((one) => join(folder, one));
    const env = {
      ...environment.environment,
      VIDEOGEN_DATA: join(folder, name),
      RESULT_STORE: join(folder, 'results'),
      TMPDIR: join(folder, 'tmp'),
      HOME: '/nonexistent',
      FFMPEG_PATH: join(folder, 'ffmpeg'),
      LOG_LEVEL: 'info',
      ...extra,
    };
    const mounts = `for d in ${writable.join(' ')}; do mount --bind $d $d; done; mount -o remount,bind,ro /`;
    const ids = ['--reuid', '--regid'].flatMap((option) => [option, String(unprivilegedId)]);
    const program = fileURLToPath(new URL(`../../src/run/main/${name}.js`, import.meta.url));
    const command = [...ids, '--clear-groups', process.execPath, program];
    const inside = ['sh', '-ec', `${mounts}; exec setpriv "$@"`, 'sh', ...command];
    const child = spawn('unshare', [...unshared, ...inside], { env, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] });
    running.push(child);
    const [stdout, stderr]: [string[], string[]] = [[], []];
    child.stdout.setEncoding('utf8').on('data', (text: string) => stdout.push(text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => stderr.push(text));
    return { child, stdout: () => stdout.join(''), stderr: () => stderr.join('') };
  }

  const withoutNative = () => ({
    NODE_OPTIONS: `--require ${join(folder, 'guard.cjs')}`,
    FFMPEG_PATH: '/nowhere/ffmpeg',
  });

  test('an API without the native library of the worker, and a worker, take an image and render a film', async () => {
    const api = start('api', withoutNative());
    const worker = start('worker');
    const baseUrl = environment.settings.publicUrl;
    await waitFor('the API', async () => {
      assert.equal(api.child.exitCode, null, api.stderr());
      const answer = await fetch(`${baseUrl}/readyz`).catch(() => undefined);
      return answer?.ok === true ? true : undefined;
    });
    const { key } = await createTestAccount(environment.database);
    const uploaded = await call({ baseUrl, key }, '/api/v1/uploads', {
      method: 'POST',
      headers: { 'content-type': 'image/png' },
      body: await plainImage(640, 360).png().toBuffer(),
    });
    assert.equal(uploaded.status, 200, uploaded.body.msg + api.stdout());
    const imageUrls = [uploaded.body.data['url']];
    const request = { model: 'videogen-2.0-fast', input: { prompt: 'a lighthouse at dusk', duration: 4, imageUrls } };
    const { status, body } = await createTask({ baseUrl, key }, request);
    assert.equal(status, 200, body.msg);
    const task = await waitForEnd(environment.database.db, String(body.data['taskId']));
    assert.equal(task.state, 'success', JSON.stringify(task.failure) + worker.stdout() + worker.stderr());
    for (const { stdout, stderr } of [api, worker]) assert.doesNotMatch(stdout() + stderr(), /EROFS|EACCES|Fontconfig/);
  });

  test('a worker needs that library, so the API really ran without it', async () => {
    const { child, stderr } = start('worker', withoutNative());
    await once(child, 'close');
    assert.notEqual(child.exitCode, 0);
    assert.match(stderr(), /missing: @temporalio\/worker/);
  });
});
