import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { auditLedger } from '../../src/credits/ledger-audit.ts';
import type { PaymentProvider } from '../../src/payments/contract.ts';
import type { PaymentDeps } from '../../src/payments/process-payments.ts';
import { reconcilePayments } from '../../src/payments/reconcile-payments.ts';
import { type DeathPoint, Killed } from '../support/interrupted-deps.ts';
import { openPaymentStage, type PaymentStage, starter } from './payment-stage.ts';

// A process dies at each of its awaits, before the call or after it: nothing that it would have done afterwards happens. Then another
// process gets what the customer, Stripe and the schedule send again.

let stage: PaymentStage;
before(async () => {
  stage = await openPaymentStage();
});
after(async () => {
  const violations = await auditLedger(stage.database.db);
  await stage.close();
  assert.deepEqual(violations, []);
});

const records = () => stage.stripe.records;
const { credits } = starter;

type Mortal = { readonly deps: PaymentDeps; readonly calls: string[]; readonly hasDied: () => boolean };

function mortal(deps: PaymentDeps, death?: DeathPoint): Mortal {
  const calls: string[] = [];
  let isDead = false;
  const live = (at: string) => {
    if (isDead) throw new Killed(at);
  };
  const call = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    live(name);
    const isHere = calls.push(name) - 1 === death?.call;
    isDead ||= isHere && death?.when === 'before';
    live(name);
    const result = await work();
    isDead ||= isHere && death?.when === 'after';
    live(name);
    return result;
  };
  const { db, provider } = deps;
  const dying: PaymentProvider = {
    ...provider,
    createCheckout: (checkout) => call('createCheckout', () => provider.createCheckout(checkout)),
    readCheckout: (id) => call('readCheckout', () => provider.readCheckout(id)),
    readReversals: (id, currency) => call('readReversals', () => provider.readReversals(id, currency)),
    listFinishedCheckouts: (since) => each('listFinishedCheckouts', provider.listFinishedCheckouts(since)),
    listReversedPayments: (since) => each('listReversedPayments', provider.listReversedPayments(since)),
  };
  async function* each<T>(name: string, rows: AsyncIterable<T>): AsyncGenerator<T> {
    const iterator = rows[Symbol.asyncIterator]();
    for (;;) {
      const next = await call(name, () => iterator.next());
      if (next.done === true) return;
      yield next.value;
    }
  }
  return {
    deps: {
      ...deps,
      provider: dying,
      db: {
        ...db,
        run: (statement, values) => call(statement.name, () => db.run(statement, values)),
        // A process that dies inside a transaction rolls it back.
        transaction: (work) =>
          call('transaction', () =>
            db.transaction((run) => work((statement, values) => call(statement.name, () => run(statement, values)))),
          ),
      },
    },
    calls,
    hasDied: () => isDead,
  };
}

/** Runs `story` with a death at each call of `work`, until one outlives it. Returns the calls of that one. */
async function atEachAwait(
  story: (dies: (work: (deps: PaymentDeps) => Promise<unknown>) => Promise<void>) => Promise<void>,
) {
  for (let call = 0; ; call += 1) {
    for (const when of ['before', 'after'] as const) {
      let survivor: readonly string[] | undefined;
      await story(async (work) => {
        const process = mortal(stage.deps, { call, when });
        await work(process.deps).catch((error: unknown) => {
          if (!process.hasDied()) throw error;
        });
        if (!process.hasDied()) survivor = process.calls;
      });
      if (survivor !== undefined) return survivor;
    }
  }
}

test('an API that dies at any await of a checkout start loses no payment: what is paid is granted once', async () => {
  const calls = await atEachAwait(async (dies) => {
    const accountId = await stage.newAccount();
    const known = new Set(records().sessions.keys());
    await dies((deps) => stage.order(accountId, deps));
    // The customer pays each session that exists, also one whose address was lost.
    const made = [...records().sessions.keys()].filter((id) => !known.has(id));
    assert.ok(made.length <= 1);
    for (const sessionId of made) records().pay(sessionId);
    await stage.deliver();
    await stage.deliver();
    assert.deepEqual(
      await stage.amountsOf(accountId),
      made.map(() => credits),
    );
  });
  assert.ok(calls.includes('createCheckout') && calls.includes('create-top-up') && calls.includes('record-checkout'));
});

test('an API that dies at any await of an event grants once, after Stripe has repeated the event', async () => {
  const calls = await atEachAwait(async (dies) => {
    const accountId = await stage.newAccount();
    const { sessionId } = await stage.order(accountId);
    records().pay(sessionId);
    await dies((deps) => stage.deliver(deps));
    await stage.deliver();
    assert.deepEqual(await stage.amountsOf(accountId), [credits]);
  });
  assert.ok(['readCheckout', 'lock-top-up', 'mark-top-up-paid', 'book-credits'].every((name) => calls.includes(name)));
});

test('an API that dies at any await of a refund books it once, after Stripe has repeated the event', async () => {
  const calls = await atEachAwait(async (dies) => {
    const accountId = await stage.newAccount();
    const { paymentId } = await stage.buy(accountId);
    records().refund(paymentId, 999);
    await dies((deps) => stage.deliver(deps));
    await stage.deliver();
    assert.deepEqual(await stage.amountsOf(accountId), [credits, -credits]);
  });
  assert.ok(['readReversals', 'store-reversal', 'book-credits'].every((name) => calls.includes(name)));
});

test('a worker that dies at any await of a reconciliation grants and reverses once, after the next run', async () => {
  const calls = await atEachAwait(async (dies) => {
    const accountId = await stage.newAccount();
    const sinceMs = Date.now();
    const [paid, refunded] = [await stage.order(accountId), await stage.order(accountId)];
    records().pay(paid.sessionId);
    records().refund(records().pay(refunded.sessionId), 999);
    await dies((deps) => reconcilePayments(deps, sinceMs));
    await reconcilePayments(stage.deps, sinceMs);
    assert.deepEqual(await stage.balanceOf(accountId), credits);
    assert.deepEqual(
      (await stage.amountsOf(accountId)).toSorted((a, b) => a - b),
      [-credits, credits, credits],
    );
    // Events that were late after all.
    await stage.deliver();
    assert.equal(await stage.balanceOf(accountId), credits);
  });
  assert.ok(calls.includes('mark-payments-reconciled'));
});
