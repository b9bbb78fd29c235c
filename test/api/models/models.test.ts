import { createRateLimiter } from '../../../src/api/core/limits/rate-limits.ts';
import { changeAccountLimitsAs } from '../../../src/accounts/accounts.ts';
import { shell } from '../../support/service/person.ts';
import { standardModelInput } from '../../../src/catalogue/input/task-input.ts';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type DecidedLongAgo, insertBackdatedPrice } from '../../support/tasks/backdated-price.ts';
import { assertRefused } from '../../support/service/http-client.ts';
import { standardPrice } from '../../support/tasks/tasks.ts';
import { catalogueOf, type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';

const hourMs = 3_600_000;
/** A full hour that no run of this file reaches. */
const comingHour = Math.floor(Date.now() / hourMs + 2) * hourMs;
const prices = standardPrice(
  { creditsPerSecond: 5, fromMs: 0 },
  { creditsPerSecond: 10, fromMs: 2_000 },
  { creditsPerSecond: 20, fromMs: comingHour },
);
const { model } = plainRequest;

let service: HttpService;
before(async () => {
  const catalogue = catalogueOf([
    { model, title: 'Fast', input: standardModelInput, prices, providers: ['preview'], deadlineMs: 1 },
  ]);
  service = await startHttpService({ catalogue: () => catalogue });
});
after(() => service.close());

type Rate = { creditsPerSecond: number; creditsPerVideo: number; fromTime: number };
const rate = (creditsPerSecond: number, fromTime: number): Rate => ({ creditsPerSecond, creditsPerVideo: 0, fromTime });

async function modelsOf(key: string) {
  const answer = await service.send('GET', '/api/v1/models', { headers: { authorization: `Bearer ${key}` } });
  assert.equal(answer.status, 200);
  // The service holds its answers against the schema of the endpoint.
  return answer.json.data['models'] as {
    prices: { rates: Rate[] }[];
    inputSchema: { properties: { duration: { exclusiveMaximum?: number } } };
  }[];
}

const shownTo = async (key: string) => {
  const [shown] = await modelsOf(key);
  return shown?.prices[0]?.rates;
};
const chargedTo = async (key: string) => (await service.create(key, plainRequest)).json.data['creditsCharged'];
const decide = (price: Omit<DecidedLongAgo, 'model'>) => insertBackdatedPrice(service.database.db, { model, ...price });

test("200 the catalogue's price that is shown is the price that is charged, and coming ones are announced", async () => {
  const { key } = await service.newAccount(1000);
  assert.deepEqual(await shownTo(key), [rate(10, 2_000), rate(20, comingHour)]);
  assert.equal(await chargedTo(key), 10 * 5);
});

test("200 an account's own price is shown to it and charged to it, and to nobody else", async () => {
  const [{ accountId, key }, other] = [await service.newAccount(1000), await service.newAccount(1000)];
  await decide({ accountId, creditsPerSecond: 7, fromMs: 3_000 });
  assert.deepEqual(await shownTo(key), [rate(7, 3_000)], "the catalogue's change does not concern it");
  assert.deepEqual([await chargedTo(key), await chargedTo(other.key)], [7 * 5, 10 * 5]);
  assert.deepEqual(await shownTo(other.key), [rate(10, 2_000), rate(20, comingHour)]);
});

test("200 what is announced is the account's own future: begin and end of its price, and the list price behind it", async () => {
  const { accountId, key } = await service.newAccount(1000);
  await decide({ accountId, creditsPerSecond: 8, fromMs: comingHour - 1_000 });
  await decide({ accountId, creditsPerSecond: 6, fromMs: comingHour + 500 });
  await decide({ accountId, creditsPerSecond: 99, fromMs: comingHour + 700, isWithdrawn: true });
  await decide({ accountId, creditsPerSecond: undefined, fromMs: comingHour + 1_000 });
  assert.deepEqual(await shownTo(key), [
    rate(10, 2_000),
    rate(8, comingHour - 1_000),
    rate(6, comingHour + 500),
    rate(20, comingHour + 1_000),
  ]);
  assert.equal(await chargedTo(key), 10 * 5);
});

test('200 a price that was ended is neither shown nor charged any more', async () => {
  const { accountId, key } = await service.newAccount(1000);
  await decide({ accountId, creditsPerSecond: 7, fromMs: 3_000 });
  await decide({ accountId, creditsPerSecond: undefined, fromMs: 4_000 });
  assert.deepEqual([(await shownTo(key))?.[0], await chargedTo(key)], [rate(10, 4_000), 10 * 5]);
});

test('402 what is asked for is what the account would be charged', async () => {
  const { accountId, key } = await service.newAccount(49);
  await decide({ accountId, creditsPerSecond: 11, fromMs: 3_000 });
  const refused = await service.create(key, plainRequest);
  assertRefused(refused, 402, /balance is too low/, { required: 11 * 5, balance: 49 });
});

test('200 a create that is repeated after a change is answered with what it was charged', async () => {
  const { accountId, key } = await service.newAccount(1000);
  const headers = { 'idempotency-key': 'once' };
  const first = await service.create(key, plainRequest, headers);
  await decide({ accountId, creditsPerSecond: 11, fromMs: 3_000 });
  const again = await service.create(key, plainRequest, headers);
  assert.deepEqual(again.json.data, first.json.data);
  const { json } = await service.recordInfo(key, String(first.json.data['taskId']));
  assert.equal(json.data['creditsCharged'], 10 * 5);
  assert.equal(await chargedTo(key), 11 * 5);
});

test('200 the limits that are shown are those that are kept', async () => {
  const { key } = await service.newAccount(100_000);
  const maxDuration = ((await modelsOf(key))[0]?.inputSchema.properties.duration.exclusiveMaximum ?? 0) - 0.5;
  const statusOf = async (duration: number) =>
    (await service.create(key, { ...plainRequest, input: { ...plainRequest.input, duration } })).status;
  assert.deepEqual([await statusOf(maxDuration), await statusOf(maxDuration + 1)], [200, 422]);
});

test('200 a model that stores the last frame of its videos is listed so', async () => {
  const one = { title: 'One', input: standardModelInput, prices, providers: ['preview'], deadlineMs: 1 };
  const catalogue = catalogueOf([
    { ...one, model: 'film' },
    { ...one, model: 'frame', lastFrame: true },
  ]);
  const apart = await startHttpService({ catalogue: () => catalogue });
  try {
    const { key } = await apart.newAccount(0);
    const listed = await apart.send('GET', '/api/v1/models', { headers: { authorization: `Bearer ${key}` } });
    const models = listed.json.data['models'] as { model: string; lastFrame: boolean }[];
    assert.deepEqual(
      models.map(({ model: name, lastFrame }) => [name, lastFrame]),
      [
        ['film', false],
        ['frame', true],
      ],
    );
  } finally {
    await apart.close();
  }
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

test('503 a model that no live worker can generate is neither listed nor sold, and nothing is charged', async () => {
  const apart = await startHttpService({ isSold: (name) => name !== model });
  try {
    const { key } = await apart.newAccount(1_000);
    const headers = { authorization: `Bearer ${key}` };
    const listed = await apart.send('GET', '/api/v1/models', { headers });
    const names = (listed.json.data['models'] as { model: string }[]).map((one) => one.model);
    assert.deepEqual(names, ['videogen-2.0']);
    assertRefused(await apart.create(key, plainRequest), 503, /model is unavailable; nothing was charged/);
    const credits = await apart.send('GET', '/api/v1/credits', { headers });
    assert.equal(credits.json.data['balance'], 1_000);
  } finally {
    await apart.close();
  }
});

test("200 a general price replaces the catalogue's until it is ended, but not an account's own one", async () => {
  const [{ accountId, key }, other] = [await service.newAccount(1000), await service.newAccount(1000)];
  await decide({ accountId, creditsPerSecond: 7, fromMs: 3_000 });
  await decide({ creditsPerSecond: 12, creditsPerVideo: 3, fromMs: 3_500 });
  assert.deepEqual(await shownTo(key), [rate(7, 3_000)]);
  assert.deepEqual(await shownTo(other.key), [{ ...rate(12, 3_500), creditsPerVideo: 3 }]);
  assert.deepEqual([await chargedTo(key), await chargedTo(other.key)], [7 * 5, 12 * 5 + 3]);
  await decide({ creditsPerSecond: undefined, fromMs: 3_600 });
  assert.deepEqual(await shownTo(other.key), [rate(10, 3_600), rate(20, comingHour)]);
});

test('200 a model has its title, its description and the least request for it; the limits are those of the account', async (t) => {
  const apart = await startHttpService({
    catalogue: service.deps.catalogue,
    createRate: { quota: 20, windowMs: 600_000 },
    reads: createRateLimiter({ quota: 100, windowMs: 60_000 }),
  });
  t.after(() => apart.close());
  const { accountId, key } = await apart.newAccount(1_000);
  const shown = async () => {
    const { json } = await apart.send('GET', '/api/v1/models', { headers: { authorization: `Bearer ${key}` } });
    return json.data as { limits: object; models: readonly Record<string, unknown>[] }; // the documented shape
  };
  const { limits, models } = await shown();
  const reads = { quota: 100, windowSeconds: 60 };
  const installation = {
    creates: { quota: 20, windowSeconds: 600 },
    reads,
    unfinishedTasks: 0,
    maxUnfinishedTasks: 1_000,
  };
  assert.deepEqual(limits, installation);
  const { prices: _prices, inputSchema: _schema, sample: _sample, ...others } = models[0] ?? {};
  assert.deepEqual(others, {
    model,
    title: 'Fast',
    description: service.deps.catalogue().models.get(model)?.description ?? null,
    lastFrame: false,
    sampleRequest: { model, input: { prompt: 'A lighthouse in the fog' } },
  });
  assert.equal((await apart.create(key, plainRequest)).status, 200);
  const createRate = { quota: 3, windowMs: 3_600_000 };
  await changeAccountLimitsAs(apart.database.db, shell, { accountId, maxUnfinishedTasks: 2, createRate });
  const own = { creates: { quota: 3, windowSeconds: 3_600 }, reads, unfinishedTasks: 1, maxUnfinishedTasks: 2 };
  assert.deepEqual((await shown()).limits, own);
});
