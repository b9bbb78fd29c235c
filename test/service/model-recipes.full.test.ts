import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import { auditLedger } from '../../src/credits/ledger/ledger-audit.ts';
import { checkAndMeasureVideo } from '../../src/media/video/check-and-measure-video.ts';
import { createOperator } from '../../src/accounts/operators/operator-keys.ts';
import { upstreamKey } from '../fakes/provider-kinds.ts';
import { fakeVideoPath } from '../fakes/restartable-server.ts';
import type { RunningUpstream } from '../fakes/upstream-books.ts';
import { pinnedFfmpeg } from '../providers/preview/render-support.ts';
import { type Api, call } from '../support/service/call-api.ts';
import { argumentsOf, documentedRecipes } from '../support/documents/documented-examples.ts';
import { clips } from '../support/hostile/hostile-clips.ts';
import { plainImage } from '../support/hostile/hostile-images.ts';
import { modelRecipes, wanWorkflow } from '../support/tasks/model-recipes.ts';
import { endOf } from '../support/processes/programs.ts';
import { createTestAccount, startTestService } from '../support/service/test-service.ts';
import { spawnVideogenIn } from '../support/processes/run-videogen.ts';
import { waitFor } from '../support/wait-for.ts';

// Each recipe of docs/models.md as it is written there, except for the address of the upstream: it is the catalogue of a whole service,
// and the command line runs its command in a folder that has the local files of all commands.

const recipes = documentedRecipes('docs/models.md');

/** Returns the recipe with this address instead of its own. The counterparts deliver the same film for every order. */
function recipeOf(provider: string, baseUrl: string): { readonly text: string; readonly command: string } {
  const found = recipes.filter(({ text }) => new RegExp(`^  ${provider}:`, 'm').test(text));
  assert.equal(found.length, 1, `recipes of the provider ${provider}`);
  const { text, command } = found[0] ?? assert.fail();
  assert.ok(command !== undefined, `the recipe of ${provider} has no command`);
  assert.equal(text.match(/baseUrl:/g)?.length, 1);
  const accepting = text.replaceAll(/^( +)(- model: .*)$/gm, '$1$2\n$1  shortfall: accept');
  return { text: accepting.replace(/baseUrl: (?:'[^']*'|\S+)/, `baseUrl: '${baseUrl}'`), command };
}

/** Their sizes differ, so that no upstream gets one instead of another unnoticed. */
const pictures: Readonly<Record<string, readonly [width: number, height: number]>> = {
  'low.jpg': [640, 360],
  'high.jpg': [960, 540],
  'bud.jpg': [800, 450],
  'bloom.jpg': [1280, 720],
  'face.jpg': [480, 640],
};

async function writeLocalFiles(folder: string): Promise<void> {
  const ffmpeg = pinnedFfmpeg();
  const made = [
    ['-i', fakeVideoPath, '-vf', 'scale=1920:1080', '-preset', 'ultrafast', '-c:a', 'copy', 'full-hd.mp4'],
    [...clips['sound.mp3'], 'speech.mp3'],
  ];
  for (const args of made) await ffmpeg({ args, cwd: folder, signal: new AbortController().signal });
  for (const [name, size] of Object.entries(pictures))
    await plainImage(...size)
      .jpeg()
      .toFile(join(folder, name));
  await writeFile(join(folder, 'wan22.json'), JSON.stringify(wanWorkflow));
}

type Stage = { readonly api: Api; readonly operator: Api };

/** A service of the recipe's own starts faster than a running one notices a changed catalogue. */
async function startStage(t: TestContext, catalogue: string): Promise<Stage> {
  const service = await startTestService({ VIDEOGEN_MODELS: catalogue });
  const { baseUrl, database } = service;
  t.after(async () => {
    const violations = await auditLedger(database.db);
    await service.close();
    assert.deepEqual(violations, []);
  });
  return {
    api: { baseUrl, key: (await createTestAccount(database, 100_000)).key },
    operator: { baseUrl, key: (await createOperator(database.db, { name: 'ada' })).key },
  };
}

// Mostly waits for the pauses between polls.
describe('the command of a recipe makes its video, for the price of the recipe', { concurrency: 3 }, () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'model-recipes-'));
    await writeLocalFiles(folder);
    const secrets = recipes.flatMap(({ text }) => [...text.matchAll(/env: (\w+)/g)]);
    for (const [, name = ''] of secrets) process.env[name] = upstreamKey;
  });
  after(() => rm(folder, { recursive: true }));

  /** Runs the command to its end, and returns the job and the task that it made and the path of the video. */
  async function run({ api }: Stage, command: string, { books }: RunningUpstream) {
    const name = `${randomUUID()}.mp4`;
    const video = join(folder, name);
    const [, prompt = '', ...options] = argumentsOf(command);
    const env = { ...process.env, VIDEOGEN_API_KEY: api.key };
    const where = ['--base-url', api.baseUrl, '--out', name];
    const running = spawnVideogenIn(folder, env, 'generate', prompt, ...options, ...where);
    const job = await waitFor('its job', async () => {
      assert.ok([null, 0].includes(running.child.exitCode), running.stdout() + running.stderr());
      return (await books.jobsFor(prompt))[0];
    });
    await books.end(job.id, 'succeeded');
    const { code } = await endOf(running.child);
    await running.closed;
    const output = running.stdout().trim();
    assert.deepEqual([code, output.split('\n').at(-1)], [0, video], output + running.stderr());
    const [, taskId = ''] = /Task ([0-9a-f-]{36}):/.exec(output) ?? [];
    return { job, taskId, video };
  }

  async function detailOf({ operator }: Stage, taskId: string) {
    const { status, body } = await call(operator, `/api/admin/v1/tasks/show?taskId=${taskId}`);
    assert.equal(status, 200, body.msg);
    const { priceName, task } = body.data;
    // Its documented shape.
    const { param, state, creditsCharged, creditsRefunded } = task as Readonly<Record<string, unknown>>;
    const input = JSON.stringify((param as { readonly input: object }).input);
    return {
      state,
      input: JSON.parse(input.replaceAll(/http:\/\/127\.0\.0\.1:\d+\/file\b/g, 'served')) as object,
      price: { priceName, creditsCharged },
      creditsRefunded,
    };
  }

  for (const [provider, { skip = false, start, sent, video, ...task }] of Object.entries(modelRecipes)) {
    test(`with the provider ${provider}`, { skip }, async (t) => {
      const started = await start(folder);
      t.after(() => started.upstream.close());
      const { text, command } = recipeOf(provider, `http://${started.upstream.address}`);
      const catalogue = join(folder, `${provider}.yaml`);
      await writeFile(catalogue, text);
      const stage = await startStage(t, catalogue);
      const made = await run(stage, command, started.upstream);
      assert.deepEqual(await detailOf(stage, made.taskId), { ...task, state: 'success', creditsRefunded: 0 });
      const { widthPx, heightPx, hasAudio } = await checkAndMeasureVideo(made.video);
      assert.deepEqual({ widthPx, heightPx, hasAudio }, video);
      assert.equal((await started.upstream.books.jobs()).length, 1);
      const shown = JSON.stringify(await started.sent(made.job)).replaceAll(made.taskId, 'the task');
      assert.deepEqual(JSON.parse(shown), await sent(folder));
    });
  }

  test('each recipe of docs/models.md is one of these', () => {
    assert.equal(recipes.length, Object.keys(modelRecipes).length);
  });
});
