import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { reserveFreePort } from '../../../src/run/embedded/local-ports.ts';
import { type Api, call, createdTask, recordInfo, waitForRecord } from '../../support/service/call-api.ts';
import { processesOf } from '../../support/processes/processes.ts';
import { endOf, endPrograms } from '../../support/processes/programs.ts';
import { type Running, spawnVideogen, videogen } from '../../support/processes/run-videogen.ts';
import { waitFor } from '../../support/wait-for.ts';

// `npm start` on one data folder. The tests follow each other like the days of an installation.
describe('videogen start, with servers of its own', () => {
  let env: NodeJS.ProcessEnv;
  let data: string;
  let running: Running | undefined;
  let api: Api;
  before(async () => {
    data = await mkdtemp(join(tmpdir(), 'videogen-start-'));
    const port = await reserveFreePort();
    const { DATABASE_URL: _, TEMPORAL_ADDRESS: __, ...rest } = process.env;
    env = { ...rest, VIDEOGEN_DATA: data, PORT: String(port), PREVIEW_FAILURES: '1', READ_RATE: 'off' };
    api = { baseUrl: `http://127.0.0.1:${port}`, key: '' };
  });
  after(async () => {
    await endPrograms();
    await rm(data, { recursive: true, force: true });
  });

  /** Sends a request with the key of a new operator; the command finds the service by its data folder. */
  const asOperator = async (...request: readonly string[]) => {
    const { stdout } = await videogen(env, 'operator', 'create', 'ada', '--json');
    const { key } = JSON.parse(stdout) as { key: string }; // what --json prints
    return videogen({ ...env, VIDEOGEN_OPERATOR_KEY: key }, 'api', ...request);
  };
  const started = async () => {
    const service = spawnVideogen(env, 'start');
    running = service;
    await waitFor('the banner', () => {
      assert.equal(service.child.exitCode, null, service.stderr());
      return service.stdout().includes('Videogen is running') ? true : undefined;
    });
    return service;
  };
  test('the first start prints the addresses and a key that works', async () => {
    const { stdout } = await started();
    const banner = await waitFor('the key', () =>
      /^ {2}export VIDEOGEN_API_KEY=vg_/m.test(stdout()) ? stdout() : undefined,
    );
    assert.match(banner, new RegExp(`generate "a lighthouse in a storm" --duration 4 --base-url ${api.baseUrl}\n`));
    assert.match(banner, new RegExp(`^  ${api.baseUrl}/console/setup#[\\w-]{43}$`, 'm'));
    assert.match(banner, /Temporal UI\s+http:\/\/127\.0\.0\.1:\d+/);
    api = { ...api, key: /vg_\w+/.exec(banner)?.[0] ?? '' };
    assert.equal((await waitForRecord(api, await createdTask(api, '[[instant]] day one')))['state'], 'success');
  });

  test('the programs as they are shipped find the files of their packages: fonts for a drawn film, the documentation', async () => {
    assert.equal((await fetch(`${api.baseUrl}/docs/reference`)).status, 200);
    const input = { prompt: 'a paper boat', duration: 4, generateAudio: false };
    assert.equal((await waitForRecord(api, await createdTask(api, input)))['state'], 'success');
  });

  test('neither a callback nor an image reaches the servers of this installation: database, Temporal, API', async () => {
    const files = ['postgres/port', 'temporal/port', 'temporal/ui-port', 'temporal/http-port', 'temporal/metrics-port'];
    const ports = await Promise.all(files.map(async (file) => Number(await readFile(join(data, file), 'utf8'))));
    const urls = [...ports, new URL(api.baseUrl).port].map((port) => `http://127.0.0.1:${port}/`);
    const taskIds = await Promise.all(
      urls.map((url) => createdTask(api, { prompt: 'own ports', imageUrls: [url] }, { callBackUrl: url })),
    );
    for (const taskId of taskIds) {
      const record = await waitForRecord(api, taskId);
      assert.deepEqual([record['state'], record['failCode']], ['fail', 'image_unreachable']);
      await waitFor('the attempt', async () => {
        const { body } = await call(api, `/api/v1/callbacks?taskId=${taskId}`);
        return /"error":"unreachable"/.test(JSON.stringify(body)) ? true : undefined;
      });
      const { stdout } = await asOperator('GET', '/api/admin/v1/tasks/show', '-f', `taskId=${taskId}`);
      assert.match(stdout, /"networkError":\s*"blocked"/);
    }
  });

  test('other accounts of the machine can open nothing in the data folder', async () => {
    const open: string[] = [];
    for (const name of ['.', ...(await readdir(data, { recursive: true }))]) {
      const found = await stat(join(data, name)).catch(() => undefined);
      if (found !== undefined && (found.mode & 0o077) !== 0) open.push(`${(found.mode & 0o777).toString(8)} ${name}`);
    }
    assert.deepEqual(open, []);
  });

  test('the banner names the console, and commands find the service by its data folder', async () => {
    assert.match(running?.stdout() ?? '', new RegExp(`^  Console       ${api.baseUrl}/console$`, 'm'));
    assert.equal(await readFile(join(data, 'address'), 'utf8'), `${api.baseUrl}\n`);
  });

  test('a second start on the same folder fails, names the process that uses it, and leaves the first alone', async () => {
    const { code, stderr } = await videogen(env, 'start');
    assert.notEqual(code, 0);
    assert.match(stderr, new RegExp(`in use by process ${running?.child.pid}`));
    assert.equal((await recordInfo(api, 'none')).status, 404);
  });

  test('the commands work beside the running service, and --json prints one object and nothing else', async () => {
    const json = async (...args: string[]) => {
      const { code, stdout, stderr } = await videogen(env, ...args, '--json');
      assert.equal(code, 0, stderr);
      return JSON.parse(stdout) as Record<string, unknown>;
    };
    const accountId = String((await json('account', 'create', 'second', '--credits', '200'))['accountId']);
    assert.equal((await json('credits', 'grant', '300', '--account', 'second', '--reason', 'test'))['balance'], 500);
    const { key, keyId } = await json('key', 'create', '--account', accountId, '--scopes', 'tasks:write,tasks:read');
    const film = join(data, 'film.mp4');
    const options = ['--key', String(key), '--base-url', api.baseUrl, '--duration', '4', '--no-audio', '--out', film];
    const made = await json('generate', '[[instant]] by command', ...options);
    assert.equal(made['state'], 'success');
    assert.equal((await readFile(film)).subarray(4, 8).toString(), 'ftyp');
    const { stdout: shown } = await asOperator(
      'GET',
      '/api/admin/v1/tasks/show',
      '-f',
      `taskId=${String(made['taskId'])}`,
    );
    assert.match(shown, /"creditsCharged": 132,/);
    assert.deepEqual(await json('audit'), { violations: [] });
    assert.match(String((await json('callback-secret', 'show', '--account', accountId))['secret']), /^whsec_/);
    assert.equal((await asOperator('POST', '/api/admin/v1/keys/revoke', '-f', `keyId=${String(keyId)}`)).code, 0);
    assert.equal((await recordInfo({ ...api, key: String(key) }, String(made['taskId']))).status, 401);
  });

  test('a command that fails prints the reason and exits with 1', async () => {
    const unknownId = '01900000-0000-7000-8000-000000000000';
    const { code, stdout, stderr } = await videogen(
      env,
      'credits',
      'grant',
      '5',
      '--account',
      unknownId,
      '--reason',
      'x',
      '--json',
    );
    const error = `account not found: ${unknownId}`;
    assert.deepEqual([code, JSON.parse(stdout)], [1, { error }]);
    assert.match(stderr, /account not found/);
  });

  test('after kill -9 of all its processes the next start goes on with every task, and shows no second key', async () => {
    const taskIds: string[] = [];
    for (let i = 0; i < 3; i += 1) taskIds.push(await createdTask(api, '[[instant]] [[slow 5s]] survives'));
    // One that has ended meanwhile would be no reason to wait for the others.
    await waitFor('generation', async () => {
      const records = await Promise.all(taskIds.map((taskId) => recordInfo(api, taskId)));
      return records.some(({ body }) => ['generating', 'success'].includes(String(body.data['state']))) || undefined;
    });
    assert.ok(running);
    const numberIn = async (file: string) => Number.parseInt(await readFile(join(data, file), 'utf8'), 10);
    const servers = [await numberIn('postgres/cluster/postmaster.pid'), await numberIn('temporal/pid')];
    for (const pid of [running.child.pid ?? 0, ...servers]) process.kill(pid, 'SIGKILL');
    await endOf(running.child);
    await waitFor('the end of the servers', async () =>
      (await processesOf({ folder: data })).length === 0 ? true : undefined,
    );
    const { stdout } = await started();
    for (const taskId of taskIds) assert.equal((await waitForRecord(api, taskId))['state'], 'success');
    const anotherKey = await waitFor(
      'the command for another key',
      () => /VIDEOGEN_DATA=(\S+) (.*) key create --account "first account"/.exec(stdout()) ?? undefined,
    );
    assert.equal(anotherKey[1], data);
    assert.doesNotMatch(stdout(), /vg_/);
    const { stdout: audit } = await videogen(env, 'audit', '--json');
    assert.deepEqual(JSON.parse(audit), { violations: [] });
  });

  for (const [command, moment] of [
    ['start', 'Creating the database'],
    ['demo', 'Creating the database'],
    ['demo', 'createTask returned'],
  ] as const) {
    test(`${command} that is interrupted at "${moment}" leaves nothing running and no lock`, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'videogen-broken-off-'));
      const { child, stdout } = spawnVideogen({ ...env, VIDEOGEN_DATA: folder, TMPDIR: folder, PORT: '0' }, command);
      try {
        await waitFor(moment, () => (stdout().includes(moment) ? true : undefined));
        child.kill('SIGINT');
        assert.deepEqual(await endOf(child), { code: command === 'start' ? 0 : 130, signal: null });
        assert.deepEqual(await processesOf({ folder }), []);
      } finally {
        await endPrograms([child]);
        await rm(folder, { recursive: true });
      }
    });
  }

  test('SIGINT drains and ends with 0, and nothing is left running', async () => {
    const child = running?.child;
    assert.ok(child);
    child.kill('SIGINT');
    assert.deepEqual(await endOf(child), { code: 0, signal: null });
    await assert.rejects(recordInfo(api, 'none'));
    await assert.rejects(readFile(join(data, 'postgres', 'cluster', 'postmaster.pid')));
  });
});
