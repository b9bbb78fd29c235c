import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { accessSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { newCallbackSecret } from '../../src/platform/outbound/webhook-signature.ts';
import { signWebhook } from '../../src/platform/outbound/webhook-signature.ts';
import { skipWithoutBrowser, startBrowser } from '../support/console/browser.ts';
import { clientSource, installPackedClient } from '../support/documents/packed-client.ts';
import type { Exercised, SignedCallback } from '../support/documents/exercise-client.ts';
import {
  answer,
  hangUp,
  type ScriptedService,
  silence,
  startScriptedService,
  type Step,
} from '../support/service/scripted-service.ts';

const run = promisify(execFile);
const exercise = fileURLToPath(new URL('../support/documents/exercise-client.js', import.meta.url));

describe('the package, as others install it', () => {
  let folder: string;
  let files: readonly string[];
  let service: ScriptedService;
  let signed: SignedCallback;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'videogen-package-'));
    files = await installPackedClient(folder);
    service = await startScriptedService(playedService());
    signed = signedCallback();
  });
  after(async () => {
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });

  test('holds its JavaScript, its types, README, license and changelog, and depends on nothing', async () => {
    const odd = files.filter((path) => !/^dist\/[a-z-]+(\.d\.ts|\.js)$/.test(path));
    assert.deepEqual(odd.toSorted(), ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json']);
    assert.ok(files.length > odd.length);
    const manifest = JSON.parse(await readFile(join(clientSource, 'package.json'), 'utf8')) as Record<string, unknown>;
    assert.deepEqual(
      Object.keys(manifest).filter((name) => /dependencies/i.test(name)),
      [],
    );
  });

  test('says what a registry asks for: a name that needs no organisation, a license, and the changes of this version', async () => {
    const manifest = JSON.parse(await readFile(join(clientSource, 'package.json'), 'utf8')) as Record<string, unknown>;
    const { name, version, license, private: isPrivate, keywords } = manifest;
    assert.deepEqual([name, license, isPrivate], ['videogen-client', 'Apache-2.0', undefined]);
    assert.ok(Array.isArray(keywords) && keywords.length > 0);
    const [own, root] = await Promise.all(
      [join(clientSource, 'LICENSE'), 'LICENSE'].map((file) => readFile(file, 'utf8')),
    );
    assert.equal(own, root);
    assert.match(
      await readFile(join(clientSource, 'CHANGELOG.md'), 'utf8'),
      new RegExp(`^## ${String(version)}$`, 'm'),
    );
  });

  // Deno and Bun are tried where they are installed; the project does not bring them along.
  const runtimes: readonly (readonly [string, string | undefined, readonly string[]])[] = [
    ['Node', process.execPath, []],
    ['Deno', onPath('deno'), ['run', '--allow-net', '--allow-read', '--node-modules-dir=manual']],
    ['Bun', onPath('bun'), []],
  ];
  for (const [name, path, options] of runtimes) {
    test(`does all it can under ${name}`, { skip: path === undefined ? 'not on the PATH' : false }, async () => {
      const main = join(folder, 'main.js');
      await cp(exercise, join(folder, 'exercise-client.js'));
      await writeFile(main, mainOf(service.url, signed));
      const { stdout } = await run(path ?? '', [...options, main], { cwd: folder, timeout: 180_000 });
      assert.deepEqual(JSON.parse(stdout), exercised);
    });
  }

  test('does all it can in a browser', { skip: skipWithoutBrowser() }, async () => {
    const browser = await startBrowser();
    try {
      const page = await browser.newPage();
      // The page and the package come from the service's own origin, for the API sends no CORS headers.
      await page.route(`${service.url}/page/**`, async (route) => {
        const name = new URL(route.request().url()).pathname.slice('/page/'.length);
        if (name === '') return route.fulfill({ contentType: 'text/html', body: pageOf(service.url, signed) });
        const path = name === 'exercise-client.js' ? exercise : join(folder, 'node_modules', name);
        return route.fulfill({ contentType: 'text/javascript', body: await readFile(path) });
      });
      await page.goto(`${service.url}/page/`);
      await page.waitForFunction('document.title !== ""', undefined, { timeout: 180_000 });
      assert.deepEqual(JSON.parse(await page.title()), exercised);
    } finally {
      await browser.close();
    }
  });

  test('every file of it is a module of its own that imports nothing from elsewhere', async () => {
    const dist = join(folder, 'node_modules/videogen-client/dist');
    for (const file of await readdir(dist)) {
      const text = (await readFile(join(dist, file), 'utf8')).replaceAll(/\/\*[^]*?\*\/|\/\/ .*/g, '');
      const imported = [...text.matchAll(/(?:from|import\()\s*['"]([^'"]+)['"]/g)].map(([, name]) => name ?? '');
      assert.deepEqual(
        imported.filter((name) => !name.startsWith('./')),
        [],
        file,
      );
      assert.doesNotMatch(text, /\b(?:process|Buffer|require)\b\s*[.(]/, file);
    }
  });
});

const exercised: Exercised = {
  taskId: 't1',
  states: ['generating', 'success'],
  film: 'film',
  uploaded: 'http://played/boat',
  generated: 'film',
  listed: ['t1', 't2'],
  requestIds: ['r-1', 'r-1'],
  streamed: 4,
  balance: 7,
  refusal: ['refused', 404, 'r-1'],
  callback: 't1',
  forgery: 'bad_callback',
  aborted: 'Error: enough',
};

function mainOf(url: string, signed: SignedCallback): string {
  return [
    `import * as videogen from 'videogen-client';`,
    `import { exerciseClient } from './exercise-client.js';`,
    `console.log(JSON.stringify(await exerciseClient(videogen, '${url}', ${JSON.stringify(signed)})));`,
  ].join('\n');
}

/** Writes what came out, or what went wrong, into its title. */
function pageOf(url: string, signed: SignedCallback): string {
  const imports = { imports: { 'videogen-client': '/page/videogen-client/dist/index.js' } };
  const main = mainOf(url, signed).replace(/console\.log\((.*)\);$/, 'document.title = $1;');
  const failed = `addEventListener('error', ({ message }) => { document.title = JSON.stringify(message); });`;
  return `<!doctype html><link rel="icon" href="data:,"><script>${failed}</script>
<script type="importmap">${JSON.stringify(imports)}</script><script type="module">${main}</script>`;
}

/** Loses the answer of each first create, shows the task live once, and then done; `models` never answers. */
function playedService(): Step {
  let [creates, looks] = [0, 0];
  return (response, request) => {
    const { pathname } = new URL(request.path, 'http://played');
    const link = `http://${request.headers.host}/video.mp4`;
    const record = (state: string) => answer(200, { taskId: 't1', state, resultJson: { resultUrls: [link] } });
    switch (pathname) {
      case '/api/v1/jobs/createTask':
        creates += 1;
        if (creates % 2 === 0) looks = 0;
        return (creates % 2 === 1 ? hangUp : answer(200, { taskId: 't1', creditsCharged: 165 }))(response, request);
      case '/api/v1/jobs/recordInfo':
        looks += 1;
        return record(looks === 1 ? 'generating' : 'success')(response, request);
      case '/video.mp4':
        return void response.writeHead(200, { 'content-type': 'video/mp4' }).end('film');
      case '/api/v1/uploads': {
        const isWhole = request.headers['content-type'] === 'image/jpeg' && request.body === 'boat';
        return (isWhole ? answer(200, { url: 'http://played/boat' }) : answer(422))(response, request);
      }
      case '/api/v1/jobs/listTasks': {
        const isSecond = request.path.includes('cursor=next');
        const page = { tasks: [{ taskId: isSecond ? 't2' : 't1' }], nextCursor: isSecond ? null : 'next' };
        return answer(200, page)(response, request);
      }
      case '/api/v1/credits':
        return answer(200, { balance: 7, entries: [], nextCursor: null })(response, request);
      case '/api/v1/models':
        return silence(response, request);
      default:
        return answer(404)(response, request);
    }
  };
}

function signedCallback(): SignedCallback {
  const secrets = newCallbackSecret();
  const body = '{"code":200,"msg":"success","data":{"taskId":"t1"}}';
  const timestampSeconds = Math.floor(Date.now() / 1000);
  return { body, secrets, headers: signWebhook({ id: 'msg_1', timestampSeconds, body, secrets: [secrets] }) };
}

function onPath(name: string): string | undefined {
  const places = (process.env['PATH'] ?? '').split(delimiter).map((place) => join(place, name));
  return places.find((path) => {
    try {
      accessSync(path);
      return true;
    } catch {
      return false;
    }
  });
}
