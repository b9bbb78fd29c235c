import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { reencodeJpegPngOrWebp } from '../../src/media/pictures/reencode-jpeg-png-webp.ts';
import { auditLedger } from '../../src/credits/ledger/ledger-audit.ts';
import { listProviderJobs } from '../../src/tasks/jobs/provider-jobs.ts';
import { startArkUpstream } from '../fakes/ark-upstream.ts';
import { skipWithoutCog, startCogUpstream } from '../fakes/cog/cog-server.ts';
import { startFakeComfyui } from '../fakes/comfy/comfyui.ts';
import { skipWithoutPython, startExampleUpstream } from '../fakes/example-upstream.ts';
import { catalogueOf, kinds, upstreamKey, writeKindFiles } from '../fakes/provider-kinds.ts';
import { startRestartableServer } from '../fakes/restartable-server.ts';
import { startScriptedUpstream } from '../fakes/provider-file-upstream.ts';
import type { RunningUpstream } from '../fakes/upstream-books.ts';
import { startVideosUpstream } from '../fakes/openai-videos-upstream.ts';
import { shippedFile } from '../providers/http/shipped-file.ts';
import { type Api, createdTask, recordInfo } from '../support/service/call-api.ts';
import { noise, plainImage } from '../support/hostile/hostile-images.ts';
import { createTestAccount, startTestService, type TestService } from '../support/service/test-service.ts';
import { waitForEnd } from '../support/tasks/tasks.ts';
import { waitFor } from '../support/wait-for.ts';

// From createTask over the worker to the stored video: one catalogue with every kind of provider, and then each recipe of docs/providers
// as it is written there, except for the address of the upstream.

/** Longer than most links live, where the upstream keeps its jobs for so long. */
function deadlineOf(name: string): number {
  return name === 'replicate-seedance' ? 3600 : 86_400;
}

type Counterpart = {
  /** The model that the recipe sells. */
  readonly model: string;
  /** The path of the address. */
  readonly path?: string;
  readonly skip?: string | false;
  readonly start: () => Promise<RunningUpstream>;
};

/** By the name of the recipe's provider. */
const counterparts: Readonly<Record<string, Counterpart>> = {
  script: { model: 'videogen-2.0', skip: skipWithoutPython, start: () => startExampleUpstream({ key: upstreamKey }) },
  'gpu-box': { model: 'minimax-h3', path: '/v1', start: () => startVideosUpstream('vllm-omni', undefined) },
  comfy: { model: 'wan-2.2', start: startFakeComfyui },
  ark: { model: 'videogen-2.0-fast', start: () => startArkUpstream({ key: upstreamKey }) },
  runway: { model: 'hosted', start: () => startScriptedUpstream(shippedFile('runway')) },
  box: { model: 'wan-cog', skip: skipWithoutCog, start: startCogUpstream },
};

const pages = readdirSync('docs/providers').map((page) => readFileSync(`docs/providers/${page}`, 'utf8'));
/** Without the files of the worked vendor, which providers/http/documented-vendor tries. */
const recipes = [...pages.join('\n').matchAll(/^```yaml\n(?!# )(.*?)^```$/gms)].map(([, text = '']) => text);

/** The recipe with this address instead of its own; nothing else changes. */
function recipeOf(provider: string, baseUrl: string): string {
  const found = recipes.filter((recipe) => new RegExp(`^  ${provider}:`, 'm').test(recipe));
  assert.equal(found.length, 1, `recipes of the provider ${provider}`);
  const [recipe = ''] = found;
  assert.equal(recipe.match(/baseUrl:/g)?.length, 1);
  // The fakes deliver the same film for every order.
  const accepting = recipe.replaceAll(/^( +)(- model: .*)$/gm, '$1$2\n$1  shortfall: accept');
  return accepting.replace(/baseUrl: '[^']*'/, `baseUrl: '${baseUrl}'`);
}

type Stage = { readonly service: TestService; readonly api: Api; close(): Promise<void> };

async function startStage(catalogue: string): Promise<Stage> {
  const service = await startTestService({ VIDEOGEN_MODELS: catalogue });
  const { baseUrl, database } = service;
  return {
    service,
    api: { baseUrl, key: (await createTestAccount(database, 100_000)).key },
    close: async () => {
      const violations = await auditLedger(database.db);
      await service.close();
      assert.deepEqual(violations, []);
    },
  };
}

const upstreams = new Map<string, RunningUpstream>();
let folder: string;
let stage: Stage;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'videogen-kinds-'));
  const started = [...kinds].filter(([, { skip = false }]) => skip === false);
  await Promise.all(started.map(async ([name, { start }]) => upstreams.set(name, await start())));
  const placed = started.map(([name, kind]) => ({
    name,
    kind,
    baseUrl: `http://${upstreams.get(name)?.address}`,
    deadlineSeconds: deadlineOf(name),
  }));
  await writeKindFiles(folder);
  await copyFile(join(folder, 'workflow.json'), join(folder, 'wan22.json'));
  // JSON is YAML, too.
  const catalogue = join(folder, 'catalogue.yaml');
  await writeFile(catalogue, JSON.stringify(catalogueOf(placed)));
  for (const name of ['SCRIPT_KEY', 'ARK_API_KEY', 'RUNWAY_KEY']) process.env[name] = upstreamKey;
  stage = await startStage(catalogue);
});
after(async () => {
  await stage.close();
  await Promise.all([...upstreams.values()].map((upstream) => upstream.close()));
  await rm(folder, { recursive: true });
});

const create = ({ api }: Stage, model: string, prompt: string, imageUrls: readonly string[] = []) =>
  createdTask(api, { prompt, duration: 5, imageUrls }, { model });

async function assertMade({ service, api }: Stage, taskId: string, provider: string): Promise<void> {
  const task = await waitForEnd(service.database.db, taskId);
  assert.equal(task.state, 'success', JSON.stringify(task.failure));
  const rows = await listProviderJobs(service.database.db, taskId);
  const made = rows.map((row) => [row.provider, row.outcome]);
  assert.deepEqual(made, [[provider, 'success']]);
  const record = JSON.stringify((await recordInfo(api, taskId)).body);
  const jobIds = rows.map(({ jobId = '' }) => (jobId === taskId ? upstreamKey : jobId));
  for (const secret of ['upstream-model', upstreamKey, ...jobIds]) assert.ok(!record.includes(secret), record);
}

type Way = { readonly on: Stage; readonly model: string; readonly provider: string };

async function assertGenerates({ on, model, provider }: Way, { books }: RunningUpstream): Promise<void> {
  const prompt = `a film of ${provider} for ${model}`;
  const taskId = await create(on, model, prompt);
  const job = await waitFor('its job', async () => (await books.jobsFor(prompt))[0]);
  await books.end(job.id, 'succeeded');
  await assertMade(on, taskId, provider);
  assert.equal((await books.jobsFor(prompt)).length, 1);
}

// Most of the time an upstream is polled, so the kinds do not wait for each other.
describe('a task is generated by a provider', { concurrency: true }, () => {
  for (const [name, { skip = false }] of kinds)
    test(`of the kind ${name}`, { skip }, () =>
      assertGenerates({ on: stage, model: name, provider: name }, upstreams.get(name) ?? assert.fail()),
    );

  for (const name of ['kie', 'replicate-seedance']) {
    test(`of the kind ${name}, which fetches the reference images from us by links that end with the task`, async (t) => {
      const pictures = await Promise.all(
        [plainImage(400, 300), noise(320, 640)].map((image) => image.png().toBuffer()),
      );
      const client = await startRestartableServer(async (request, response) => {
        response.end(pictures[Number(request.url?.slice(1))]);
      });
      t.after(() => client.close());
      const imageUrls = pictures.map((_, index) => `http://${client.address}/${index}`);
      const { books, fetched = [] } = upstreams.get(name) ?? assert.fail();
      const taskId = await create(stage, name, `pictures for ${name}`, imageUrls);
      const job = await waitFor('its job', async () => (await books.jobsFor(`pictures for ${name}`))[0]);
      const expected = await Promise.all(pictures.map(async (picture) => (await reencodeJpegPngOrWebp(picture)).jpeg));
      const bytes = fetched.map((one) => one.bytes);
      assert.deepEqual(bytes, expected);
      const statuses = () => Promise.all(fetched.map(async ({ link }) => (await fetch(link)).status));
      assert.deepEqual(await statuses(), [200, 200]);
      for (const { link } of fetched) {
        const expires = Number(new URL(link).searchParams.get('expires'));
        assert.ok(expires > Date.now() / 1000 + deadlineOf(name), `${link} ends before the deadline`);
      }
      await books.end(job.id, 'succeeded');
      await assertMade(stage, taskId, name);
      assert.deepEqual(await statuses(), [410, 410]);
    });
  }
});

// Mostly waits for the pauses between polls.
describe('a task is generated by a provider', { concurrency: 3 }, () => {
  for (const [provider, { model, path = '', skip = false, start }] of Object.entries(counterparts)) {
    test(`of the recipe ${provider}`, { skip }, async (t) => {
      const upstream = await start();
      t.after(() => upstream.close());
      const file = join(folder, `${provider}.yaml`);
      await writeFile(file, recipeOf(provider, `http://${upstream.address}${path}`));
      // A service of its own starts faster than a running one notices a changed catalogue.
      const on = await startStage(file);
      t.after(() => on.close());
      await assertGenerates({ on, model, provider }, upstream);
    });
  }

  test('each recipe has a counterpart here', () => {
    assert.equal(recipes.length, Object.keys(counterparts).length);
  });
});
