import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { removeEventEndpoint, setEventEndpoint } from '../../../src/tasks/callbacks/event-endpoint.ts';
import type { Catalogue, CatalogueModel, TierEntry } from '../../../src/catalogue/file/catalogue-schema-and-types.ts';
import { builtInCatalogue } from '../../../src/catalogue/file/read-catalogue-file.ts';
import {
  type CooldownReason,
  startCooldown,
  setProviderSwitchAs,
} from '../../../src/tasks/jobs/provider-pools-and-switches.ts';
import type { CreditPackage } from '../../../src/catalogue/file/packages-schema.ts';
import type { PaymentProvider } from '../../../src/credits/payments/payment-provider.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { assertRefused } from '../../support/service/http-client.ts';
import { newPerson, type Person, shell } from '../../support/service/person.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';

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
  await startCooldown(service.database.db, { pool, provider, reason, isOfProvider: false, baseMs, maxMs: baseMs });
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
  assert.deepEqual(models, [
    { model: 'drained', title: 'DRAINED', state: 'unavailable', retryTime: null, estimatedEndTime: null },
  ]);
  assert.doesNotMatch(text, /it moves|upstream/);
});

/** Jobs of a provider that ended now, of tasks of their own. */
async function endJobs(provider: string, outcomes: readonly (readonly [outcome: string, failCode?: string])[]) {
  const { accountId } = await service.newAccount(100_000);
  for (const [outcome, failCode] of outcomes) {
    const taskId = await acceptTestTask(service.database.db, accountId, taskParam('a lighthouse'));
    await run(
      `insert into provider_jobs (task_id, ordinal, provider, pool, intended_at, ended_at, settled_at, outcome, fail_code, fail_msg)
       values ($1, 1, $2::text, $2::text || '/m', now() - interval '1 minute', now(), now(), $3, $4::text, $4::text)`,
      [taskId, provider, outcome, failCode ?? null],
    );
  }
}
const times = <Value>(count: number, value: Value) => Array.from({ length: count }, () => value);
const [succeeded, broke] = [['success'], ['fail', 'provider_rejected']] as const;

test('200 a model fails much if most of the last jobs of its providers failed, and the client did not cause it', async () => {
  const { key } = await service.newAccount(10);
  sell({
    broken: ['upstream-g'],
    mixed: ['upstream-h'],
    covered: ['upstream-g', 'upstream-i'],
    rejecting: ['upstream-j'],
    rare: ['upstream-k'],
  });
  await endJobs('upstream-g', [...times(4, broke), ['not_created'], succeeded]);
  await endJobs('upstream-h', [...times(3, broke), ...times(3, succeeded)]);
  await endJobs('upstream-i', times(6, succeeded));
  await endJobs('upstream-j', [
    ...times(6, ['fail', 'content_rejected'] as const),
    ...times(3, ['abandoned'] as const),
  ]);
  await endJobs('upstream-k', times(4, broke));
  const { models, text } = await statusOf(key);
  const state = { state: 'failing', retryTime: null, estimatedEndTime: null };
  assert.deepEqual(models, [{ model: 'broken', title: 'BROKEN', ...state }]);
  assert.doesNotMatch(text, /upstream|provider_rejected/);
  await run(`update provider_jobs set ended_at = now() - interval '16 minutes' where provider = 'upstream-g'`);
  assert.deepEqual((await statusOf(key)).models, []);
});

test('200 the end is estimated from the next attempt and the pace of the queue, and unknown if an operator has to act', async () => {
  const { key, accountId } = await service.newAccount(100_000);
  sell({ known: ['upstream-l'], held: ['upstream-m'] });
  await fail('upstream-l', 'overloaded', 10);
  await fail('upstream-m', 'operator', 10);
  const [known, held] = (await statusOf(key)).models;
  assert.equal(known?.['estimatedEndTime'], known?.['retryTime']);
  assert.ok(typeof held?.['retryTime'] === 'number');
  assert.equal(held['estimatedEndTime'], null);
  // Two tasks wait, and the only job that succeeded began the count a minute ago.
  await endJobs('upstream-l', [succeeded]);
  await run(`update provider_jobs set ended_at = now() - interval '1 minute' where provider = 'upstream-l'`);
  for (const ticket of [1, 2]) {
    const taskId = await acceptTestTask(service.database.db, accountId, taskParam('a lighthouse'));
    const wait = 'insert into slot_waits (pool, task_id, account_id, ticket, due_at) values ($1, $2, $3, $4, now())';
    await run(wait, ['upstream-l/m', taskId, accountId, ticket]);
  }
  const [queued] = (await statusOf(key)).models;
  const afterAttemptMs = Number(queued?.['estimatedEndTime']) - Number(queued?.['retryTime']);
  // The pace is measured until now, so a slow test only finds a longer estimate.
  assert.ok(afterAttemptMs >= 120_000, String(afterAttemptMs));
});

test('200 credits are sold with a payment provider and a package, and with neither alone', async () => {
  const { key } = await service.newAccount(0);
  const own = builtInCatalogue();
  const starter = { title: 'Starter', credits: 10, price: { currency: 'EUR', minorUnits: 99 } };
  const offers: readonly ReadonlyMap<string, CreditPackage>[] = [new Map([['starter', starter]]), new Map()];
  // No request of this test reaches the provider.
  const provider = { name: 'stripe', isTest: true } as PaymentProvider;
  const sells: unknown[] = [];
  for (const packages of offers) {
    for (const payments of [provider, undefined]) {
      const seller = await startHttpService({
        database: service.database,
        payments,
        catalogue: () => ({ ...own, packages }),
      });
      try {
        const answer = await seller.send('GET', '/api/v1/status', { headers: { authorization: `Bearer ${key}` } });
        sells.push(answer.json.data['sellsCredits']);
      } finally {
        await seller.close();
      }
    }
  }
  assert.deepEqual(sells, [true, false, false, false]);
});

test("200 the threshold is the account's own: owners set and remove it, with and without an event endpoint", async () => {
  const { db } = service.database;
  const { accountId, key } = await service.newAccount(700);
  const first = await statusOf(key);
  assert.deepEqual([first['balance'], first['lowBalance'], first['sellsCredits']], [700, null, false]);
  const owner = await newPerson(service, { roles: { [accountId]: 'owner' } });
  const choose = (person: Person, lowBalance: unknown) =>
    person.ask('POST', '/api/v1/credits/low-balance', { accountId, body: { lowBalance } });
  assert.deepEqual((await choose(owner, 1_000)).json.data, { lowBalance: 1_000 });
  assert.equal((await statusOf(key))['lowBalance'], 1_000);
  await setEventEndpoint(db, accountId, { url: 'http://events.test/', types: ['balance.low'] });
  await removeEventEndpoint(db, accountId);
  assert.equal((await statusOf(key))['lowBalance'], 1_000, 'an endpoint comes and goes without it');
  const member = await newPerson(service, { roles: { [accountId]: 'member' } });
  assertRefused(await choose(member, 5), 403, /your role in this account lacks the scope/);
  for (const invalid of [0, 1.5, '5', undefined]) assert.equal((await choose(owner, invalid)).status, 422);
  assert.equal((await statusOf(key))['lowBalance'], 1_000);
  assert.deepEqual((await choose(owner, null)).json.data, { lowBalance: null });
  assert.equal((await statusOf(key))['lowBalance'], null);
});
