import { createAccount } from '../../../src/credits/open-account.ts';
import assert from 'node:assert/strict';
import { pino } from 'pino';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { readBalanceAndEntries } from '../../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import type { ServiceEvent } from '../../../src/run/metrics/service-event.ts';
import type { MetricEventSink } from '../../../src/platform/metrics/metric-event-sink.ts';
import { builtInCatalogue } from '../../../src/catalogue/file/read-catalogue-file.ts';
import type { CreditPackage } from '../../../src/catalogue/file/packages-schema.ts';
import type { PaymentProvider } from '../../../src/credits/payments/payment-provider.ts';
import { createPaymentProvider } from '../../../src/credits/payments/create-payment-provider.ts';
import { applyPaymentEvent, type PaymentDeps } from '../../../src/credits/payments/apply-payments-and-reversals.ts';
import { startCheckout } from '../../../src/credits/payments/start-checkout.ts';
import { listTopUps } from '../../../src/credits/payments/top-ups.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { type FakeStripe, fakeStripeKey, fakeWebhookSecret, startFakeStripe } from '../../fakes/stripe/stripe.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

export const serviceUrl = 'http://media.test';
export const starter: CreditPackage = {
  title: 'Starter',
  credits: 10_000,
  price: { currency: 'EUR', minorUnits: 999 },
};

/** Our side of payments on a real database, and the fake of Stripe behind the real SDK. */
export type PaymentStage = {
  readonly database: TestDatabase;
  readonly stripe: FakeStripe;
  readonly provider: PaymentProvider;
  readonly deps: PaymentDeps & { readonly events: MetricEventSink<ServiceEvent> };
  readonly emitted: ServiceEvent[];
  newAccount(credits?: number): Promise<string>;
  /** Starts a checkout; returns the ids on both sides. */
  order(accountId: string, deps?: Pick<PaymentDeps, 'db' | 'provider' | 'log'>): Promise<Ordered>;
  /** Orders, pays, and delivers all events; returns the payment too. */
  buy(accountId: string): Promise<Ordered & { readonly paymentId: string }>;
  /** Delivers events that were not delivered yet, past the signature. */
  deliver(deps?: PaymentDeps): Promise<void>;
  balanceOf(accountId: string): Promise<number>;
  /** The amounts in the ledger, the oldest first. */
  amountsOf(accountId: string): Promise<readonly number[]>;
  stateOf(accountId: string): Promise<readonly string[]>;
  close(): Promise<void>;
};

type Ordered = { readonly topUpId: string; readonly sessionId: string };

export function providerAt(stripe: Pick<FakeStripe, 'address'>): PaymentProvider {
  const provider = createPaymentProvider({
    stripeSecretKey: fakeStripeKey,
    stripeWebhookSecret: fakeWebhookSecret,
    stripeApiUrl: `http://${stripe.address}`,
    publicUrl: serviceUrl,
  });
  assert.ok(provider);
  return provider;
}

export const catalogueWithPackages = (packages: Readonly<Record<string, CreditPackage>>) => ({
  ...builtInCatalogue(),
  packages: new Map(Object.entries(packages)),
});

export async function openPaymentStage(): Promise<PaymentStage> {
  const database = await createTestDatabase();
  const stripe = await startFakeStripe();
  const provider = providerAt(stripe);
  const emitted: ServiceEvent[] = [];
  const events = { emit: (event: ServiceEvent) => void emitted.push(event) };
  const deps = { db: database.db, provider, serviceUrl, log: pino({ level: 'silent' }), events };
  let delivered = 0;
  const deliver = async (to: PaymentDeps = deps) => {
    for (; delivered < stripe.records.events.length; delivered += 1) await deliverOne(stripe, delivered, to);
  };
  const order = async (accountId: string, to: Pick<PaymentDeps, 'db' | 'provider' | 'log'> = deps) => {
    const started = await startCheckout(to, { accountId, name: 'starter', offer: starter, returnUrl });
    assert.ok(started.kind === 'started', started.kind);
    return { topUpId: started.topUpId, sessionId: started.checkoutId };
  };
  return {
    database,
    stripe,
    provider,
    deps,
    emitted,
    newAccount: (credits = 0) => createAccount(database.db, { name: 'test', credits }),
    order,
    buy: async (accountId) => {
      const ordered = await order(accountId);
      const paymentId = stripe.records.pay(ordered.sessionId);
      await deliver();
      return { ...ordered, paymentId };
    },
    deliver,
    balanceOf: async (accountId) => (await findAccount(database.db, accountId))?.balance ?? Number.NaN,
    amountsOf: async (accountId) => amountsOf(database.db, accountId),
    stateOf: async (accountId) =>
      (await listTopUps(database.db, { accountId, limit: 100 })).map(({ state }) => state).toReversed(),
    close: async () => {
      const violations = await auditLedger(database.db);
      await stripe.close();
      await database.close();
      assert.deepEqual(violations, []);
    },
  };
}

/** Delivers an event of the fake by its number, signed. */
export async function deliverOne(stripe: FakeStripe, number: number, deps: PaymentDeps): Promise<void> {
  const event = stripe.records.events[number] ?? assert.fail(`there is no event ${number}`);
  const { body, signature } = stripe.sign(event);
  await applyPaymentEvent(deps, await deps.provider.readEvent(Buffer.from(body), () => signature));
}

async function amountsOf(db: Database, accountId: string): Promise<readonly number[]> {
  const { entries } = await readBalanceAndEntries(db, { accountId, limit: 1000 });
  return entries.map(({ amount }) => amount).toReversed();
}

export const returnUrl = (topUpId: string, outcome: string) => `http://console.test/${outcome}/${topUpId}`;
