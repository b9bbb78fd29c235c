import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { listOperatorActions } from '../../../src/accounts/operators/audit-log.ts';
import { priceLeadMs } from '../../../src/credits/prices/operator-prices.ts';
import { insertBackdatedPrice } from '../../support/tasks/backdated-price.ts';
import { type Answer, assertRefused } from '../../support/service/http-client.ts';
import { standardModelInput } from '../../../src/catalogue/input/task-input.ts';
import { catalogueOf, type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { createTestOperator, dataOf, type TestOperator } from '../../support/service/operator-key.ts';

let service: HttpService;
let operator: TestOperator;
before(async () => {
  service = await startHttpService();
  operator = await createTestOperator(service);
});
after(() => service.close());

const { model } = plainRequest;
const reason = 'a contract';
const newAccountId = async () => (await service.newAccount(0)).accountId;
const soon = () => Date.now() + 3_600_000;

function set(body: object): Promise<Answer> {
  return operator.ask('POST', '/api/admin/v1/prices/set', { body: { model, creditsPerSecond: 20, reason, ...body } });
}

function withdraw(priceId: unknown): Promise<Answer> {
  return operator.ask('POST', '/api/admin/v1/prices/withdraw', { body: { priceId, reason: 'a slip' } });
}

type Shown = { priceId: number; state: string; fromTime: number; creditsPerSecond: number | null };
type Rate = { creditsPerSecond: number; creditsPerVideo: number; fromTime: number };

async function pricesOf(query: Readonly<Record<string, string>>) {
  const data = await dataOf(operator.ask('GET', '/api/admin/v1/prices', { query }));
  // The service holds its answers against the schema of the endpoint.
  return data as {
    models: { model: string; prices: { name: string; rates: Rate[] }[] }[];
    prices: Shown[];
    nextCursor: string | null;
  };
}

test('200 a price begins when it was asked to, is announced to its account alone, and says who set it and why', async () => {
  const [accountId, other, fromTime] = [await newAccountId(), await newAccountId(), soon()];
  const { priceId, createTime, ...shown } = await dataOf(set({ accountId, fromTime }));
  const amounts = { creditsPerSecond: 20, creditsPerVideo: 0, fromTime };
  const expected = {
    model,
    priceName: 'standard',
    accountId,
    accountName: 'test',
    ...amounts,
    state: 'announced',
    reason,
    who: 'ada',
  };
  assert.deepEqual(shown, expected);
  const listed = await pricesOf({ accountId });
  assert.deepEqual(listed.prices, [{ priceId, createTime, ...expected }]);
  const ratesOf = async (id: string) =>
    (await pricesOf({ accountId: id })).models.find((one) => one.model === model)?.prices[0]?.rates;
  const listPrice = { creditsPerSecond: 33, creditsPerVideo: 0, fromTime: 0 };
  assert.deepEqual(await ratesOf(accountId), [listPrice, amounts]);
  assert.deepEqual(await ratesOf(other), [listPrice]);
});

test('200 a price without a time begins as soon as every process can know it, and the answer says when', async () => {
  const askedAt = Date.now();
  const shown = await dataOf(set({ accountId: await newAccountId() }));
  const [fromTime, latest] = [Number(shown['fromTime']), Date.now() + priceLeadMs + 5];
  assert.ok(fromTime > askedAt + priceLeadMs && fromTime <= latest, `${fromTime - askedAt}`);
  const near = await dataOf(set({ accountId: await newAccountId(), fromTime: Date.now() + priceLeadMs - 1 }));
  assert.ok(Number(near['fromTime']) > askedAt + priceLeadMs);
});

test('200 a price that does not count yet is withdrawn, and withdrawing it again changes nothing', async () => {
  const accountId = await newAccountId();
  const { priceId } = await dataOf(set({ accountId, fromTime: soon() }));
  const first = await dataOf(withdraw(priceId));
  assert.equal(first['state'], 'withdrawn');
  assert.deepEqual(await dataOf(withdraw(priceId)), first);
  const { models, prices } = await pricesOf({ accountId });
  assert.deepEqual(
    models.map(({ prices: [only] }) => only?.rates.length),
    [1, 1],
  );
  assert.deepEqual(
    prices.map(({ state }) => state),
    ['withdrawn'],
  );
  const actions = await listOperatorActions(service.database.db, { accountId, limit: 10 });
  assert.deepEqual(
    actions.map(({ action }) => action),
    ['prices.withdraw', 'prices.set'],
  );
  assert.equal(actions[0]?.details['reason'], 'a slip');
});

test('200 past, present and future prices are told apart, newest decision first, a page at a time', async () => {
  const accountId = await newAccountId();
  const insert = (creditsPerSecond: number | undefined, fromMs: number) =>
    insertBackdatedPrice(service.database.db, { model, accountId, creditsPerSecond, fromMs });
  await insert(10, 5_000);
  await insert(11, 5_000);
  await insert(12, 4_000);
  await insert(undefined, soon());
  const expected = [
    [null, 'announced'],
    [12, 'past'],
    [11, 'in_force'],
    [10, 'past'],
  ];
  const whole = await pricesOf({ accountId, model });
  assert.deepEqual(
    whole.prices.map((price) => [price.creditsPerSecond, price.state]),
    expected,
  );
  assert.equal(whole.models.find((one) => one.model === model)?.prices[0]?.rates[0]?.creditsPerSecond, 11);
  const first = await pricesOf({ accountId, limit: '3' });
  const rest = await pricesOf({ accountId, limit: '3', cursor: String(first.nextCursor) });
  assert.deepEqual([...first.prices, ...rest.prices], whole.prices);
  assert.deepEqual([rest.nextCursor, (await pricesOf({ accountId, model: 'videogen-2.0' })).prices], [null, []]);
});

test('200 an amount per video, alone or beside one per second, and null for both ends it', async () => {
  const accountId = await newAccountId();
  const shown = async (body: object) => {
    const { priceName, creditsPerSecond, creditsPerVideo } = await dataOf(set({ accountId, ...body }));
    return [priceName, creditsPerSecond, creditsPerVideo];
  };
  assert.deepEqual(await shown({ creditsPerSecond: 0, creditsPerVideo: 100 }), ['standard', 0, 100]);
  assert.deepEqual(await shown({ creditsPerSecond: null, creditsPerVideo: 100 }), ['standard', 0, 100]);
  assert.deepEqual(await shown({ creditsPerSecond: 5, creditsPerVideo: null }), ['standard', 5, 0]);
  assert.deepEqual(await shown({ creditsPerSecond: null }), ['standard', null, null]);
  assert.deepEqual(await shown({ creditsPerSecond: null, creditsPerVideo: null }), ['standard', null, null]);
  const [action] = await listOperatorActions(service.database.db, { accountId, limit: 1 });
  const { priceName, creditsPerSecond, creditsPerVideo } = action?.details ?? {};
  assert.deepEqual([priceName, creditsPerSecond, creditsPerVideo], ['standard', null, null]);
});

test('200, 422 of a model with several prices, one must be named, and its states are its own', async () => {
  const rate = { creditsPerSecond: 10, creditsPerVideo: 0, fromMs: 0 };
  const prices = [
    { name: '1080p', when: { resolution: '1080p' as const }, amounts: [rate] },
    { name: 'standard', when: {}, amounts: [rate] },
  ];
  const catalogue = catalogueOf([
    { model, title: 'M', input: standardModelInput, prices, providers: ['preview'], deadlineMs: 1 },
  ]);
  const apart = await startHttpService({ catalogue: () => catalogue });
  try {
    const { ask } = await createTestOperator(apart);
    const setIn = (body: object) =>
      ask('POST', '/api/admin/v1/prices/set', { body: { model, creditsPerSecond: 20, reason, ...body } });
    const named = /priceName: is required, because .+ has several prices: 1080p, standard/;
    const unnamed = await setIn({});
    assertRefused(unnamed, 422, named, unnamed.json.data);
    const unknown = await setIn({ priceName: '1080' });
    assertRefused(unknown, 422, /priceName: unknown price, did you mean 1080p\?/, unknown.json.data);
    assert.equal((await dataOf(setIn({ priceName: '1080p' })))['priceName'], '1080p');
    for (const [priceName, fromMs] of [
      ['1080p', 5_000],
      ['standard', 4_000],
      ['standard', 6_000],
    ] as const)
      await insertBackdatedPrice(apart.database.db, { model, priceName, creditsPerSecond: 11, fromMs });
    const listed = await dataOf(ask('GET', '/api/admin/v1/prices'));
    const states = (listed['prices'] as { priceName: string; state: string }[]).map((one) => [
      one.priceName,
      one.state,
    ]);
    assert.deepEqual(states, [
      ['standard', 'in_force'],
      ['standard', 'past'],
      ['1080p', 'in_force'],
      ['1080p', 'announced'],
    ]);
  } finally {
    await apart.close();
  }
});

test('200, 422 a price that has left the catalogue can be ended, and not set', async () => {
  const removed = { model, priceName: 'full HD' };
  await insertBackdatedPrice(service.database.db, { ...removed, creditsPerSecond: 70, fromMs: 3_000 });
  const errors = [{ path: 'priceName', message: 'unknown price, must be one of standard' }];
  assertRefused(await set(removed), 422, /priceName: unknown price/, { errors });
  assert.equal((await dataOf(set({ ...removed, creditsPerSecond: null })))['priceName'], 'full HD');
  const never = { model, priceName: 'never set', creditsPerSecond: null };
  assertRefused(await set(never), 422, /priceName: unknown price/, { errors });
});

test('404 account not found, price not found', async () => {
  assertRefused(await set({ accountId: randomUUID() }), 404, /account not found/);
  assertRefused(
    await operator.ask('GET', '/api/admin/v1/prices', { query: { accountId: randomUUID() } }),
    404,
    /account not found/,
  );
  assertRefused(await withdraw(999_999_999), 404, /price not found/);
});

test('409 a price that counts is not withdrawn, nor one that will in a moment', async () => {
  const accountId = await newAccountId();
  await insertBackdatedPrice(service.database.db, { model, accountId, creditsPerSecond: 10, fromMs: 5_000 });
  const [inForce] = (await pricesOf({ accountId })).prices;
  assertRefused(await withdraw(inForce?.priceId), 409, /is active or starts within seconds/);
  const { priceId } = await dataOf(set({ accountId }));
  assertRefused(await withdraw(priceId), 409, /is active or starts within seconds/);
});

test('422 what is no price: fractions, nothing, too much, the past, no reason, an unknown model with the one that was meant', async () => {
  const refused = (answer: Answer, path: string, message: RegExp) => {
    assertRefused(answer, 422, message, answer.json.data);
    const [first] = answer.json.data['errors'] as { path: string }[];
    assert.equal(first?.path, path);
  };
  const fault = async (body: object, path: string, message: RegExp) => refused(await set(body), path, message);
  for (const creditsPerSecond of [-1, 1.5, 1_000_001, '20', undefined])
    await fault(
      { creditsPerSecond },
      'creditsPerSecond',
      /creditsPerSecond: (must be a whole number of credits|is required)/,
    );
  for (const creditsPerVideo of [-1, 1.5, 1_000_001, '20'])
    await fault({ creditsPerVideo }, 'creditsPerVideo', /must be a whole number of credits from 0 to 1000000/);
  await fault({ creditsPerSecond: 0 }, 'creditsPerSecond', /must be at least 1, or creditsPerVideo must be/);
  await fault({ creditsPerSecond: null, creditsPerVideo: 0 }, 'creditsPerSecond', /must be at least 1/);
  await fault({ priceName: 'none' }, 'priceName', /unknown price, must be one of standard/);
  for (const fromTime of [Date.now() - 1_000, 0, -1, 1e15, '2027-01-01'])
    await fault({ fromTime }, 'fromTime', /future time/);
  for (const bad of ['', undefined, 'x'.repeat(501), 5]) await fault({ reason: bad }, 'reason', /reason/);
  await fault({ model: 'videogen-2-fast' }, 'model', /unknown model, did you mean videogen-2.0-fast\?/);
  await fault({ model: 'sora' }, 'model', /unknown model, must be one of videogen-2.0, videogen-2.0-fast/);
  await fault({ model: 5 }, 'model', /must be the name of a model/);
  await fault({ accountId: 'acme' }, 'accountId', /must be the id of an account/);
  for (const priceId of [0, 1.5, '7', undefined]) refused(await withdraw(priceId), 'priceId', /priceId/);
  const query = { model: 'a b' };
  refused(await operator.ask('GET', '/api/admin/v1/prices', { query }), 'model', /name of a model/);
});
