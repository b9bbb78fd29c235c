import { MockActivityEnvironment } from '@temporalio/testing';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createReconcilePaymentsActivity } from '../../../activities/maintenance/reconcile-payments.ts';
import { openPaymentStage, type PaymentStage, serviceUrl, starter } from '../../credits/payments/payment-stage.ts';
import { recordEvents } from '../../support/service/metric-event-sinks.ts';
import { silentActivity } from '../../support/workflows/silent-activity.ts';

let stage: PaymentStage;
before(async () => {
  stage = await openPaymentStage();
});
after(() => stage.close());

test('the hourly activity grants what was paid without an event, and a cancelled one stops', async () => {
  const accountId = await stage.newAccount();
  stage.stripe.records.pay((await stage.order(accountId)).sessionId);
  const deps = { ...stage.deps, payments: { provider: stage.provider, serviceUrl } };
  const cancelled = new MockActivityEnvironment();
  cancelled.cancel();
  await assert.rejects(cancelled.run(createReconcilePaymentsActivity(deps)), { name: 'CancelledFailure' });
  assert.deepEqual(await stage.amountsOf(accountId), []);
  assert.deepEqual(await silentActivity({ workflowId: 'hourly' }, createReconcilePaymentsActivity(deps)), {
    checked: 1,
    failed: 0,
  });
  assert.deepEqual(await stage.amountsOf(accountId), [starter.credits]);
});

test('each payment that cannot be reconciled is counted as failed', async () => {
  const accountId = await stage.newAccount();
  stage.stripe.records.pay((await stage.order(accountId)).sessionId);
  const { db } = stage.deps;
  const transaction: typeof db.transaction = () => Promise.reject(new Error('a bug'));
  const events = recordEvents('reconcile_finding');
  const payments = { provider: stage.provider, serviceUrl };
  const deps = { ...stage.deps, db: { ...db, transaction }, events, payments };
  const { failed } = await silentActivity({ workflowId: 'hourly' }, createReconcilePaymentsActivity(deps));
  const finding = { kind: 'reconcile_finding', finding: 'failed' };
  assert.deepEqual([failed, events.seen], [2, [finding, finding]], 'this one and that of the test before');
});

test('an installation without a payment provider compares nothing', async () => {
  const requests = stage.stripe.exchanges.length;
  const deps = { ...stage.deps, payments: undefined };
  assert.deepEqual(await silentActivity({ workflowId: 'hourly' }, createReconcilePaymentsActivity(deps)), {
    checked: 0,
    failed: 0,
  });
  assert.equal(stage.stripe.exchanges.length, requests);
});
