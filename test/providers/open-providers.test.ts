import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { startFakeComfyui } from '../fakes/comfy/comfyui.ts';
import { jobOf, jobRequest, signal } from './contract/job-request.ts';
import { mostInASecond } from './jobs/poller-stage.ts';
import { localClient } from './loopback-client.ts';
import { recordEvents } from '../support/service/metric-event-sinks.ts';
import type { OpenProvidersDeps } from '../../src/providers/open-providers.ts';
import { catalogueFrom, openProviders } from './open-providers-stage.ts';

test('a changed workflow counts for the next task, without a restart', async (t) => {
  const comfyui = await startFakeComfyui();
  t.after(() => comfyui.close());
  const baseUrl = `http://${comfyui.address}`;
  const catalogueWith = (steps: number) => {
    const tiers = [[{ provider: 'comfy', parameters: { workflow: './w.json' } }]];
    const models = [{ model: 'wan', title: 'Wan', prices: [{ creditsPerSecond: 1 }], tiers }];
    const workflow = {
      '1': { class_type: 'CLIPTextEncode', inputs: { text: '{{prompt}}' } },
      '3': { class_type: 'KSampler', inputs: { steps } },
    };
    return catalogueFrom({ providers: { comfy: { kind: 'comfyui', baseUrl } }, models }, { 'w.json': workflow });
  };
  let catalogue = catalogueWith(20);
  const providers = openProviders(() => catalogue, localClient);
  for (const steps of [20, 30]) {
    catalogue = catalogueWith(steps);
    const [entry] = catalogue.models.get('wan')?.tiers.flat() ?? [];
    const open = entry && providers.ofEntry(entry);
    assert.ok(open?.provider.runs === 'upstream');
    assert.equal((await open.provider.submit(jobRequest(), signal)).kind, 'accepted');
    assert.deepEqual(comfyui.graphs.at(-1)?.['3']?.inputs, { steps });
  }
});

test('all models of a provider share its rate of polls, which are counted with its name', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 0 });
  t.mock.method(performance, 'now', () => Date.now());
  const models = ['first', 'second', 'third'].map((model) => ({
    model,
    title: model,
    prices: [{ creditsPerSecond: 1 }],
    tiers: [[{ provider: 'reseller', model }]],
  }));
  const reseller = { kind: 'openai-videos', dialect: 'generic', baseUrl: 'http://reseller.example', pollsPerSecond: 5 };
  const catalogue = catalogueFrom({ providers: { reseller }, models });
  const requests: { readonly at: number; readonly id: string }[] = [];
  const call = async (_method: string, path: string) => {
    const id = path.replace('/videos/', '');
    requests.push({ at: Date.now(), id });
    return { status: 200, headers: {}, body: Buffer.from(JSON.stringify({ id, status: 'in_progress' })) };
  };
  const client = { call, download: () => assert.fail('nothing is downloaded') };
  const { seen, emit } = recordEvents('provider_poll');
  const providers = openProviders(
    () => catalogue,
    () => client,
    'secret',
    emit,
  );
  for (const { tiers } of catalogue.models.values()) {
    for (const entry of tiers.flat()) {
      for (let index = 0; index < 10; index += 1) {
        const job = jobOf(jobRequest(), `${entry.upstreamModel}-${index}`);
        void providers.ofEntry(entry)?.poller.follow(job, { ageMs: 1000, onProgress: () => {}, signal });
      }
    }
  }
  for (let left = 12_000; left > 0; left -= 10) {
    t.mock.timers.tick(10);
    await turn();
  }
  assert.ok(mostInASecond(requests) <= 6, `${mostInASecond(requests)} requests in a second`);
  assert.equal(new Set(requests.map(({ id }) => id)).size, 30, 'no model waits for the others for ever');
  const poll = { kind: 'provider_poll', provider: 'reseller', outcome: 'answered' };
  assert.deepEqual(
    seen,
    requests.map(() => poll),
  );
});

test('a job is followed at its own upstream only, with the settings in force', () => {
  const film = { model: 'film', title: 'Film', prices: [{ creditsPerSecond: 1 }] };
  const catalogueWith = (settings: object, name = 'studio') =>
    catalogueFrom({ providers: { [name]: settings }, models: [{ ...film, tiers: [[{ provider: name }]] }] });
  const studio = { kind: 'own', baseUrl: 'https://studio.example/v1', key: { env: 'STUDIO_KEY' } };
  let catalogue = catalogueWith(studio);
  const opened: Parameters<OpenProvidersDeps['openClient']>[0][] = [];
  const providers = openProviders(
    () => catalogue,
    (upstream) => {
      opened.push(upstream);
      return { call: () => assert.fail('not used'), download: () => assert.fail('not used') };
    },
  );
  const [entry] = catalogue.models.get('film')?.tiers.flat() ?? [];
  const terms = entry && providers.ofEntry(entry)?.terms;
  assert.ok(terms);
  // Jobs with the same terms share the requests of one poller.
  assert.equal(providers.ofEntry(entry)?.poller, providers.ofJob({ provider: 'studio', config: terms })?.poller);
  const pollsPerSecondNow = () => {
    const open = providers.ofJob({ provider: 'studio', config: terms });
    return open?.provider.runs === 'upstream' ? open.provider.maxPollsPerSecond : undefined;
  };
  const isFollowed = (config: unknown, provider = 'studio') => providers.ofJob({ provider, config }) !== undefined;
  assert.equal(isFollowed(terms), true);
  assert.deepEqual(opened.at(-1)?.credentials(), { authorization: 'Bearer secret' });
  assert.equal(isFollowed(undefined, 'preview'), true);
  for (const config of [undefined, {}, { ...terms, failedJobs: 'unknown' }, { ...terms, baseUrl: 'studio' }])
    assert.equal(isFollowed(config), false, JSON.stringify(config));
  assert.equal(isFollowed(terms, 'another'), false);
  for (const [changed, follows] of [
    [{ ...studio, baseUrl: 'https://studio.example/v2' }, true],
    [{ ...studio, baseUrl: 'https://other.example/v1' }, false],
    [{ ...studio, baseUrl: 'http://studio.example/v1' }, false],
    [{ ...studio, kind: 'openai-videos', dialect: 'generic' }, false],
  ] as const) {
    catalogue = catalogueWith(changed);
    assert.equal(isFollowed(terms), follows, JSON.stringify(changed));
  }
  for (const pollsPerSecond of [3, 4]) {
    catalogue = catalogueWith({ ...studio, pollsPerSecond });
    assert.equal(pollsPerSecondNow(), pollsPerSecond);
  }
  catalogue = catalogueWith(studio, 'renamed');
  assert.equal(isFollowed(terms), false);
  // Its key would go to an upstream that has left.
  assert.throws(() => opened[0]?.credentials(), /provider studio was removed from the catalogue/);
});
