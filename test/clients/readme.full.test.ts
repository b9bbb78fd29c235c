import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { createClient } from '../../clients/typescript/src/index.ts';
import { checkAndMeasureVideo } from '../../src/media/video/check-and-measure-video.ts';
import { newCallbackSecret } from '../../src/platform/outbound/webhook-signature.ts';
import { signWebhook } from '../../src/platform/outbound/webhook-signature.ts';
import { installPackedClient, readmeExamples, tsc } from '../support/documents/packed-client.ts';
import { createTestAccount, startTestService } from '../support/service/test-service.ts';

const run = promisify(execFile);

/** The last compiler with the resolution `node10`, among the counterparts that contributors and CI install. */
const tsc5 = resolve('node_modules/typescript-5/bin/tsc');
const skipWithout5 = existsSync(tsc5) ? false : 'TypeScript 5 is not installed';

describe('the examples of the client’s README, in a project that installed its archive', () => {
  let folder: string;
  let examples: readonly string[];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'videogen-readme-'));
    await installPackedClient(folder);
    await symlink(resolve('node_modules/@types'), join(folder, 'node_modules/@types'));
    await symlink(resolve('node_modules/undici-types'), join(folder, 'node_modules/undici-types'));
    examples = await readmeExamples();
    for (const [index, code] of examples.entries()) await writeFile(join(folder, `example-${index}.ts`), code);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const compile = async (
    compiler: string,
    options: readonly string[],
    files = examples.map((_, i) => `example-${i}.ts`),
  ) => {
    const strict = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', 'false'];
    await run(process.execPath, [compiler, ...strict, ...options, ...files], { cwd: folder });
  };

  // The browser's library beside Node's types is what most projects have: both declare streams and fetch.
  const common = ['--target', 'es2022', '--lib', 'es2023,dom', '--types', 'node'];
  const resolutions = {
    node16: ['--module', 'node16', '--moduleResolution', 'node16'],
    nodenext: ['--module', 'nodenext', '--moduleResolution', 'nodenext'],
    bundler: ['--module', 'esnext', '--moduleResolution', 'bundler'],
  };
  for (const [name, options] of Object.entries(resolutions)) {
    test(`compile strictly with the resolution ${name} and the libraries es2023 and dom`, () =>
      compile(tsc, [...common, ...options]));
  }
  const older = { node10: ['--module', 'es2022', '--moduleResolution', 'node10'], bundler: resolutions.bundler };
  for (const [name, options] of Object.entries(older)) {
    test(
      `compile strictly with TypeScript 5, the resolution ${name} and the same libraries`,
      { skip: skipWithout5 },
      () => compile(tsc5, [...common, ...options]),
    );
  }

  test('compile with the default library, with Node’s types alone, and the callback one with the browser’s alone', async () => {
    await compile(tsc, ['--types', 'node']);
    await compile(tsc, ['--types', 'node', '--module', 'nodenext']);
    await compile(tsc, ['--target', 'es2023', '--module', 'nodenext', '--types', 'node', '--lib', 'es2023']);
    const callbacks = examples.flatMap((code, i) => (code.includes('verifyCallback') ? [`example-${i}.ts`] : []));
    assert.equal(callbacks.length, 1);
    const browser = ['--module', 'esnext', '--moduleResolution', 'bundler', '--types', '', '--lib', 'es2023,dom'];
    await compile(tsc, ['--target', 'es2023', ...browser], callbacks);
  });

  test('do what they say, against a service', async () => {
    const service = await startTestService();
    try {
      const { key } = await createTestAccount(service.database);
      const secret = newCallbackSecret();
      for (const [index, code] of examples.entries()) {
        const adapted = code.replaceAll('http://127.0.0.1:3000', service.baseUrl).replaceAll('whsec_…', secret);
        await writeFile(join(folder, `run-${index}.ts`), adapted);
      }
      const files = examples.map((_, index) => `run-${index}.ts`);
      await run(process.execPath, [tsc, ...common, ...resolutions.nodenext, '--rootDir', '.', ...files], {
        cwd: folder,
      });
      const noise = await sharp({ create: { width: 640, height: 480, channels: 3, background: 'navy' } })
        .jpeg()
        .toBuffer();
      await writeFile(join(folder, 'boat.jpg'), noise);
      const env = { ...process.env, VIDEOGEN_API_KEY: key };
      const runExample = (index: number) => run(process.execPath, [`run-${index}.js`], { cwd: folder, env });

      const first = await runExample(0);
      assert.equal(first.stderr, '');
      assert.match(first.stdout, /^success 100$/m);
      assert.equal((await checkAndMeasureVideo(join(folder, 'lighthouse.mp4'))).heightPx, 720);

      const second = await runExample(1);
      const client = createClient({ baseUrl: service.baseUrl, key });
      const { tasks } = await client.listTasks();
      assert.deepEqual(
        tasks.map(({ param }) => param.input.prompt),
        ['@Image1 sails on', 'a lighthouse in a storm'],
      );
      const [boat] = tasks;
      assert.ok(boat);
      assert.match(second.stdout, /^\/api\/v1\/uploads [0-9a-f-]{36}$/m);
      assert.match(second.stdout, new RegExp(`^task ${boat.taskId} for ${boat.creditsCharged} credits$`, 'm'));
      assert.match(second.stdout, new RegExp(`^${boat.taskId} @Image1 sails on$`, 'm'));

      await writeFile(join(folder, 'post.js'), postOf(secret));
      assert.equal(
        (await run(process.execPath, ['post.js'], { cwd: folder })).stdout.trim(),
        't1 success []\n204\n400',
      );
    } finally {
      await service.close();
    }
  });
});

/** Sends a signed callback to the receiver of the README, and then a forged one. */
function postOf(secret: string): string {
  const record = { taskId: 't1', state: 'success', resultJson: { resultUrls: [] } };
  const body = JSON.stringify({ code: 200, msg: 'success', data: record });
  const timestampSeconds = Math.floor(Date.now() / 1000);
  const headers = signWebhook({ id: 'msg_1', timestampSeconds, body, secrets: [secret] });
  const post = (sent: string) =>
    `(await receive(new Request('http://receiver/', ${JSON.stringify({ method: 'POST', body: sent, headers })}))).status`;
  return [
    `import { receive } from './run-2.js';`,
    `console.log(${post(body)});`,
    `console.log(${post(`${body} `)});`,
  ].join('\n');
}
