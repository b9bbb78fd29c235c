import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setEventEndpoint } from '../../src/callbacks/event-endpoint.ts';
import type { Catalogue, CatalogueModel, TierEntry } from '../../src/models/catalogue/models.ts';
import { builtInCatalogue } from '../../src/models/catalogue-file.ts';
import { type CooldownReason, recordPoolFailure, setProviderSwitchAs } from '../../src/providers/provider-pools.ts';
import { type HttpService, startHttpService } from '../support/http-service.ts';
import { shell } from '../support/person.ts';

let catalogue: Catalogue = builtInCatalogue();
let service: HttpService;
before(async () => {
  service = await startHttpService({ catalogue: () => catalogue });
});
after(() => service.close());

/** Sells models of these providers, one pool each. */
function sell(models: Readonly<Record<string, readonly string[]>>): void {
  const own = builtInCatalogue();
  const [template] = own.models.values();
  assert.ok(template);
  const [entry] = template.tiers.flat();
  assert.ok(entry);
  const tier = (provider: string): TierEntry => ({ ...entry, provider, pool: `${provider}/m` });
  const modelOf = ([model, providers]: readonly [string, readonly string[]]): [string, CatalogueModel] => [
    model,
    { ...template, model, title: model.toUpperCase(), aliases: [], tiers: [providers.map(tier)] },
  ];
  catalogue = { ...own, models: new Map(Object.entries(models).map(modelOf)) };
}

const run = (text: string, values: unknown[] = []) =>
  service.database.db.run({ name: 'test-status', text, plannedAnew: true }, values);

async function fail(provider: string, reason: CooldownReason, minutes: number): Promise<void> {
  const pool = `${provider}/m`;
  await run('insert into provider_pools (pool, provider) values ($1, $2) on conflict do nothing', [pool, provider]);
  const baseMs = minutes * 60_000;
  await recordPoolFailure(service.database.db, { pool, provider, reason, isOfProvider: false, baseMs, maxMs: baseMs });
}

async function statusOf(key: string) {
  const { status, json, bytes } = await service.send('GET', '/api/v1/status', {
    headers: { authorization: `Bearer ${key}` },
  });
  assert.equal(status, 200);
  return { ...json.data, text: bytes.toString() } as { models: Record<string, unknown>[]; text: string } & Record<
    string,
    unknown
  >; // as documented
}

test('200 a model is in trouble if each of its providers is, without the name of a provider', async () => {
  const { key } = await service.newAccount(10);
  sell({ both: ['upstream-a', 'upstream-b'], alone: ['upstream-a'], fine: ['upstream-c'] });
  assert.deepEqual((await statusOf(key)).models, []);
  await fail('upstream-a', 'unreachable', 30);
  const one = await statusOf(key);
  assert.deepEqual(
    one.models.map(({ model, title, state }) => [model, title, state]),
    [['alone', 'ALONE', 'unavailable']],
  );
  await fail('upstream-b', 'busy', 10);
  const two = await statusOf(key);
  assert.deepEqual(
    two.models.map(({ model, state }) => [model, state]),
    [
      ['both', 'slow'],
      ['alone', 'unavailable'],
    ],
  );
  const [both, alone] = two.models.map(({ retryTime }) => Number(retryTime));
  assert.ok(both !== undefined && alone !== undefined && both < alone, 'the earliest attempt counts');
  assert.doesNotMatch(two.text, /upstream/);
});

test('200 a provider that an operator switched off has no next attempt, and a recovered one is no trouble', async () => {
  const { key } = await service.newAccount(10);
  sell({ drained: ['upstream-d'], recovered: ['upstream-e'], long: ['upstream-f'] });
  const { db } = service.database;
  await setProviderSwitchAs(db, shell, { provider: 'upstream-d', state: 'draining', reason: 'it moves' });
  await fail('upstream-f', 'unreachable', 1);
  await run(`update provider_pools set cooling_until = now() - interval '1 hour' where provider = 'upstream-f'`);
  const { models, text } = await statusOf(key);
  assert.deepEqual(models, [{ model: 'drained', title: 'DRAINED', state: 'unavailable', retryTime: null }]);
  assert.doesNotMatch(text, /it moves|upstream/);
});

test("200 the threshold is the account's own", async () => {
  const { accountId, key } = await service.newAccount(700);
  const first = await statusOf(key);
  assert.deepEqual([first['balance'], first['lowBalance'], first['sellsCredits']], [700, null, false]);
  const endpoint = { url: 'http://events.test/', types: ['balance.low'] as const, lowBalance: 1_000 };
  await setEventEndpoint(service.database.db, accountId, endpoint);
  assert.equal((await statusOf(key))['lowBalance'], 1_000);
});
