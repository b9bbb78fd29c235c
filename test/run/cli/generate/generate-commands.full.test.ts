import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { modelInputDeclarationSchema } from '../../../../src/catalogue/input/model-input-declaration-schema.ts';
import { defaultModels, type Model } from '../../../../src/catalogue/models/model-type-and-name-lookup.ts';
import { failAndRefund } from '../../../../src/tasks/end/end-task-statements.ts';
import { findTask } from '../../../../src/tasks/task-rows.ts';
import { catalogueOf, startHttpService } from '../../../support/service/http-service.ts';
import { endOf } from '../../../support/processes/programs.ts';
import { spawnVideogen } from '../../../support/processes/run-videogen.ts';
import { waitFor } from '../../../support/wait-for.ts';

test('generate finds the service of the data folder, and requests a model that it offers', async (t) => {
  const catalogue = catalogueOf(defaultModels.filter(({ model }) => model === 'videogen-2.0'));
  const service = await startHttpService({ catalogue: () => catalogue });
  t.after(() => service.close());
  const folder = await mkdtemp(join(tmpdir(), 'videogen-generate-'));
  t.after(() => rm(folder, { recursive: true }));
  // `videogen start` records it.
  await writeFile(join(folder, 'address'), `${service.url}\n`);
  const { key } = await service.newAccount(1_000);
  const { PUBLIC_URL: _, ...env } = process.env;
  const command = spawnVideogen({ ...env, VIDEOGEN_DATA: folder, VIDEOGEN_API_KEY: key }, 'generate', 'a lighthouse');
  const { taskId } = await waitFor('the task', () => {
    assert.equal(command.child.exitCode, null, command.stderr());
    return service.started[0];
  });
  assert.equal((await findTask(service.database.db, taskId))?.param.model, 'videogen-2.0');
  await failAndRefund(service.database.db, taskId, { failCode: 'timeout', failMsg: 'Too long.' });
  const { code } = await endOf(command.child);
  assert.equal(code, 1);
  assert.match(command.stderr(), /timeout: Too long\./);
});

/** A model with fields of every kind. */
const everything: Model = {
  model: 'everything',
  title: 'Everything',
  input: modelInputDeclarationSchema.parse({
    resolution: { values: ['720p', '1080p'] },
    duration: { values: [4, 8] },
    ratio: { values: ['16:9'] },
    generateAudio: { fixed: false },
    firstFrameUrl: {},
    videoUrls: { max: 2, maxSeconds: 15 },
    seed: {},
    options: { style: { type: 'string', values: ['natural', 'anime'] }, steps: { type: 'integer', min: 1, max: 50 } },
  }),
  prices: [{ name: 'standard', when: {}, amounts: [{ creditsPerSecond: 10, creditsPerVideo: 0, fromMs: 0 }] }],
  providers: ['preview'],
  deadlineMs: 60_000,
};

test('generate --set sends fields and options of the model as its schema types them', async (t) => {
  const catalogue = catalogueOf([everything]);
  const service = await startHttpService({ catalogue: () => catalogue });
  t.after(() => service.close());
  const { key } = await service.newAccount(1_000);
  const env = { ...process.env, VIDEOGEN_API_KEY: key };
  const options = ['--base-url', service.url, '--model', 'everything', '--resolution', '1080p'];
  const sets = ['seed=7', 'style=anime', 'steps=30', 'videoUrls=https://example.com/a.mp4', 'duration=8'];
  const command = spawnVideogen(env, 'generate', 'a lighthouse', ...options, ...sets.flatMap((set) => ['--set', set]));
  const { taskId } = await waitFor('the task', () => {
    assert.equal(command.child.exitCode, null, command.stderr());
    return service.started[0];
  });
  const task = await findTask(service.database.db, taskId);
  assert.deepEqual(task?.param.input, {
    prompt: 'a lighthouse',
    resolution: '1080p',
    duration: 8,
    ratio: '16:9',
    generateAudio: false,
    imageUrls: [],
    videoUrls: ['https://example.com/a.mp4'],
    seed: 7,
    options: { style: 'anime', steps: 30 },
  });
  await failAndRefund(service.database.db, taskId, { failCode: 'timeout', failMsg: 'Too long.' });
  await endOf(command.child);
});

test('generate --help MODEL lists the fields of the model, and --set names the one that was meant', async (t) => {
  const catalogue = catalogueOf([everything]);
  const service = await startHttpService({ catalogue: () => catalogue });
  t.after(() => service.close());
  const { key } = await service.newAccount(1_000);
  const run = async (...args: readonly string[]) => {
    const command = spawnVideogen({ ...process.env, VIDEOGEN_API_KEY: key }, ...args, '--base-url', service.url);
    const { code } = await endOf(command.child);
    return { code, stdout: command.stdout(), stderr: command.stderr() };
  };
  const help = await run('generate', '--help', 'everything');
  assert.equal(help.code, 0, help.stderr);
  assert.match(help.stdout, /^ {2}duration +4, 8; Seconds; default 4\.$/m);
  assert.match(help.stdout, /^ {2}steps +1 to 50$/m);
  assert.match(help.stdout, /^ {2}firstFrameUrl +URL or file \(image\/\*\)/m);
  const typo = await run('generate', 'a lighthouse', '--model', 'everything', '--set', 'sed=7');
  assert.equal(typo.code, 2);
  assert.match(typo.stderr, /did you mean seed\?/);
  assert.equal(service.started.length, 0);
});
