import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { modelCatalogue } from '../../../src/domain/models.ts';
import { assertRefused } from '../../support/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/http-service.ts';

let now = 1_000;
const rates = [
  { creditsPerSecond: 10, fromMs: 0 },
  { creditsPerSecond: 20, fromMs: 2_000 },
];
const { model } = plainRequest;

let service: HttpService;
before(async () => {
  const models = modelCatalogue([{ model, title: 'Fast', rates, providers: ['preview'], deadlineMs: 1 }]);
  service = await startHttpService({ models, now: () => now });
});
after(() => service.close());

async function modelsOf(key: string) {
  const answer = await service.send('GET', '/api/v1/models', { headers: { authorization: `Bearer ${key}` } });
  assert.equal(answer.status, 200);
  // The service holds its answers against the schema of the endpoint.
  return answer.json.data['models'] as { creditsPerSecond: number; nextRates: unknown[]; maxDuration: number }[];
}

test('200 the rate that is shown is the rate that is charged, and coming ones are announced', async () => {
  const { key } = await service.newAccount(1000);
  const [shown] = await modelsOf(key);
  assert.deepEqual([shown?.creditsPerSecond, shown?.nextRates], [10, [{ creditsPerSecond: 20, fromTime: 2_000 }]]);
  assert.equal((await service.create(key, plainRequest)).json.data['creditsCharged'], 10 * 5);
  now = 2_000;
  const [later] = await modelsOf(key);
  assert.deepEqual([later?.creditsPerSecond, later?.nextRates], [20, []]);
  assert.equal((await service.create(key, plainRequest)).json.data['creditsCharged'], 20 * 5);
});

test('200 the limits that are shown are those that are kept', async () => {
  const { key } = await service.newAccount(100_000);
  const maxDuration = (await modelsOf(key))[0]?.maxDuration ?? 0;
  const statusOf = async (duration: number) =>
    (await service.create(key, { ...plainRequest, input: { ...plainRequest.input, duration } })).status;
  assert.deepEqual([await statusOf(maxDuration), await statusOf(maxDuration + 1)], [200, 422]);
});

test('200 any good key will do', async () => {
  for (const scope of ['tasks:write', 'tasks:read', 'credits:read'] as const) {
    const { key } = await service.newAccount(0, [scope]);
    assert.equal((await modelsOf(key)).length, 1);
  }
});

test('401 without a key', async () => {
  assertRefused(await service.send('GET', '/api/v1/models'), 401, /valid API key/);
});
