import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { paymentHealthFinding } from '../../../src/run/doctor/check-payment-health.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { readLastChecksAndFindings } from '../../../src/credits/last-checks-and-findings.ts';
import { readPaymentHealth } from '../../../src/credits/payments/payment-health.ts';
import { listUngrantedPayments, reconcilePayments } from '../../../src/credits/payments/payment-reconciliation.ts';
import type { Payment, Reversal } from '../../../src/credits/payments/payment-provider.ts';
import { DatabaseUnavailableError } from '../../../src/platform/database/database.ts';
import { ago, insertRow, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase } from '../../support/database/test-database.ts';
import { runAsSuperuser } from '../../support/processes/run-as-superuser.ts';
import { recordLog } from '../../support/log-lines.ts';
import { openPaymentStage, type PaymentStage, serviceUrl, starter } from './payment-stage.ts';
import { createAccount } from '../../../src/credits/open-account.ts';

let stage: PaymentStage;
before(async () => {
  stage = await openPaymentStage();
});
after(() => stage.close());

const records = () => stage.stripe.records;
const { credits } = starter;
const run = (deps = stage.deps) => reconcilePayments(deps, Date.now() - 86_400_000);
const finding = async () =>
  paymentHealthFinding({ provider: stage.provider, packages: 1 }, await readPaymentHealth(stage.database.db));

test('a payment whose event never arrives is granted once by reconciliation, which is counted and reported', async () => {
  const accountId = await stage.newAccount();
  records().pay((await stage.order(accountId)).sessionId);
  const emittedBefore = stage.emitted.length;
  await Promise.all([run(), run()]);
  await run();
  assert.deepEqual(await stage.amountsOf(accountId), [credits]);
  assert.deepEqual(stage.emitted.slice(emittedBefore), [{ kind: 'payment_settled', outcome: 'granted_late' }]);
  const { state, message } = await finding();
  assert.deepEqual(
    [state, message.split(',')[0]],
    ['warning', '1 of 1 payments of the last 7 days were granted by reconciliation'],
  );
  assert.match(message, /in test mode/);
  assert.ok((await readLastChecksAndFindings(stage.database.db)).paymentsReconciledAt > 0);
});

test('refunds and disputes whose events never arrive are booked by reconciliation, and so is the end of a dispute', async () => {
  const accountId = await stage.newAccount();
  const { paymentId } = await stage.buy(accountId);
  records().refund(paymentId, 333);
  const dispute = records().dispute(paymentId, 666);
  await run();
  assert.equal(await stage.balanceOf(accountId), 0);
  records().closeDispute(dispute.id, 'won');
  // The dispute is older than what is listed.
  await reconcilePayments(stage.deps, Date.now() + 60_000);
  assert.equal(await stage.balanceOf(accountId), 6667);
  await stage.deliver();
});

test('a purchase that neither ended nor was paid is read again after an hour', async () => {
  const accountId = await stage.newAccount();
  const { topUpId, sessionId } = await stage.order(accountId);
  records().expire(sessionId);
  await run();
  assert.deepEqual(await stage.stateOf(accountId), ['open']);
  await age(topUpId, '61 minutes');
  await run();
  assert.deepEqual(await stage.stateOf(accountId), ['expired']);
});

test('a purchase without a checkout expires after a day', async () => {
  const accountId = await stage.newAccount();
  const { topUpId } = await stage.order(accountId);
  const [younger, failed] = [await stage.order(accountId), await stage.order(accountId)];
  await age(topUpId, '25 hours', ', checkout_id = null');
  await age(younger.topUpId, '24 hours', ', checkout_id = null');
  await age(failed.topUpId, '25 hours', `, checkout_id = null, state = 'failed'`);
  await run();
  assert.deepEqual(await stage.stateOf(accountId), ['expired', 'open', 'failed']);
});

test('after an older database was restored, its missing purchases are granted once, with their refunds', async () => {
  const accountId = await stage.newAccount();
  const paid = await stage.buy(accountId);
  const refunded = await stage.buy(accountId);
  records().refund(refunded.paymentId, 333);
  const failing = records().refund(paid.paymentId, 10);
  records().failRefund(failing.id);
  await stage.deliver();
  const restored = await createTestDatabase();
  try {
    const { db } = restored;
    const name = 'restored';
    const account = { name: 'insert-restored-account', text: `insert into accounts (id, name) values ($1, '${name}')` };
    await db.run(account, [accountId]);
    const deps = { ...stage.deps, db };
    await Promise.all([run(deps), run(deps)]);
    await run(deps);
    const { rows } = { rows: await db.run<{ balance: number }>({ name: 'b', text: 'select balance from accounts' }) };
    assert.deepEqual(rows, [{ balance: credits + 6667 }]);
    assert.equal(await stage.balanceOf(accountId), credits + 6667);
    assert.deepEqual(await auditLedger(db), []);
  } finally {
    await restored.close();
  }
});

test('a payment that cannot be granted is an error for doctor, until it is returned at Stripe', async () => {
  const { db } = stage.database;
  const accountId = await stage.newAccount();
  const { topUpId, sessionId } = await stage.order(accountId);
  await age(topUpId, '1 minute', ', minor_units = minor_units + 1');
  const paymentId = records().pay(sessionId);
  await stage.deliver();
  await run();
  assert.deepEqual(
    (await listUngrantedPayments(db, 10)).map(({ checkoutId, reason }) => [checkoutId, reason]),
    [[sessionId, 'amount_differs']],
  );
  assert.equal((await readLastChecksAndFindings(db)).ungrantedPayments, 1);
  const { state, message } = await finding();
  assert.deepEqual([state, message], ['error', `paid but not granted: ${sessionId} (amount_differs)`]);
  assert.deepEqual(await stage.amountsOf(accountId), []);
  const elsewhere = await openPaymentStage();
  try {
    await run({ ...stage.deps, provider: elsewhere.provider });
  } finally {
    await elsewhere.close();
  }
  assert.equal((await listUngrantedPayments(db, 10)).length, 1, 'the key of another account at Stripe proves nothing');
  records().refund(paymentId, 999);
  await run();
  assert.deepEqual(await listUngrantedPayments(db, 10), []);
  await stage.deliver();
});

test('a payment that is returned leaves the list, also behind a hundred older ones of another Stripe account', async () => {
  const { db } = stage.database;
  const stuck = `
insert into ungranted_payments (checkout_id, top_up_id, account_id, reason, found_at)
select 'cs_elsewhere_' || n, gen_random_uuid(), gen_random_uuid(), 'account_not_found', now() - interval '1 day'
from generate_series(1, 100) n`;
  await db.run({ name: 'test-stuck-payments', text: stuck });
  const { topUpId, sessionId } = await stage.order(await stage.newAccount());
  await age(topUpId, '1 minute', ', minor_units = minor_units + 1');
  const paymentId = records().pay(sessionId);
  await stage.deliver();
  assert.equal((await listUngrantedPayments(db, 200)).at(-1)?.checkoutId, sessionId);
  records().refund(paymentId, 999);
  await run();
  const left = await listUngrantedPayments(db, 200);
  assert.equal(left.length, 100);
  assert.ok(left.every(({ checkoutId }) => checkoutId.startsWith('cs_elsewhere_')));
  await db.run({ name: 'test-forget-stuck-payments', text: 'delete from ungranted_payments' });
  await stage.deliver();
});

test('a payment for an account that is missing in this database is reported, and granted once the account is there', async () => {
  const elsewhere = await createTestDatabase();
  try {
    const accountId = await createAccount(elsewhere.db, { name: 'later', credits: 0 });
    const { sessionId } = await stage.order(accountId, { ...stage.deps, db: elsewhere.db });
    records().pay(sessionId);
    await run();
    const [found] = await listUngrantedPayments(stage.database.db, 10);
    assert.deepEqual([found?.accountId, found?.reason], [accountId, 'account_not_found']);
    const account = { name: 'insert-missing-account', text: `insert into accounts (id, name) values ($1, 'found')` };
    await stage.database.db.run(account, [accountId]);
    await run();
    assert.deepEqual(await stage.amountsOf(accountId), [credits]);
    assert.deepEqual(await listUngrantedPayments(stage.database.db, 10), []);
    await stage.deliver();
  } finally {
    await elsewhere.close();
  }
});

test('an outage of Stripe ends a run, and the next one finishes it', async () => {
  const accountId = await stage.newAccount();
  records().pay((await stage.order(accountId)).sessionId);
  const times = (await readLastChecksAndFindings(stage.database.db)).paymentsReconciledAt;
  for (const status of [500, 500]) stage.stripe.refuse(status);
  await assert.rejects(run(), { name: 'PaymentsUnavailableError' });
  assert.equal((await readLastChecksAndFindings(stage.database.db)).paymentsReconciledAt, times);
  await run();
  assert.deepEqual(await stage.amountsOf(accountId), [credits]);
});

test('records beyond one page of Stripe are read', async () => {
  const accountId = await stage.newAccount();
  const { sessionId } = await stage.order(accountId);
  records().pay(sessionId);
  for (let other = 0; other < 120; other += 1) {
    records().pay(records().open({ amount_total: 5, currency: 'eur', client_reference_id: null, metadata: {} }).id);
  }
  await run();
  assert.deepEqual(await stage.amountsOf(accountId), [credits]);
});

test('unfinished purchases and open reversals beyond one page are read, each once', async () => {
  const accountId = await stage.newAccount();
  // All are of another Stripe account: a purchase ends, and a reversal is counted as unknown.
  const insert = (columns: string, values: string) => `
    insert into top_ups (id, account_id, provider, is_test, package, credits, currency, minor_units, ${columns})
    select gen_random_uuid(), '${accountId}', 'stripe', true, 'many', 50, 'EUR', 500, ${values} from generate_series(1, 201) n`;
  await runAsSuperuser(
    stage.database,
    insert('checkout_id, created_at', `'cs_many_' || n, now() - interval '26 hours'`),
    insert('payment_id, state, paid_at, settled_by', `'pi_many_' || n, 'paid', now(), 'event'`),
    `insert into top_up_reversals (top_up_id, reference, kind, minor_units, is_taken, is_final)
     select id, 're_many', 'refund', 500, true, false from top_ups where payment_id like 'pi_many_%'`,
  );
  const emittedBefore = stage.emitted.length;
  const { failed } = await run();
  assert.deepEqual(await countedStates(), [
    { state: 'expired', count: 201 },
    { state: 'paid', count: 201 },
  ]);
  const isUnknown = (event: object) => 'outcome' in event && event.outcome === 'unknown';
  assert.equal(stage.emitted.slice(emittedBefore).filter(isUnknown).length, 201);
  assert.equal(failed, 0);
  await runAsSuperuser(
    stage.database,
    `delete from top_up_reversals where reference = 're_many'`,
    `delete from top_ups where package = 'many'`,
  );

  function countedStates() {
    const text = `select state, count(*)::int as count from top_ups where package = 'many' group by state order by state`;
    return stage.database.db.run({ name: 'test-count-states', text });
  }
});

test('money that returns after a dispute was closed as won is booked by reconciliation if its event never arrives', async () => {
  const accountId = await stage.newAccount();
  const { paymentId } = await stage.buy(accountId);
  const dispute = records().dispute(paymentId, 999);
  records().closeDispute(dispute.id, 'won', { isReinstatedLater: true });
  await stage.deliver();
  assert.equal(await stage.balanceOf(accountId), 0);
  records().reinstate(dispute.id);
  // The dispute is older than what is listed.
  await reconcilePayments(stage.deps, Date.now() + 60_000);
  assert.equal(await stage.balanceOf(accountId), credits);
  await stage.deliver();
});

test('a payment of another Stripe account stops neither a run nor the reversals of other payments', async () => {
  const [accountId, other] = [await stage.newAccount(), await stage.newAccount()];
  const missing = await stage.buy(other);
  records().dispute(missing.paymentId, 999);
  await stage.deliver();
  const { paymentId } = await stage.buy(accountId);
  records().intents.delete(missing.paymentId);
  records().refund(paymentId, 999);
  const reconciledAt = (await readLastChecksAndFindings(stage.database.db)).paymentsReconciledAt;
  assert.equal((await run()).failed, 0);
  assert.deepEqual([await stage.balanceOf(accountId), await stage.balanceOf(other)], [0, 0]);
  assert.ok((await readLastChecksAndFindings(stage.database.db)).paymentsReconciledAt > reconciledAt);
});

test('an open purchase of another Stripe account ends after a day, and counts as open no longer', async () => {
  const accountId = await stage.newAccount();
  const { sessionId, topUpId } = await stage.order(accountId);
  records().sessions.delete(sessionId);
  await age(topUpId, '2 hours');
  await run();
  assert.deepEqual(await stage.stateOf(accountId), ['open']);
  await age(topUpId, '25 hours');
  await run();
  assert.deepEqual(await stage.stateOf(accountId), ['expired']);
});

/** A provider that has nothing but what a test says. */
const silentProvider = () => ({
  ...stage.provider,
  async *listFinishedCheckouts(): AsyncGenerator<Payment> {
    yield* [];
  },
  async *listReversedPayments(): AsyncGenerator<string> {
    yield* [];
  },
  readCheckout: async (_id: string): Promise<Payment | undefined> => undefined,
});

const taken: Reversal = { reference: 're', kind: 'refund', minorUnits: 999, isTaken: true, isFinal: true };
for (const [what, reported, reversals, isLeft] of [
  ['is returned', {}, [taken], false],
  ['is returned in parts', {}, [taken, taken].map((one, part) => ({ ...one, minorUnits: 499 + part })), false],
  ['is returned but for a cent', {}, [taken, taken].map((one) => ({ ...one, minorUnits: 499 })), true],
  ['was to be returned, which failed', {}, [{ ...taken, isTaken: false }], true],
  ['is returned in another currency', {}, [{ ...taken, minorUnits: undefined }], true],
  ['has no refunds that Stripe knows', {}, undefined, true],
  ['is not paid', { state: 'processing' }, [taken], true],
  ['has no id', { paymentId: undefined }, [taken], true],
] satisfies [string, Partial<Payment>, readonly Reversal[] | undefined, boolean][]) {
  test(`an ungranted payment that ${what} ${isLeft ? 'stays' : 'leaves'} in the list`, () =>
    rolledBack(stage.database.db, async (db) => {
      const accountId = await createAccount(db, { name: 'ungranted', credits: 0 });
      const found = { top_up_id: accountId, account_id: accountId, reason: 'amount_differs', found_at: ago(0) };
      for (const id of ['cs_1', 'cs_2']) await insertRow(db, 'ungranted_payments', { checkout_id: id, ...found });
      const about = { checkoutId: 'cs_1', order: undefined, serviceUrl, isTest: true, receiptUrl: undefined };
      const payment: Payment = { ...about, paymentId: 'pi_1', state: 'paid', ...starter.price, ...reported };
      const provider = {
        ...silentProvider(),
        readCheckout: async (id: string) => (id === 'cs_1' ? payment : undefined),
        readReversals: async (id: string) => (id === 'pi_1' ? reversals : undefined),
      };
      assert.equal((await run({ ...stage.deps, db, provider })).failed, 0);
      const left = (await listUngrantedPayments(db, 10)).map(({ checkoutId }) => checkoutId);
      assert.deepEqual(left, isLeft ? ['cs_1', 'cs_2'] : ['cs_2']);
    }));
}

test('a payment that fails is logged and counted, and the others are read; an outage of the database ends the run', async () => {
  const accountId = await stage.newAccount();
  const orders = [await stage.order(accountId), await stage.order(accountId), await stage.order(accountId)];
  for (const { topUpId } of orders) await age(topUpId, '61 minutes');
  const [first, second, third] = orders.map(({ sessionId }) => sessionId);
  let error: Error = new Error('a bug');
  const read: string[] = [];
  const readCheckout = async (id: string) => {
    read.push(id);
    if (id !== third) throw error;
    return undefined;
  };
  const { log, lines } = recordLog();
  const deps = { ...stage.deps, log, provider: { ...silentProvider(), readCheckout } };
  let steps = 0;
  const counted = await reconcilePayments(deps, 0, () => void (steps += 1));
  assert.deepEqual([counted.failed, read], [2, [first, second, third]]);
  assert.equal(counted.checked, steps, 'with what other tests left');
  assert.deepEqual(
    lines.flatMap(({ level, checkoutId, msg }) => (Number(level) < 40 ? [] : [[level, checkoutId, msg]])),
    [first, second].map((checkoutId) => [50, checkoutId, 'payment not reconciled']),
  );
  assert.match(JSON.stringify(lines[0]?.['error']), /a bug/);
  read.length = 0;
  error = new DatabaseUnavailableError(false, new Error('gone'));
  await assert.rejects(run(deps), error);
  assert.deepEqual(read, [first]);
  for (const { sessionId } of orders) records().expire(sessionId);
  await stage.deliver();
});

async function age(topUpId: string, span: string, change = ''): Promise<void> {
  const text = `update top_ups set created_at = now() - interval '${span}'${change} where id = $1`;
  await stage.database.db.run({ name: `age ${text}`, text, plannedAnew: true }, [topUpId]);
}
