import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createAccount } from '../../../src/credits/open-account.ts';
import { readPaymentHealth } from '../../../src/credits/payments/payment-health.ts';
import { ago, insertRow, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

test('the payments of a week are counted, and the oldest three of those that were not granted are named', async () => {
  const accountId = await createAccount(database.db, { name: 'test', credits: 0 });
  await rolledBack(database.db, async (db) => {
    const { now: _, ...none } = await readPaymentHealth(db);
    assert.deepEqual(none, { ungranted: 0, examples: [], recent: 0, recentLate: 0, reconciledAt: 0 });
    const about = { account_id: accountId, provider: 'stripe', is_test: true, package: 'starter', credits: 1 };
    const price = { currency: 'EUR', minor_units: 1 };
    const weekMs = 7 * 86_400_000;
    for (const [ms, settledBy] of [
      [0, 'event'],
      [weekMs - 1, 'event'],
      [weekMs - 1, 'reconciliation'],
      [weekMs, 'event'],
      [weekMs, 'reconciliation'],
    ] as const) {
      const paid = { state: 'paid', paid_at: ago(ms), settled_by: settledBy };
      await insertRow(db, 'top_ups', { id: randomUUID(), ...about, ...price, ...paid });
    }
    await insertRow(db, 'top_ups', { id: randomUUID(), ...about, ...price });
    const reason = 'amount_differs';
    for (const days of [2, 4, 1, 3]) {
      const found = { top_up_id: randomUUID(), account_id: accountId, found_at: ago(days * 86_400_000) };
      await insertRow(db, 'ungranted_payments', { checkout_id: `cs_${days}`, reason, ...found });
    }
    await db.run({ name: 'test-reconciled', text: `update maintenance set payments_reconciled_at = now()` });
    const { now, ...health } = await readPaymentHealth(db);
    const examples = ['cs_4 (amount_differs)', 'cs_3 (amount_differs)', 'cs_2 (amount_differs)'];
    assert.deepEqual(health, { ungranted: 4, examples, recent: 3, recentLate: 1, reconciledAt: now });
  });
});
