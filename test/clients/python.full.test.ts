import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { ensureSigningSecrets } from '../../src/tasks/callbacks/signing-secrets.ts';
import { auditLedger } from '../../src/credits/ledger/ledger-audit.ts';
import { listTaskEntries } from '../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { checkAndMeasureVideo } from '../../src/media/video/check-and-measure-video.ts';
import { createSecretBox } from '../../src/platform/secrets/secret-box.ts';
import { runsWholeMatrix } from '../support/tier.ts';
import {
  createTestAccount,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service/test-service.ts';

// The client is Python, so programs in Python use it: test/clients/python/exercise.py against a real service, played.py against one
// that fails by a script. ops/ci/provision.sh installs the tools, the packages and the list of interpreters.

const run = promisify(execFile);
const source = resolve('clients/python'); // tests run in the root of the project
const programs = resolve('test/clients/python');
const tools = process.env['VIDEOGEN_TEST_PYTHON_CLIENT_TOOLS'];
const pythons = (process.env['VIDEOGEN_TEST_PYTHONS'] ?? '').split(':').filter((path) => path !== '');
const extremes = pythons.filter((_, index) => index === 0 || index === pythons.length - 1);
const skip =
  (tools === undefined || pythons.length === 0) &&
  'ops/ci/provision.sh found no Python, or could not install its tools';
const tool = (name: string) => join(tools ?? '', 'bin', name);

/** A program that ends with an error fails the test with what it printed. */
async function output(
  program: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
) {
  const ended = await run(program, [...args], { ...options, maxBuffer: 16 * 1024 * 1024 }).catch((error: unknown) => {
    // An error of execFile has what the program printed.
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    return assert.fail(`${program} ${args[0]} failed:\n${stdout}\n${stderr}`);
  });
  return ended.stdout;
}

describe('the Python client', { skip }, () => {
  let folder: string;
  let wheel: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'videogen-python-'));
    await output(tool('python'), ['-m', 'build', '--no-isolation', '--outdir', folder, source]);
    wheel = join(folder, (await readdir(folder)).find((name) => name.endsWith('.whl')) ?? 'no wheel');
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const environments = new Map<string, Promise<string>>();

  /** An environment that has the wheel and what it depends on, and nothing else. The programs install nothing in it. */
  function environmentOf(python: string): Promise<string> {
    const environment = environments.get(python) ?? newEnvironment(python);
    environments.set(python, environment);
    return environment;
  }

  async function newEnvironment(python: string): Promise<string> {
    const venv = await mkdtemp(join(folder, 'venv-'));
    await output(python, ['-m', 'venv', '--without-pip', venv]);
    const installed = join(venv, 'bin/python');
    const offline = ['--no-index', '--find-links', join(tools ?? '', 'wheels')];
    await output(tool('pip'), ['--python', installed, 'install', '--quiet', ...offline, wheel]);
    return installed;
  }

  test('its types follow openapi.json and its blocking twin the other: generating them again changes nothing', async () => {
    const copy = join(folder, 'generated');
    const packaged = 'src/videogen_gateway';
    await cp(join(source, packaged), copy, { recursive: true });
    const generated = ['types.py', '_sync/client.py'];
    for (const file of generated) await rm(join(copy, file));
    await output(tool('python'), [join(source, 'generate.py'), resolve('openapi.json'), copy]);
    for (const file of generated)
      assert.equal(
        await readFile(join(source, packaged, file), 'utf8'),
        await readFile(join(copy, file), 'utf8'),
        file,
      );
  });

  test('mypy and pyright, both strict, and ruff find nothing in it, and mypy nothing in the README’s examples', async () => {
    const [options, config] = [{ cwd: source }, ['--config', 'pyproject.toml']];
    await output(tool('ruff'), ['check', '--no-cache'], options);
    await output(tool('ruff'), ['format', '--check', '--no-cache', ...config, '.', programs], options);
    // The programs of this test print, and are no tests of pytest.
    await output(
      tool('ruff'),
      ['check', '--no-cache', ...config, '--extend-ignore', 'ASYNC,PT,SIM117,T20', programs],
      options,
    );
    const cache = ['--cache-dir', join(folder, 'mypy')];
    await output(tool('mypy'), cache, options);
    // It reports that a newer version exists, for which it queries the registry.
    const quiet = { ...process.env, PYRIGHT_PYTHON_IGNORE_WARNINGS: '1' };
    await output(tool('pyright'), ['--pythonpath', tool('python')], { ...options, env: quiet });
    const env = { ...process.env, MYPYPATH: join(source, 'src') };
    await output(tool('mypy'), [...cache, '--strict', ...(await exampleFiles(folder))], { cwd: folder, env });
  });

  test('the wheel holds the package with its marker for type checkers, and depends on two packages', async () => {
    const script = 'import sys, zipfile\nz = zipfile.ZipFile(sys.argv[1])\nprint(*z.namelist(), sep="\\n")';
    const names = (await output(tool('python'), ['-c', script, wheel])).trim().split('\n');
    const odd = names.filter((name) => !/^videogen_gateway\/.*\.py$|\.dist-info\//.test(name));
    assert.deepEqual(odd, ['videogen_gateway/py.typed']);
    const metadata = `${script}\nprint(z.read(next(n for n in z.namelist() if n.endswith("/METADATA"))).decode())`;
    const needed = (await output(tool('python'), ['-c', metadata, wheel])).matchAll(/^Requires-Dist: ([\w-]+)/gm);
    assert.deepEqual(
      [...needed].map(([, name]) => name),
      ['httpx', 'standardwebhooks'],
    );
  });

  describe('against the whole service', () => {
    let service: TestService;
    before(async () => {
      service = await startTestService();
    });
    after(async () => {
      const violations = await auditLedger(service.database.db);
      await service.close();
      assert.deepEqual(violations, []);
    });

    const credits = 1_000;
    const secretsOf = ({ accountId }: TestAccount) =>
      ensureSigningSecrets(service.database.db, createSecretBox(service.settings.secret), accountId);

    async function exercise(python: string, twin: 'sync' | 'async'): Promise<void> {
      const { db } = service.database;
      const account = await createTestAccount(service.database, credits);
      const { key: poorKey } = await createTestAccount(service.database, 10);
      const [{ baseUrl }, secrets, image] = [service, await secretsOf(account), resolve('assets/instant-clip.jpg')];
      const work = await mkdtemp(join(folder, `${twin}-`));
      const receiver = (await exampleFiles(work)).at(-1);
      const options = { twin, name: twin, baseUrl, key: account.key, poorKey, credits, secrets, image, receiver };
      const printed = await output(python, [join(programs, 'exercise.py'), JSON.stringify(options), work], {
        env: { ...process.env, VIDEOGEN_CALLBACK_SECRET: secrets[0] },
      });
      const { video, lost, cancelled } = JSON.parse(printed.split('\n').at(-2) ?? '') as Exercised; // what the program prints last
      assert.equal((await checkAndMeasureVideo(video.path)).heightPx, 720);
      const kindsOf = async (taskId: string) => (await listTaskEntries(db, taskId)).map(({ kind }) => kind);
      assert.deepEqual(await kindsOf(video.taskId), ['charge']);
      assert.deepEqual(await kindsOf(lost.taskId), ['charge']);
      assert.deepEqual((await kindsOf(cancelled)).toSorted(), ['charge', 'refund']);
    }

    for (const path of runsWholeMatrix ? pythons : extremes) {
      test(`every call works in an empty environment, and no lost response is paid for twice: ${path}`, async () => {
        const python = await environmentOf(path);
        await Promise.all([exercise(python, 'sync'), exercise(python, 'async')]);
      });
    }

    test('the README’s examples do what they promise', async () => {
      const account = await createTestAccount(service.database, credits);
      const work = await mkdtemp(join(folder, 'readme-'));
      const [secret] = await secretsOf(account);
      const env = {
        ...process.env,
        VIDEOGEN_BASE_URL: service.baseUrl,
        VIDEOGEN_API_KEY: account.key,
        VIDEOGEN_CALLBACK_SECRET: secret,
      };
      const python = await environmentOf(pythons[0] ?? '');
      await Promise.all((await exampleFiles(work)).map((file) => output(python, [file], { cwd: work, env })));
      const videos = (await readdir(work)).filter((name) => name.endsWith('.mp4'));
      assert.deepEqual(videos.toSorted(), ['dawn-0.mp4', 'dawn-1.mp4', 'lighthouse.mp4', 'sea.mp4']);
      for (const video of videos) assert.equal((await checkAndMeasureVideo(join(work, video))).heightPx, 720);
    });
  });

  for (const path of extremes) {
    test(`errors, retries, limits and broken downloads are handled by both twins: ${path}`, async () => {
      const work = await mkdtemp(join(folder, 'played-'));
      const checks = JSON.parse(
        await output(await environmentOf(path), [join(programs, 'played.py'), work]),
      ) as unknown[];
      assert.equal(checks.length, 13);
    });
  }
});

type Exercised = {
  readonly video: { readonly taskId: string; readonly path: string };
  readonly lost: { readonly taskId: string };
  readonly cancelled: string;
};

/** Writes the examples of the README into a folder. */
async function exampleFiles(folder: string): Promise<readonly string[]> {
  const examples = [...(await readFile(join(source, 'README.md'), 'utf8')).matchAll(/^```python\n(.*?)^```/gms)];
  assert.equal(examples.length, 4);
  await mkdir(folder, { recursive: true });
  return Promise.all(
    examples.map(async ([, code = ''], index) => {
      const file = join(folder, `example_${index}.py`);
      await writeFile(file, code);
      return file;
    }),
  );
}
