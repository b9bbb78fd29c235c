import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { after, before, test } from 'node:test';
import { v7 as uuidv7 } from 'uuid';
import { createEmptyAccountPageActivity } from '../../../activities/close-account.ts';
import { closeAccountAs } from '../../../src/tasks/end/close-account-rows.ts';
import { endCheckout, listOpenCheckouts } from '../../../src/credits/payments/expire-or-settle-checkout.ts';
import type { PaymentDeps } from '../../../src/credits/payments/apply-payments-and-reversals.ts';
import { ago, insertRow, rolledBack } from '../../support/database/rolled-back.ts';
import { workerParts } from '../../support/service/worker-parts.ts';
import { shell } from '../../support/service/person.ts';
import { silentActivity } from '../../support/workflows/silent-activity.ts';
import { atEachAwait } from './mortal-deps.ts';
import { openPaymentStage, type PaymentStage, serviceUrl, starter } from './payment-stage.ts';

// An account is closed while its owner has checkouts open.

let stage: PaymentStage;
before(async () => {
  stage = await openPaymentStage();
});
after(() => stage.close());

const records = () => stage.stripe.records;
const { credits } = starter;
const close = (accountId: string) => closeAccountAs(stage.database.db, shell, { accountId, reason: 'requested' });
const sessionState = (sessionId: string) => records().sessions.get(sessionId)?.status;

/** One pass of the workflow that empties a closed account. */
function empty(accountId: string) {
  const payments = { provider: stage.provider, serviceUrl };
  const deps = { ...workerParts(stage.database.db, tmpdir(), []), payments };
  return silentActivity({ workflowId: 'close' }, () => createEmptyAccountPageActivity(deps)({ accountId }));
}

test("closing an account ends its open checkouts at Stripe, and no other account's", async () => {
  const [accountId, other] = [await stage.newAccount(), await stage.newAccount()];
  const open = [await stage.order(accountId), await stage.order(accountId)];
  const foreign = await stage.order(other);
  await close(accountId);
  assert.deepEqual(await empty(accountId), { found: 2, after: undefined });
  for (const { sessionId } of open) assert.equal(sessionState(sessionId), 'expired');
  assert.equal(sessionState(foreign.sessionId), 'open');
  assert.deepEqual(await stage.stateOf(accountId), ['expired', 'expired']);
  assert.deepEqual(await empty(accountId), { found: 0, after: undefined });
  await stage.deliver();
});

test('an outage of Stripe leaves the checkouts to the next pass', async () => {
  const accountId = await stage.newAccount();
  const { sessionId } = await stage.order(accountId);
  await close(accountId);
  // The request to end it and the one to read it, each with the retry of the SDK.
  for (let request = 0; request < 4; request += 1) stage.stripe.refuse(500);
  assert.deepEqual(await empty(accountId), { found: 1, after: undefined });
  assert.equal(sessionState(sessionId), 'open');
  assert.deepEqual(await empty(accountId), { found: 1, after: undefined });
  assert.equal(sessionState(sessionId), 'expired');
  await stage.deliver();
});

test('the open checkouts of an account are those that may still be paid', async () => {
  const accountId = await stage.newAccount();
  const other = await stage.newAccount();
  await rolledBack(stage.database.db, async (db) => {
    const about = {
      provider: 'stripe',
      is_test: true,
      package: 'starter',
      credits: 1,
      currency: 'EUR',
      minor_units: 1,
    };
    const limitMs = 25 * 3_600_000;
    for (const [checkout, row] of [
      ['cs_new', {}],
      ['cs_last', { created_at: ago(limitMs - 1) }],
      ['cs_expired', { created_at: ago(limitMs) }],
      ['cs_failed', { state: 'failed' }],
      ['cs_foreign', { account_id: other }],
      [null, {}],
    ] as const)
      await insertRow(db, 'top_ups', { id: uuidv7(), account_id: accountId, checkout_id: checkout, ...about, ...row });
    const listed = await listOpenCheckouts(db, accountId);
    assert.deepEqual(listed, [{ checkoutId: 'cs_new' }, { checkoutId: 'cs_last' }]);
  });
});

const endAll = async (deps: PaymentDeps, accountId: string) => {
  for (const { checkoutId } of await listOpenCheckouts(deps.db, accountId)) await endCheckout(deps, checkoutId);
};

test('a worker that dies at any await of it ends every checkout in the next pass, and grants once what was paid before', async () => {
  const calls = await atEachAwait(stage.deps, async (dies) => {
    const accountId = await stage.newAccount();
    const [unpaid, paid] = [await stage.order(accountId), await stage.order(accountId)];
    await close(accountId);
    records().pay(paid.sessionId);
    await dies((deps) => endAll(deps, accountId));
    await endAll(stage.deps, accountId);
    assert.deepEqual(
      [unpaid, paid].map(({ sessionId }) => sessionState(sessionId)),
      ['expired', 'complete'],
    );
    assert.deepEqual((await stage.stateOf(accountId)).toSorted(), ['expired', 'paid']);
    // The events come after all that.
    await stage.deliver();
    assert.deepEqual(await stage.amountsOf(accountId), [credits]);
  });
  assert.ok(
    ['list-open-checkouts', 'expireCheckout', 'readCheckout', 'book-credits'].every((name) => calls.includes(name)),
  );
});

test('a delayed payment that arrives after its account was closed is granted once', async () => {
  const accountId = await stage.newAccount();
  const { sessionId } = await stage.order(accountId);
  records().pay(sessionId, { isDelayed: true });
  await close(accountId);
  await empty(accountId);
  assert.deepEqual(await stage.stateOf(accountId), ['processing']);
  records().endDelayed(sessionId, 'succeeded');
  await stage.deliver();
  assert.deepEqual(await stage.amountsOf(accountId), [credits]);
});

test('a checkout that is created while its account is being closed is ended, and its address is not returned', async () => {
  const accountId = await stage.newAccount();
  const known = new Set(records().sessions.keys());
  const provider = {
    ...stage.provider,
    createCheckout: async (checkout: Parameters<typeof stage.provider.createCheckout>[0]) => {
      const made = await stage.provider.createCheckout(checkout);
      await close(accountId);
      await empty(accountId);
      return made;
    },
  };
  await assert.rejects(stage.order(accountId, { ...stage.deps, provider }), { name: 'AccountClosedError' });
  const made = [...records().sessions.values()].filter(({ id }) => !known.has(id));
  assert.deepEqual(
    made.map(({ status }) => status),
    ['expired'],
  );
  await stage.deliver();
  assert.deepEqual(await listOpenCheckouts(stage.database.db, accountId), []);
});
