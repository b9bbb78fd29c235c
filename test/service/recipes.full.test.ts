import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { listProviderJobs } from '../../src/stores/provider-jobs.ts';
import { startArkUpstream } from '../fakes/ark.ts';
import { skipWithoutCog, startCogServer } from '../fakes/cog-server.ts';
import { startFakeComfyui } from '../fakes/comfyui.ts';
import { skipWithoutPython, startExampleUpstream } from '../fakes/example-upstream.ts';
import { startScriptedUpstream } from '../fakes/scripted-http.ts';
import type { RunningUpstream } from '../fakes/upstream-books.ts';
import { startVideosUpstream } from '../fakes/videos.ts';
import { shippedFile } from '../providers/http/shipped-file.ts';
import { type Api, call, createTask } from '../support/api.ts';
import { createTestAccount, startTestService, type TestService } from '../support/service.ts';
import { waitForEnd } from '../support/tasks.ts';
import { waitFor } from '../support/wait-for.ts';

// Every recipe of docs/providers as it is written there, but for the address of the upstream: one service takes one file after
// the other, as an operator would change it, and makes a video with each.

const key = 'the key of the upstreams';

type Counterpart = {
  /** The model that the recipe sells. */
  readonly model: string;
  /** The path that the address keeps. */
  readonly path?: string;
  readonly skip?: string | false;
  readonly start: () => Promise<RunningUpstream>;
};

/** By the name of the recipe's provider. */
const counterparts: Readonly<Record<string, Counterpart>> = {
  script: { model: 'videogen-2.0', skip: skipWithoutPython, start: () => startExampleUpstream({ key }) },
  'gpu-box': { model: 'minimax-h3', path: '/v1', start: () => startVideosUpstream('vllm-omni', undefined) },
  comfy: { model: 'wan-2.2', start: startFakeComfyui },
  ark: { model: 'videogen-2.0-fast', start: () => startArkUpstream({ key }) },
  runway: { model: 'hosted', start: () => startScriptedUpstream(shippedFile('runway')) },
};

const pages = readdirSync('docs/providers').map((page) => readFileSync(`docs/providers/${page}`, 'utf8'));
const recipes = [...pages.join('\n').matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => text);

/** The recipe with this address instead of its own; nothing else changes. */
function recipeOf(provider: string, baseUrl: string): string {
  const found = recipes.filter((recipe) => new RegExp(`^  ${provider}:`, 'm').test(recipe));
  assert.equal(found.length, 1, `recipes of the provider ${provider}`);
  const [recipe = ''] = found;
  assert.equal(recipe.match(/baseUrl:/g)?.length, 1);
  return recipe.replace(/baseUrl: '[^']*'/, `baseUrl: '${baseUrl}'`);
}

describe('a recipe of docs/providers makes a video', () => {
  let folder: string;
  let path: string;
  let service: TestService;
  let api: Api;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'videogen-recipes-'));
    path = join(folder, 'catalogue.yaml');
    const workflow = {
      '1': { class_type: 'CLIPTextEncode', inputs: { text: '{{prompt}}' } },
      '9': { class_type: 'SaveVideo', inputs: { filename_prefix: '{{prefix}}' } },
    };
    await writeFile(join(folder, 'wan22.json'), JSON.stringify(workflow));
    // The service starts with a recipe whose upstream is not there: that disturbs nothing.
    await writeFile(path, recipeOf('runway', 'http://127.0.0.1:9'));
    for (const name of ['SCRIPT_KEY', 'ARK_API_KEY', 'RUNWAY_KEY']) process.env[name] = key;
    service = await startTestService({ VIDEOGEN_MODELS: path });
    api = { baseUrl: service.baseUrl, key: (await createTestAccount(service.database, 100_000)).key };
  });
  after(async () => {
    await service.close();
    await rm(folder, { recursive: true });
  });

  /** Puts the recipe in force, and answers a task of its model. */
  async function createWith(provider: string, model: string, baseUrl: string): Promise<string> {
    await writeFile(`${path}.next`, recipeOf(provider, baseUrl));
    await rename(`${path}.next`, path);
    await waitFor(`the model ${model}`, async () => {
      const { data } = (await call(api, '/api/v1/models')).body;
      return JSON.stringify(data['models']).includes(`"model":"${model}"`) ? true : undefined;
    });
    const { status, body } = await createTask(api, { model, input: { prompt: `a film of ${provider}`, duration: 5 } });
    assert.equal(status, 200, body.msg);
    return String(body.data['taskId']);
  }

  async function assertMade(taskId: string, provider: string): Promise<void> {
    const task = await waitForEnd(service.database.db, taskId);
    assert.equal(task.state, 'success', JSON.stringify(task.failure));
    const rows = await listProviderJobs(service.database.db, taskId);
    assert.deepEqual(
      rows.map((row) => [row.provider, row.outcome]),
      [[provider, 'success']],
    );
  }

  for (const [provider, { model, path: kept = '', skip = false, start }] of Object.entries(counterparts)) {
    test(provider, { skip }, async () => {
      const upstream = await start();
      try {
        const taskId = await createWith(provider, model, `http://${upstream.address}${kept}`);
        const job = await waitFor('its job', async () => (await upstream.books.jobsFor(`a film of ${provider}`))[0]);
        await upstream.books.end(job.id, 'succeeded');
        await assertMade(taskId, provider);
        assert.equal((await upstream.books.jobsFor(`a film of ${provider}`)).length, 1);
      } finally {
        await upstream.close();
      }
    });
  }

  test('box', { skip: skipWithoutCog }, async () => {
    const cog = await startCogServer();
    try {
      await assertMade(await createWith('box', 'wan-cog', cog.baseUrl), 'box');
      assert.equal((await cog.runs()).length, 1);
    } finally {
      await cog.close();
    }
  });

  test('each has a counterpart here', () => {
    assert.equal(recipes.length, Object.keys(counterparts).length + 1);
  });
});
