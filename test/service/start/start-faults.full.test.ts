import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { reserveFreePort } from '../../../src/run/embedded/local-ports.ts';
import { processesOf } from '../../support/processes/processes.ts';

// Each failed start prints one sentence without a stack, exits with 1 and leaves nothing running.

test('a port that is taken is named, with the setting that changes it', async (t) => {
  const port = await takenPort(t);
  const { stderr } = await failedStart(t, 'cli', { PORT: String(port) });
  assert.match(stderr, new RegExp(`^Port ${port} of 127\\.0\\.0\\.1 is in use by another program\\. .* set PORT`));
});

test('a port for metrics that is taken is named by its own setting', async (t) => {
  const port = await takenPort(t);
  const { stderr } = await failedStart(t, 'cli', { METRICS_PORT: String(port) });
  assert.match(stderr, new RegExp(`^Port ${port} .* set METRICS_PORT`));
});

test('a missing ffmpeg is reported before any server is started', async (t) => {
  const { stdout, stderr } = await failedStart(t, 'cli', { FFMPEG_PATH: '/nowhere/ffmpeg' });
  assert.match(stderr, /^FFMPEG_PATH: \/nowhere\/ffmpeg cannot be run/);
  assert.equal(stdout, '');
});

test('a worker without an ffmpeg reports it', async (t) => {
  const outside = { DATABASE_URL: 'postgres://127.0.0.1:1/x', TEMPORAL_ADDRESS: '127.0.0.1:1' };
  const rest = { VIDEOGEN_SECRET: 'the secret of the tests, long enough', FFMPEG_PATH: '/nowhere/ffmpeg' };
  const { stderr } = await failedStart(t, 'worker', { ...outside, ...rest });
  assert.match(stderr, /^FFMPEG_PATH: \/nowhere\/ffmpeg cannot be run/);
});

test('a data folder of another account is reported', async (t) => {
  const folder = await emptyFolder(t);
  await mkdir(join(folder, 'data'));
  // Its owner cannot write to it. Root could, so it drops its rights for this.
  await chmod(join(folder, 'data'), 0o500);
  const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  await chmod(folder, 0o755);
  const { stderr } = await failedStart(t, 'cli', { VIDEOGEN_DATA: join(folder, 'data') }, account);
  assert.match(stderr, /^The folder .*data cannot be used by this account: .*\(EACCES\)\. .* set VIDEOGEN_DATA/);
});

test('a damaged file of Temporal is reported with a fix, and our PostgreSQL is stopped', async (t) => {
  const data = await emptyFolder(t);
  await mkdir(join(data, 'temporal'));
  await writeFile(join(data, 'temporal', 'temporal.db'), 'no database '.repeat(1_000));
  const { stderr } = await failedStart(t, 'cli', { VIDEOGEN_DATA: data });
  assert.match(
    stderr,
    /^Temporal does not start on .*temporal\. If its file is damaged, delete all files `temporal\.db\*`/,
  );
});

test('a secret that cannot be read is reported, and our servers are stopped', async (t) => {
  const data = await emptyFolder(t);
  await mkdir(join(data, 'secret'));
  const { stderr } = await failedStart(t, 'cli', { VIDEOGEN_DATA: data, VIDEOGEN_SECRET: '' });
  assert.match(stderr, /^The secret in .*secret cannot be read \(EISDIR\)\. /);
});

type Account = { readonly uid?: number; readonly gid?: number };

async function failedStart(t: TestContext, name: 'cli' | 'worker', extra: NodeJS.ProcessEnv, account: Account = {}) {
  const data = extra['VIDEOGEN_DATA'] ?? (await emptyFolder(t));
  const { DATABASE_URL: _, TEMPORAL_ADDRESS: __, ...rest } = process.env;
  const base = {
    VIDEOGEN_DATA: data,
    RESULT_STORE: join(data, 'results'),
    PORT: String(await reserveFreePort()),
  };
  const program = fileURLToPath(
    new URL(`../../../src/run/${name === 'cli' ? 'cli' : 'main'}/${name}.js`, import.meta.url),
  );
  const child = spawn(process.execPath, [program, ...(name === 'cli' ? ['start'] : [])], {
    env: { ...rest, ...base, ...extra },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...account,
  });
  t.after(() => child.kill('SIGKILL'));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  assert.equal(child.exitCode, 1, stderr);
  assert.doesNotMatch(stderr, /^\s+at /m);
  assert.deepEqual(await processesOf({ folder: data }), []);
  return { stdout, stderr };
}

async function takenPort(t: TestContext): Promise<number> {
  const port = await reserveFreePort();
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return port;
}

async function emptyFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'videogen-start-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
