import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { saveReportAndDeleteOld } from '../../../../src/catalogue/models/worker-report-rows.ts';
import { startFakeComfyui } from '../../../fakes/comfy/comfyui.ts';
import { createTestEnvironment } from '../../../support/service/test-service.ts';
import { videogen } from '../../../support/processes/run-videogen.ts';

test('provider list shows which node classes a workflow misses, and which server does not answer', async (t) => {
  const [comfyui, environment] = await Promise.all([startFakeComfyui(), createTestEnvironment()]);
  const folder = await mkdtemp(join(tmpdir(), 'videogen-list-'));
  t.after(async () => {
    await Promise.all([comfyui.close(), environment.close(), rm(folder, { recursive: true })]);
  });
  const entry = (provider: string) => ({ provider, parameters: { workflow: './w.json' } });
  const catalogue = {
    providers: {
      here: { kind: 'comfyui', baseUrl: `http://${comfyui.address}` },
      gone: { kind: 'comfyui', baseUrl: 'http://127.0.0.1:1' },
    },
    models: [
      { model: 'wan', title: 'Wan', prices: [{ creditsPerSecond: 1 }], tiers: [[entry('here')], [entry('gone')]] },
    ],
  };
  await writeFile(join(folder, 'w.json'), JSON.stringify({ '3': { class_type: 'KSampler2', inputs: {} } }));
  await writeFile(join(folder, 'catalogue.json'), JSON.stringify(catalogue));
  const env = { ...environment.environment, VIDEOGEN_MODELS: join(folder, 'catalogue.json') };
  const { code, stdout, stderr } = await videogen(env, 'provider', 'list');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^gone .*\n.*\n {2}gone\/wan {2}\.\/w\.json could not be checked: .*reached/m);
  const report = {
    workerId: randomUUID(),
    queue: 'generation-remote',
    models: [],
    refusal: 'X_KEY is not set',
  } as const;
  await saveReportAndDeleteOld(environment.database.db, report);
  const unsold = await videogen(env, 'provider', 'list');
  assert.match(unsold.stdout, /^wan is not offered: .*\nA worker rejected the catalogue: X_KEY is not set$/m);
  const fault = 'node 3: the server has no class KSampler2, did you mean KSampler\\?';
  assert.match(stdout, new RegExp(`^here .*\\n.*\\n {2}here/wan {2}\\./w\\.json: ${fault}$`, 'm'));
});
