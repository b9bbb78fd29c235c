import { setTimeout as delay } from 'node:timers/promises';
import type { CreditPackage } from '../../../src/catalogue/file/packages-schema.ts';
import { type Fault, type FaultName, type FaultProxy, faults, startFaultProxy } from '../../fakes/fault-proxy.ts';
import { type FakeStripe, fakeStripeKey, fakeWebhookSecret, startFakeStripe } from '../../fakes/stripe/stripe.ts';
import type { Random } from '../seeded-random.ts';

// The fake of Stripe, behind a network of its own that can be broken. It is the outside world: nothing kills it, and its records are
// what our books must agree with.

export type Shop = {
  readonly stripe: FakeStripe;
  readonly proxy: FaultProxy;
  readonly environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
};

export const packageNames = ['small', 'medium', 'large'] as const;

/** Small, so that an account without other credits lives on them; the prices divide the credits into fractions. */
export const packages: Readonly<Record<(typeof packageNames)[number], CreditPackage>> = {
  small: { title: 'Small', credits: 77, price: { currency: 'EUR', minorUnits: 199 } },
  medium: { title: 'Medium', credits: 200, price: { currency: 'USD', minorUnits: 333 } },
  large: { title: 'Large', credits: 333, price: { currency: 'JPY', minorUnits: 1_000 } },
};

export async function startShop(): Promise<Shop> {
  const stripe = await startFakeStripe({ keepsExchanges: false });
  const proxy = await startFaultProxy(stripe);
  return {
    stripe,
    proxy,
    environment: {
      STRIPE_SECRET_KEY: fakeStripeKey,
      STRIPE_WEBHOOK_SECRET: fakeWebhookSecret,
      STRIPE_API_URL: proxy.baseUrl,
    },
    close: async () => {
      await proxy.close();
      await stripe.close();
    },
  };
}

// Stripe adds no states within a version of its API, and its records outlive a restart.
const played = (Object.keys(faults) as readonly FaultName[]).filter(
  (name) => name !== 'passes a proxy' && name !== 'gets a strange state' && name !== 'meets a restart of the upstream',
);

/** Breaks the network to Stripe, one failure after the other. Returns the count of each. */
export async function breakShop(
  { proxy }: Shop,
  { random, durationMs }: { readonly random: Random; readonly durationMs: number },
): Promise<ReadonlyMap<string, number>> {
  const injected = new Map<string, number>();
  const endsAt = Date.now() + durationMs;
  for (let left: FaultName[] = []; Date.now() < endsAt;) {
    await delay(random.between(1_000, 8_000));
    if (left.length === 0) left = [...random.shuffled(played)];
    const name = left.pop() ?? 'is cut after it was sent';
    const fault: Fault = faults[name];
    const part = random.pick(['all', 'creates', 'reads'] as const);
    await proxy.play(fault, ({ method }) => part === 'all' || (method === 'POST') === (part === 'creates'));
    await delay(random.between(500, 3_000));
    await proxy.heal();
    await proxy.release().catch(() => undefined);
    injected.set(`Stripe: a request ${name}`, 1 + (injected.get(`Stripe: a request ${name}`) ?? 0));
  }
  return injected;
}
