import { createAccount } from '../../../src/credits/open-account.ts';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closeAccountAs } from '../../../src/tasks/end/close-account-rows.ts';
import { setAccountSuspendedAs } from '../../../src/accounts/accounts.ts';
import { reconcilePayments } from '../../../src/credits/payments/payment-reconciliation.ts';
import { DatabaseBusyError, DatabaseUnavailableError } from '../../../src/platform/database/database.ts';
import { type FakeStripe, startFakeStripe } from '../../fakes/stripe/stripe.ts';
import { silentEvents } from '../../support/service/metric-event-sinks.ts';
import { assertRefused } from '../../support/service/http-client.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { createTestOperator, dataOf, type TestOperator } from '../../support/service/operator-key.ts';
import { fromConsole, newMember, newPerson, type Person, shell } from '../../support/service/person.ts';
import { catalogueWithPackages, providerAt, serviceUrl, starter } from '../../credits/payments/payment-stage.ts';

let stripe: FakeStripe;
let service: HttpService;
/** The same service without a payment provider. */
let unpaid: HttpService;
let operator: TestOperator;
/** Thrown by the next statement. */
let fault: Error | undefined;
const packages = { starter, studio: { ...starter, title: 'Studio', stripePrice: 'price_studio' } };

before(async () => {
  stripe = await startFakeStripe();
  stripe.prices.set('price_studio', starter.price.minorUnits);
  const catalogue = catalogueWithPackages(packages);
  service = await startHttpService({ payments: providerAt(stripe), catalogue: () => catalogue });
  const { database } = service;
  unpaid = await startHttpService({ database, catalogue: () => catalogue });
  operator = await createTestOperator(service);
});
after(async () => {
  await unpaid.close();
  await service.close();
  await stripe.close();
});

const listPackages = '/api/console/v1/credits/packages';
const topUps = '/api/console/v1/credits/top-ups';

function buy(person: Person, accountId: string, name = 'starter') {
  return person.ask('POST', topUps, { accountId, body: { package: name } });
}

async function started(person: Person, accountId: string) {
  const { checkoutUrl, topUpId } = await dataOf(buy(person, accountId));
  return { sessionId: String(checkoutUrl).split('/').at(-1) ?? '', topUpId };
}

/** Posts the newest event of the fake. */
function post(how: { secret?: string; ageSeconds?: number } = {}, to = service) {
  const event = stripe.records.events.at(-1) ?? assert.fail('there is no event');
  const { body, signature } = stripe.sign(event, how);
  const headers = { 'content-type': 'application/json', 'stripe-signature': signature };
  return to.send('POST', '/hooks/stripe', { headers, body });
}

test('200 members list the packages with their prices, and whether no real money moves', async () => {
  const { accountId, person } = await newMember(service, 'viewer');
  const offered = await dataOf(person.ask('GET', listPackages, { accountId }));
  const { title, credits, price } = starter;
  assert.deepEqual(offered, {
    provider: 'stripe',
    isTest: true,
    packages: [
      { package: 'starter', title, credits, price },
      { package: 'studio', title: 'Studio', credits, price },
    ],
  });
});

test('200 before purchases are compared with the records of the provider, operators read that they never were', async () => {
  const state = { provider: 'stripe', isTest: true, reconcileTime: null, ungranted: [] };
  assert.deepEqual(await dataOf(operator.ask('GET', '/api/admin/v1/payments')), state);
});

test('404 without a payment provider nothing is for sale, and its events are refused', async () => {
  const { accountId, person } = await newMember(unpaid);
  const offered = await dataOf(person.ask('GET', listPackages, { accountId }));
  assert.deepEqual(offered, { provider: null, isTest: false, packages: [] });
  assertRefused(await buy(person, accountId), 404, /^this service does not sell credits$/);
  const headers = { 'content-type': 'application/json' };
  assertRefused(
    await unpaid.send('POST', '/hooks/stripe', { headers, body: '{}' }),
    404,
    /^this service does not sell credits/,
  );
});

test('200 an owner buys a package: checkout, payment, event, credits and receipt', async () => {
  const { accountId, person } = await newMember(service, 'owner', 0);
  const { sessionId, topUpId } = await started(person, accountId);
  const open = await dataOf(person.ask('GET', topUps, { accountId }));
  assert.deepEqual(open['topUps'], [
    {
      topUpId,
      package: 'starter',
      credits: starter.credits,
      price: starter.price,
      state: 'open',
      isTest: true,
      createTime: (open['topUps'] as { createTime: number }[])[0]?.createTime,
      paidTime: null,
      reversedCredits: 0,
      receiptUrl: null,
    },
  ]);
  stripe.records.pay(sessionId);
  assert.equal((await post()).status, 200);
  assert.equal((await post()).status, 200, 'Stripe may repeat an event');
  const viewer = await newPerson(service, { roles: { [accountId]: 'viewer' } });
  const receipts = [person, viewer].map(async (reader) => {
    const { topUps: listed } = await dataOf(reader.ask('GET', topUps, { accountId }));
    const [topUp] = listed as { state: string; receiptUrl: string | null }[];
    return [topUp?.state, topUp?.receiptUrl?.slice(0, 31)];
  });
  assert.deepEqual(await Promise.all(receipts), [
    ['paid', 'https://pay.stripe.com/receipts'],
    ['paid', undefined],
  ]);
  const { balance } = await dataOf(person.ask('GET', '/api/v1/credits', { accountId }));
  assert.equal(balance, starter.credits);
});

test("the customer comes back to the account's credits, with the purchase in the address", async () => {
  const created: string[] = [];
  const provider = providerAt(stripe);
  const spied = await startHttpService({
    database: service.database,
    catalogue: service.deps.catalogue,
    payments: {
      ...provider,
      createCheckout: (checkout) => {
        created.push(checkout.successUrl, checkout.cancelUrl);
        return provider.createCheckout(checkout);
      },
    },
  });
  try {
    const { accountId, person } = await newMember(spied);
    const { topUpId } = await dataOf(buy(person, accountId));
    const back = `${spied.url}/console/a/${accountId}/credits?topUp=${String(topUpId)}&checkout=`;
    assert.deepEqual(created, [`${back}success`, `${back}cancelled`]);
  } finally {
    await spied.close();
  }
});

test('403 members cannot buy, and neither can owners of a suspended account', async () => {
  const { accountId, person } = await newMember(service, 'viewer');
  assertRefused(await buy(person, accountId), 403, /^only owners/);
  const suspended = await newMember(service);
  await setAccountSuspendedAs(service.database.db, shell, { ...suspended, suspended: true, reason: 'test' });
  assertRefused(await buy(suspended.person, suspended.accountId), 403, /^the account is suspended$/);
});

test('404 unknown packages, 409 closed accounts and too many open checkouts', async () => {
  const { accountId, person } = await newMember(service);
  assertRefused(await buy(person, accountId, 'gold'), 404, /^package not found$/);
  for (let open = 0; open < 20; open += 1) await started(person, accountId);
  assertRefused(await buy(person, accountId), 409, /^too many purchases of the account are open/, { limit: 20 });
  const { db } = service.database;
  const closing = await newMember(service);
  const late = await startHttpService({
    database: service.database,
    // The account is closed after the request was authenticated.
    db: {
      ...db,
      transaction: async (work) => {
        await closeAccountAs(db, shell, { accountId: closing.accountId, reason: 'test' });
        return db.transaction(work);
      },
    },
    catalogue: service.deps.catalogue,
    console: service.deps.console,
    payments: providerAt(stripe),
  });
  try {
    const request = { ...fromConsole, 'videogen-account': closing.accountId, cookie: closing.person.cookie() ?? '' };
    const body = JSON.stringify({ package: 'starter' });
    assertRefused(await late.send('POST', topUps, { headers: request, body }), 409, /is closed for good$/);
  } finally {
    await late.close();
  }
});

test('503 a package whose price at Stripe differs is not sold, and its checkout is ended', async () => {
  const { accountId, person } = await newMember(service);
  stripe.prices.set('price_studio', 1);
  assertRefused(await buy(person, accountId, 'studio'), 503, /^the package is unavailable/);
  const [newest] = [...stripe.records.sessions.values()].toReversed();
  assert.equal(newest?.status, 'expired');
  stripe.prices.set('price_studio', starter.price.minorUnits);
  assert.equal((await buy(person, accountId, 'studio')).status, 200);
});

test('503 while Stripe is unavailable nothing is sold, and failed attempts do not count as open checkouts', async () => {
  const { accountId, person } = await newMember(service);
  for (const status of [500, 503]) stripe.refuse(status);
  assertRefused(await buy(person, accountId), 503, /^the payment provider is unavailable/);
  const { topUps: listed } = await dataOf(person.ask('GET', topUps, { accountId }));
  assert.deepEqual(
    (listed as { state: string }[]).map(({ state }) => state),
    ['failed'],
  );
});

test('a lost response of the checkout is repeated with the same key, and makes one session', async () => {
  const { accountId, person } = await newMember(service, 'owner', 0);
  const sessionsBefore = stripe.records.sessions.size;
  stripe.lose('/v1/checkout/sessions', 1);
  const { sessionId } = await started(person, accountId);
  assert.equal(stripe.records.sessions.size, sessionsBefore + 1);
  stripe.records.pay(sessionId);
  assert.equal((await post()).status, 200);
  const { balance } = await dataOf(person.ask('GET', '/api/v1/credits', { accountId }));
  assert.equal(balance, starter.credits);
});

test('400 forged and old signatures change nothing and cost no request to Stripe', async () => {
  const { accountId, person } = await newMember(service, 'owner', 0);
  stripe.records.pay((await started(person, accountId)).sessionId);
  const exchangesBefore = stripe.exchanges.length;
  assertRefused(await post({ secret: 'whsec_other' }), 400, /^the event is not signed by the payment provider/);
  assertRefused(await post({ ageSeconds: 400 }), 400, /^the event is not signed by the payment provider/);
  const headers = { 'content-type': 'application/json' };
  assertRefused(await service.send('POST', '/hooks/stripe', { headers, body: '{}' }), 400, /not signed/);
  assert.equal(stripe.exchanges.length, exchangesBefore);
  assert.equal((await post()).status, 200);
});

test('503 an event that cannot be booked now is repeated by Stripe', async () => {
  const { accountId, person } = await newMember(service, 'owner', 0);
  stripe.records.pay((await started(person, accountId)).sessionId);
  for (const status of [500, 500]) stripe.refuse(status);
  assertRefused(await post(), 503, /^the payment provider is unavailable/);
  const { db } = service.database;
  const faulty = await startHttpService({
    database: service.database,
    db: { ...db, transaction: (work) => (fault === undefined ? db.transaction(work) : Promise.reject(fault)) },
    payments: providerAt(stripe),
  });
  try {
    fault = new DatabaseUnavailableError(false, new Error('test'));
    assertRefused(await post({}, faulty), 503, /^the database is unavailable/);
    fault = new DatabaseUnavailableError(false, Object.assign(new Error('test'), { code: '53100' }));
    assertRefused(await post({}, faulty), 503, /^a disk of the service is full/);
    fault = new DatabaseBusyError();
    assertRefused(await post({}, faulty), 503, /^too many requests are waiting/);
    fault = undefined;
    assert.equal((await post({}, faulty)).status, 200);
  } finally {
    await faulty.close();
  }
  const { balance } = await dataOf(person.ask('GET', '/api/v1/credits', { accountId }));
  assert.equal(balance, starter.credits);
});

test('200 purchases are listed page by page, and those of another account to its members only', async () => {
  const { accountId, person } = await newMember(service);
  const mine = [await started(person, accountId), await started(person, accountId), await started(person, accountId)];
  const other = await newMember(service);
  await started(other.person, other.accountId);
  const pages: string[] = [];
  let cursor = '';
  do {
    const page = await dataOf(person.ask('GET', `${topUps}?limit=2${cursor}`, { accountId }));
    pages.push(...(page['topUps'] as { topUpId: string }[]).map(({ topUpId }) => topUpId));
    cursor = page['nextCursor'] === null ? '' : `&cursor=${JSON.stringify(page['nextCursor']).slice(1, -1)}`;
  } while (cursor !== '');
  assert.deepEqual(pages, mine.map(({ topUpId }) => topUpId).toReversed());
  assertRefused(await other.person.ask('GET', topUps, { accountId }), 404, /^account not found$/);
});

test('200 operators read purchases of all accounts with the ids at Stripe, and what was not granted', async () => {
  const { accountId, person } = await newMember(service, 'owner', 0);
  const { sessionId, topUpId } = await started(person, accountId);
  const paymentId = stripe.records.pay(sessionId);
  const nobody = await createAccount(unpaid.database.db, { name: 'a', credits: 0 });
  const session = stripe.records.sessions.get(sessionId);
  assert.ok(session);
  const copy = stripe.records.open({ ...session, metadata: session.metadata });
  stripe.records.pay(copy.id);
  const { db, log } = service.deps;
  await reconcilePayments(
    { db, log, provider: providerAt(stripe), serviceUrl, events: silentEvents },
    Date.now() - 60_000,
  );
  const found = await dataOf(operator.ask('GET', '/api/admin/v1/top-ups', { query: { accountId, state: 'paid' } }));
  const [topUp] = found['topUps'] as Record<string, unknown>[];
  assert.deepEqual(
    [topUp?.['topUpId'], topUp?.['checkoutId'], topUp?.['paymentId'], topUp?.['settledBy'], topUp?.['accountId']],
    [topUpId, sessionId, paymentId, 'reconciliation', accountId],
  );
  const none = await dataOf(operator.ask('GET', '/api/admin/v1/top-ups', { query: { accountId: nobody } }));
  assert.deepEqual(none, { topUps: [], nextCursor: null });
  const state = await dataOf(operator.ask('GET', '/api/admin/v1/payments'));
  assert.ok(Number(state['reconcileTime']) > 0);
  assert.deepEqual([state['provider'], state['isTest']], ['stripe', true]);
  const ungranted = state['ungranted'] as Record<string, unknown>[];
  assert.deepEqual(
    ungranted.map((one) => [one['checkoutId'], one['topUpId'], one['reason']]),
    [[copy.id, topUpId, 'other_checkout']],
  );
});
