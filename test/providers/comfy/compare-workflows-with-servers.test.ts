import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test, type TestContext } from 'node:test';
import { readCatalogueOrThrow } from '../../../src/catalogue/file/read-catalogue-file.ts';
import type { Catalogue } from '../../../src/catalogue/file/catalogue-schema-and-types.ts';
import { compareWorkflowsWithServers } from '../../../src/providers/comfy/compare-workflows-with-servers.ts';
import { watchComfyGraphs } from '../../../src/tasks/jobs/close-unfit-comfy-pools.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { reserveSlot } from '../../../src/tasks/jobs/slots.ts';
import { setProviderSwitchAs, startCooldown } from '../../../src/tasks/jobs/provider-pools-and-switches.ts';
import { type FakeComfyui, startFakeComfyui } from '../../fakes/comfy/comfyui.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { serve } from '../../support/servers/serve.ts';
import { signal } from '../contract/job-request.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';

const misspelt = {
  '1': { class_type: 'CLIPTextEncode', inputs: { text: '{{prompt}}', clip: ['4', 0] } },
  '5': { class_type: 'Wan22ImageToVideoLatnt', inputs: { width: '{{width:32}}' } },
  '7': { class_type: 'FilmGrain', inputs: {} },
};
const problems = [
  'node 5: the server has no class Wan22ImageToVideoLatnt, did you mean Wan22ImageToVideoLatent?',
  'node 7: the server has no class FilmGrain',
];
const good = { '1': misspelt['1'] };

function catalogueWith(baseUrl: string, workflow: object, kind = 'comfyui'): Catalogue {
  const entry = { provider: 'comfy', parameters: { workflow: './w.json' } };
  const model = { model: 'wan', title: 'Wan', prices: [{ creditsPerSecond: 1 }], tiers: [[entry]] };
  const texts: Readonly<Record<string, object>> = {
    '/x/catalogue': { providers: { comfy: { kind, baseUrl } }, models: [model] },
    '/x/w.json': workflow,
  };
  return readCatalogueOrThrow({ path: '/x/catalogue', readText: (path) => JSON.stringify(texts[path]) });
}

test('each workflow is compared with the classes of its server, which gets one request, with its key; a disabled one gets none', async (t) => {
  const asked: unknown[] = [];
  const baseUrl = await serve(t, ({ method, url, headers }, response) => {
    asked.push([method, url, headers.authorization]);
    response.end(JSON.stringify({ CLIPTextEncode: { input: { required: { text: [], clip: [] } } } }));
  });
  const tier = (provider: string, workflow: string) => [{ provider, parameters: { workflow } }];
  const model = (name: string, ...tiers: readonly object[]) => {
    return { model: name, title: name, prices: [{ creditsPerSecond: 1 }], tiers };
  };
  const texts: Readonly<Record<string, object>> = {
    '/x/catalogue': {
      providers: {
        comfy: { kind: 'comfyui', baseUrl, key: { env: 'COMFY_KEY' } },
        open: { kind: 'comfyui', baseUrl },
        off: { kind: 'comfyui', baseUrl },
      },
      models: [
        model('wan', tier('comfy', './w.json'), tier('open', './good.json'), tier('off', './w.json')),
        model('ltx', tier('comfy', './good.json')),
        // It shares the pool of the first one, and its workflow.
        model('another', [{ ...tier('comfy', './w.json')[0], model: 'wan' }]),
      ],
    },
    '/x/w.json': misspelt,
    '/x/good.json': good,
  };
  const catalogue = readCatalogueOrThrow({ path: '/x/catalogue', readText: (path) => JSON.stringify(texts[path]) });
  const found = await compareWorkflowsWithServers(catalogue, {
    readSecret: (ref) => () => `secret of ${ref.env}`,
    own: [],
    isOff: (provider) => provider === 'off',
    signal,
  });
  const fits = { problems: [], warnings: [] };
  assert.deepEqual(found, [
    {
      provider: 'comfy',
      pool: 'comfy/wan',
      workflow: './w.json',
      problems: problems.map((one) => one.replace(', did you mean Wan22ImageToVideoLatent?', '')),
      warnings: [],
    },
    { provider: 'open', pool: 'open/wan', workflow: './good.json', ...fits },
    { provider: 'comfy', pool: 'comfy/ltx', workflow: './good.json', ...fits },
  ]);
  const get = ['GET', '/object_info'];
  assert.deepEqual(
    new Set(asked.map((one) => JSON.stringify(one))),
    new Set(
      [
        [...get, 'Bearer secret of COMFY_KEY'],
        [...get, null],
      ].map((one) => JSON.stringify(one)),
    ),
  );
  assert.equal(asked.length, 2);
});

describe('workflows of ComfyUI', () => {
  let database: TestDatabase;
  let comfyui: FakeComfyui;
  before(async () => {
    [database, comfyui] = await Promise.all([createTestDatabase(), startFakeComfyui()]);
  });
  beforeEach(() => database.db.run({ name: 'forget', text: 'delete from provider_pools', plannedAnew: true }, []));
  after(() => Promise.all([database.close(), comfyui.close()]));

  function watched(t: TestContext, first: Catalogue, db: Database = database.db) {
    const logged: Record<string, unknown>[] = [];
    let catalogue = first;
    const watch = watchComfyGraphs({
      catalogue: () => catalogue,
      readSecret: () => () => '',
      own: [],
      db,
      log: {
        error: (fields: object, event?: string) => void logged.push({ ...fields, event }),
        warn: (fields: object, event?: string) => void logged.push({ ...fields, event }),
      },
    });
    t.after(() => watch.close());
    return { watch, logged, change: (next: Catalogue) => (catalogue = next) };
  }

  async function placeFor() {
    const accountId = await createAccount(database.db, { name: 'a', credits: 1_000_000 });
    const taskId = await acceptTestTask(database.db, accountId, taskParam('waits'));
    const request = { taskId, accountId, ordinal: 1, pool: 'comfy/wan', provider: 'comfy', limit: 9 };
    return await reserveSlot(database.db, request);
  }

  test('a class that the server lacks is reported with a suggestion, and the pool gets no task', async (t) => {
    const { watch, logged } = watched(t, catalogueWith(`http://${comfyui.address}`, misspelt));
    await watch.check();
    const where = { provider: 'comfy', pool: 'comfy/wan', workflow: './w.json' };
    const event = 'ComfyUI cannot run this workflow; its pool takes no tasks until it is corrected';
    assert.deepEqual(logged, [{ ...where, problems, warnings: [], event }]);
    await watch.check();
    assert.equal(logged.length, 1, 'logged once');
    const place = await placeFor();
    assert.ok(place.kind === 'cooling');
    assert.equal(place.reason, 'operator');
  });

  test('a workflow that was corrected, or whose server got the class, fits from then on', async (t) => {
    const baseUrl = `http://${comfyui.address}`;
    const { watch, logged, change } = watched(t, catalogueWith(baseUrl, misspelt));
    await watch.check();
    change(catalogueWith(baseUrl, good));
    await watch.check();
    comfyui.classes.set('Wan22ImageToVideoLatnt', []).set('FilmGrain', []);
    change(catalogueWith(baseUrl, misspelt));
    await watch.check();
    comfyui.classes.delete('Wan22ImageToVideoLatnt');
    await watch.check();
    comfyui.classes.delete('FilmGrain');
    assert.equal(logged.length, 1);
  });

  test('a pool takes tasks again once its server answers or its workflow fits, even during a cooldown', async (t) => {
    const baseUrl = `http://${comfyui.address}`;
    const { watch, change } = watched(t, catalogueWith(baseUrl, misspelt));
    await watch.check();
    change(catalogueWith(baseUrl, good));
    await watch.check();
    assert.equal((await placeFor()).kind, 'granted');
    const cooldown = { pool: 'comfy/wan', provider: 'comfy', baseMs: 300_000, maxMs: 300_000, isOfProvider: false };
    await startCooldown(database.db, { ...cooldown, reason: 'unreachable' });
    assert.equal((await placeFor()).kind, 'cooling');
    await watch.check();
    assert.equal((await placeFor()).kind, 'granted');
    await startCooldown(database.db, { ...cooldown, reason: 'busy' });
    await watch.check();
    assert.equal((await placeFor()).kind, 'cooling');
  });

  test('an unavailable server is a warning, logged once, and its pool stays open', async (t) => {
    const { watch, logged } = watched(t, catalogueWith('http://127.0.0.1:1', misspelt));
    await watch.check();
    await watch.check();
    assert.deepEqual(
      logged.map(({ event, problems: none }) => [event, none]),
      [['workflow not checked: ComfyUI did not list its nodes', []]],
    );
    assert.match(String(logged[0]?.['unchecked']), /could not be reached/);
    assert.equal((await placeFor()).kind, 'granted');
  });

  test('an input that a node needs under another name is a warning', async (t) => {
    const workflow = {
      '2': { class_type: 'KSampler', inputs: { model: 1, sed: '{{seed}}', steps: 1, cfg: 1, sampler_name: 'x' } },
      '3': { class_type: 'CreateVideo', inputs: { 'images.1': 1, fps: 1, preview: true } },
    };
    comfyui.classes.set('KSampler', ['model', 'seed', 'steps', 'cfg', 'sampler_name']);
    const { watch, logged } = watched(t, catalogueWith(`http://${comfyui.address}`, workflow));
    await watch.check();
    assert.deepEqual(
      logged.map(({ event, warnings }) => [event, warnings]),
      [['workflow may not fit ComfyUI', ['node 2: KSampler needs the input seed, did you mean sed?']]],
    );
    assert.equal((await placeFor()).kind, 'granted');
  });

  test('a catalogue without workflows of ComfyUI needs no statement of the database', async (t) => {
    const db = { ...database.db, run: () => assert.fail('a statement was sent') };
    const { watch, logged } = watched(t, catalogueWith('http://127.0.0.1:1', misspelt, 'comfy-v2'), db);
    await watch.check();
    assert.deepEqual(logged, []);
  });

  test('a disabled provider gets no request, nor does comfy-v2, which lists no classes', async (t) => {
    const actor = { kind: 'command_line', name: 'ada' } as const;
    const isSet = (state: 'off' | 'enabled') =>
      setProviderSwitchAs(database.db, actor, { provider: 'comfy', state, reason: 'test' });
    await isSet('off');
    t.after(() => isSet('enabled'));
    const off = watched(t, catalogueWith(`http://${comfyui.address}`, misspelt));
    const v2 = watched(t, catalogueWith(`http://${comfyui.address}`, misspelt, 'comfy-v2'));
    await off.watch.check();
    await v2.watch.check();
    assert.deepEqual([...off.logged, ...v2.logged], []);
  });
});
