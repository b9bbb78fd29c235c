import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCatalogueFile } from '../../src/catalogue-file.ts';
import type { HeldProvider } from '../../src/providers/contract.ts';
import { createProviders } from '../../src/providers/registry.ts';
import { startFakeComfyui } from '../fakes/comfyui.ts';
import { jobRequest } from './job-request.ts';
import { clientFor } from './provider-client.ts';

const { signal } = new AbortController();

test('a changed workflow counts for the next task, without a restart', async (t) => {
  const comfyui = await startFakeComfyui();
  t.after(() => comfyui.close());
  const baseUrl = `http://${comfyui.address}`;
  const catalogueWith = (steps: number) => {
    const tiers = [[{ provider: 'comfy', parameters: { workflow: './w.json' } }]];
    const texts: Readonly<Record<string, object>> = {
      '/x/catalogue': {
        providers: { comfy: { kind: 'comfyui', baseUrl } },
        models: [{ model: 'wan', title: 'Wan', prices: [{ creditsPerSecond: 1 }], tiers }],
      },
      '/x/w.json': {
        '1': { class_type: 'CLIPTextEncode', inputs: { text: '{{prompt}}' } },
        '3': { class_type: 'KSampler', inputs: { steps } },
      },
    };
    return readCatalogueFile({ path: '/x/catalogue', readText: (path) => JSON.stringify(texts[path]) });
  };
  let catalogue = catalogueWith(20);
  const preview: HeldProvider = {
    name: 'preview',
    config: { kind: 'preview', baseUrl: '', upstreamModel: '', options: {} },
    runs: 'here',
    namesJobs: true,
    forgetsJobs: true,
    images: 'file',
    run: () => Promise.reject(new Error('no job is made here')),
  };
  const providers = createProviders({
    catalogue: () => catalogue,
    preview,
    readSecret: () => () => '',
    openClient: () => clientFor(baseUrl),
    onEvent: () => {},
    warn: () => {},
  });
  for (const steps of [20, 30]) {
    catalogue = catalogueWith(steps);
    const [entry] = catalogue.models.get('wan')?.tiers.flat() ?? [];
    const open = entry && providers.ofEntry(entry);
    assert.ok(open?.provider.runs === 'upstream');
    assert.equal((await open.provider.submit(jobRequest(), signal)).kind, 'accepted');
    assert.deepEqual(comfyui.graphs.at(-1)?.['3']?.inputs, { steps });
  }
});
