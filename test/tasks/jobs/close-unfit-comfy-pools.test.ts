import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCatalogueOrThrow } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { watchComfyGraphs } from '../../../src/tasks/jobs/close-unfit-comfy-pools.ts';
import { holdPoolForOperator, listPools, startCooldown } from '../../../src/tasks/jobs/provider-pools-and-switches.ts';
import { startFakeComfyui } from '../../fakes/comfy/comfyui.ts';
import { createTestDatabase } from '../../support/database/test-database.ts';
import { recordLog } from '../../support/log-lines.ts';

test('each workflow that its server cannot run closes its pool and is reported once, until it fits', async (t) => {
  const [database, comfyui] = await Promise.all([createTestDatabase(), startFakeComfyui()]);
  t.after(() => database.close());
  t.after(() => comfyui.close().catch(() => undefined));
  const { db } = database;
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
  const catalogue = readCatalogueOrThrow({ path: '/x/catalogue', readText: (path) => JSON.stringify(texts[path]) });
  const { log, lines } = recordLog();
  const given = { catalogue: () => catalogue, readSecret: () => () => '', own: [], log };
  const reasons = async () =>
    Object.fromEntries((await listPools(db)).map(({ pool, coolingReason }) => [pool, coolingReason]));
  const said = () => lines.splice(0).map(({ level, pool, workflow, msg }) => [level, pool, workflow, msg]);
  await holdPoolForOperator(db, 'comfy/fits', 'comfy', 90_000);
  const watch = watchComfyGraphs({ ...given, db });
  t.after(() => watch.close());
  await watch.check();
  const closed = { 'comfy/first': 'operator', 'comfy/second': 'operator' };
  assert.deepEqual(await reasons(), { ...closed, 'comfy/fits': undefined });
  for (const { coolingMs } of (await listPools(db)).filter(({ coolingReason }) => coolingReason !== undefined))
    assert.ok(Number(coolingMs) > 30_000, 'it is longer than until the next comparison');
  const problem = 'ComfyUI cannot run this workflow; its pool takes no tasks until it is corrected';
  assert.deepEqual(said(), [
    [50, 'comfy/first', './first.json', problem],
    [50, 'comfy/second', './second.json', problem],
  ]);
  await watch.check();
  assert.deepEqual(said(), []);
  comfyui.classes.set('QqqFirst', []);
  await watch.check();
  assert.deepEqual(await reasons(), { ...closed, 'comfy/first': undefined, 'comfy/fits': undefined });
  const coolFits = (reason: 'unreachable' | 'busy') => {
    const times = { baseMs: 60_000, maxMs: 60_000, isOfProvider: false };
    return startCooldown(db, { pool: 'comfy/fits', provider: 'comfy', reason, ...times });
  };
  await coolFits('unreachable');
  await watch.check();
  assert.equal((await reasons())['comfy/fits'], undefined, 'its server answers');
  await coolFits('busy');
  await watch.check();
  assert.equal((await reasons())['comfy/fits'], 'busy');
  assert.deepEqual(said(), []);
  await comfyui.close();
  await watch.check();
  const notChecked = 'workflow not checked: ComfyUI did not list its nodes';
  assert.deepEqual(said(), [[40, 'comfy/second', './second.json', notChecked]]);
  const error = new Error('no database');
  const blind = watchComfyGraphs({ ...given, db: { ...db, run: () => Promise.reject(error) } });
  await assert.rejects(blind.check(), error);
  await blind.close();
  const [{ err, ...failed } = assert.fail()] = lines;
  assert.deepEqual(failed, { level: 40, msg: 'workflows not compared with ComfyUI' });
  assert.equal((err as Error).message, error.message); // as pino writes an error
});
