import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createProviderClient } from '../../src/platform/outbound/provider-client.ts';
import { startHttpService } from '../support/service/http-service.ts';
import { createTestOperator } from '../support/service/operator-key.ts';
import { serve } from '../support/servers/serve.ts';
import { signal } from './contract/job-request.ts';
import { catalogueFrom, openProviders } from './open-providers-stage.ts';

/** Tests a provider of the kind at this address, with a client that is closed with the test. */
async function tested(t: TestContext, baseUrl: string, kind: 'own' | 'cog' = 'own') {
  const key = { env: 'STUDIO_KEY' };
  const ofKind = kind === 'cog' ? { parameters: { input: { prompt: '{{prompt}}' } } } : {};
  const tiers = [[{ provider: 'studio', ...ofKind }]];
  const catalogue = catalogueFrom({
    providers: { studio: { kind, baseUrl, ...(kind === 'own' && { key }) } },
    models: [{ model: 'film', title: 'Film', prices: [{ creditsPerSecond: 1 }], tiers }],
  });
  const { test: run } = openProviders(
    () => catalogue,
    (upstream) => {
      const client = createProviderClient({ ...upstream, own: [] });
      t.after(() => client.close());
      return client;
    },
  );
  const [entry] = catalogue.models.get('film')?.tiers.flat() ?? [];
  assert.ok(entry);
  const { latencyMs, ...result } = await run(entry, signal);
  assert.ok(latencyMs !== undefined && Number.isInteger(latencyMs) && latencyMs >= 0, String(latencyMs));
  return result;
}

const missing = JSON.stringify({ error: { code: 'not_found', message: 'there is no such job' } });
const json = { 'content-type': 'application/json' };

test('a provider that answers as its API does passes, after one read with our key and no other request', async (t) => {
  const requests: string[] = [];
  const baseUrl = await serve(t, ({ method, headers }, response) => {
    requests.push(`${method} ${headers.authorization}`);
    response.writeHead(404, json).end(missing);
  });
  assert.deepEqual(await tested(t, baseUrl), { outcome: 'ok', status: 404 });
  assert.deepEqual(requests, ['GET Bearer secret']);
});

for (const [status, outcome] of [
  [401, 'key_rejected'],
  [402, 'key_rejected'],
  [403, 'key_rejected'],
  [407, 'key_rejected'],
  [429, 'unavailable'],
  [500, 'unavailable'],
  [503, 'unavailable'],
  [404, 'responded'],
  [200, 'responded'],
] as const) {
  test(`a provider that answers with a page and ${status} is reported as ${outcome}`, async (t) => {
    const baseUrl = await serve(t, (_, response) => response.writeHead(status).end('<h1>a proxy</h1>'));
    const { outcome: found, status: seen, detail } = await tested(t, baseUrl);
    assert.deepEqual([found, seen, detail], [outcome, status, `HTTP ${status}: <h1>a proxy</h1>`]);
  });
}

test('a provider that nothing listens for is unreachable', async (t) => {
  const { outcome, status, detail } = await tested(t, 'http://127.0.0.1:1');
  assert.deepEqual([outcome, status], ['unreachable', undefined]);
  assert.match(detail ?? '', /ECONNREFUSED/);
});

test('the test of a cog container reads its health check, and runs nothing', async (t) => {
  const paths: (string | undefined)[] = [];
  const baseUrl = await serve(t, ({ method, url }, response) => {
    paths.push(`${method} ${url}`);
    response.writeHead(200, json).end('{"status": "READY"}');
  });
  assert.deepEqual(await tested(t, baseUrl, 'cog'), { outcome: 'ok', status: 200 });
  assert.deepEqual(paths, ['GET /health-check']);
});

test('a cog container that answers without its health is reported with what it said, which is cut to 500 characters', async (t) => {
  const baseUrl = await serve(t, (_, response) => void response.end('<h1>a proxy</h1>'));
  assert.deepEqual(await tested(t, baseUrl, 'cog'), { outcome: 'responded', status: 200, detail: 'no health' });
  const page = await serve(t, (_, response) => void response.end('x'.repeat(5_000)));
  assert.equal((await tested(t, page)).detail?.length, 500);
});

test('a provider that left the catalogue is not tested, and previews need no request', async () => {
  const price = { prices: [{ creditsPerSecond: 1 }] };
  const catalogue = catalogueFrom({
    providers: { studio: { kind: 'own', baseUrl: 'http://studio.example' } },
    models: ['studio', 'preview'].map((provider) => {
      return { model: provider, title: provider, ...price, tiers: [[{ provider }]] };
    }),
  });
  const [studio, preview] = ['studio', 'preview'].map((name) => catalogue.models.get(name)?.tiers[0]?.[0]);
  assert.ok(studio && preview);
  const { test: run } = openProviders(
    () => ({ ...catalogue, providers: new Map([...catalogue.providers].filter(([name]) => name !== 'studio')) }),
    () => assert.fail('no client is opened'),
  );
  assert.deepEqual(await run(studio, signal), { outcome: 'not_tested', detail: 'not in the catalogue in force' });
  assert.deepEqual(await run(preview, signal), { outcome: 'ok' });
});

test('429 for the sixth test of a provider within a minute; another provider has its own limit', async (t) => {
  const now = performance.now();
  t.mock.method(performance, 'now', () => now);
  const asked: string[] = [];
  const service = await startHttpService({
    testProvider: async (provider) => {
      asked.push(provider);
      return { outcome: 'unreachable', latencyMs: 3, detail: 'ECONNREFUSED' };
    },
  });
  try {
    const { ask } = await createTestOperator(service);
    const run = () => ask('POST', '/api/admin/v1/providers/test', { body: { provider: 'preview' } });
    const { json: first } = await run();
    assert.deepEqual(first.data, { outcome: 'unreachable', status: null, latencyMs: 3, detail: 'ECONNREFUSED' });
    for (let times = 2; times <= 5; times += 1) assert.equal((await run()).status, 200);
    const refused = await run();
    assert.deepEqual([refused.status, refused.json.error], [429, 'too_many_provider_tests']);
    assert.ok(Number(refused.headers['retry-after']) >= 1);
    assert.equal(asked.length, 5);
  } finally {
    await service.close();
  }
});
