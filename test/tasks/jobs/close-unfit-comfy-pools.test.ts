import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCatalogueFile } from '../../../src/catalogue/file/catalogue-file.ts';
import { watchComfyGraphs } from '../../../src/tasks/jobs/close-unfit-comfy-pools.ts';
import { listPools } from '../../../src/tasks/jobs/provider-pools.ts';
import { startFakeComfyui } from '../../fakes/comfy/comfyui.ts';
import { createTestDatabase } from '../../support/database/test-database.ts';

test('of several workflows, each that its server cannot run closes its pool, and is reported', async (t) => {
  const [database, comfyui] = await Promise.all([createTestDatabase(), startFakeComfyui()]);
  t.after(() => Promise.all([database.close(), comfyui.close()]));
  const model = (name: string) => ({
    model: name,
    title: name,
    prices: [{ creditsPerSecond: 1 }],
    tiers: [[{ provider: 'comfy', parameters: { workflow: `./${name}.json` } }]],
  });
  const prompt = { class_type: 'CLIPTextEncode', inputs: { text: '{{prompt}}', clip: ['4', 0] } };
  const unknown = (name: string) => ({ '1': prompt, '2': { class_type: name, inputs: {} } });
  const texts: Readonly<Record<string, object>> = {
    '/x/catalogue': {
      providers: { comfy: { kind: 'comfyui', baseUrl: `http://${comfyui.address}` } },
      models: [model('first'), model('fits'), model('second')],
    },
    '/x/first.json': unknown('QqqFirst'),
    '/x/fits.json': { '1': prompt },
    '/x/second.json': unknown('QqqSecond'),
  };
  const catalogue = readCatalogueFile({ path: '/x/catalogue', readText: (path) => JSON.stringify(texts[path]) });
  const logged: object[] = [];
  const log = (fields: object) => void logged.push(fields);
  const watch = watchComfyGraphs({
    catalogue: () => catalogue,
    readSecret: () => () => '',
    own: [],
    db: database.db,
    log: { error: log, warn: log },
  });
  t.after(() => watch.close());
  await watch.check();
  const pools = await listPools(database.db);
  const closed = pools.flatMap(({ pool, coolingReason }) => (coolingReason === 'operator' ? [pool] : []));
  assert.deepEqual(closed.toSorted(), ['comfy/first', 'comfy/second']);
  assert.equal(logged.length, 2);
});
