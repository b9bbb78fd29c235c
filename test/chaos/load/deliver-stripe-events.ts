import { setTimeout as delay } from 'node:timers/promises';
import type { FakeEvent } from '../../fakes/stripe/stripe-records.ts';
import type { FakeStripe } from '../../fakes/stripe/stripe.ts';
import type { Random } from '../seeded-random.ts';

// Stripe's events. Each waits a random time, so that their order is random, too.

const fates = [
  ...(['once', 'once', 'once', 'once', 'twice at the same time', 'again after some time'] as const),
  ...(['late', 'never', 'in one attempt only'] as const),
  ...(['with a wrong signature first', 'with an old signature first'] as const),
] as const;
type Fate = (typeof fates)[number];

const pollMs = 100;
/** Stripe repeats an event for three days until it is answered with 200. */
const maxAttempts = 8;

type Delivering = {
  readonly stripe: FakeStripe;
  readonly baseUrls: readonly [string, ...string[]];
  readonly random: Random;
  readonly durationMs: number;
};

export type Deliveries = {
  /** The number of events by what happened to them. */
  readonly injected: ReadonlyMap<string, number>;
  /** Events with an invalid signature that were answered with 200, by their ids. */
  readonly forgeries: readonly string[];
};

/** Events that happen after the time is over are never delivered. */
export async function deliverEvents(options: Delivering): Promise<Deliveries> {
  const { stripe, random, durationMs } = options;
  const injected = new Map<string, number>();
  const forgeries: string[] = [];
  const running: Promise<void>[] = [];
  let next = 0;
  for (const endsAt = Date.now() + durationMs; Date.now() < endsAt; await delay(pollMs)) {
    for (const event of stripe.records.events.slice(next)) {
      const fate = random.pick(fates);
      injected.set(`event: arrives ${fate}`, 1 + (injected.get(`event: arrives ${fate}`) ?? 0));
      running.push(deliver(event, fate, { ...options, forgeries }));
    }
    next = stripe.records.events.length;
  }
  await Promise.all(running);
  return { injected, forgeries };
}

type Delivery = Delivering & { readonly forgeries: string[] };

async function deliver(event: FakeEvent, fate: Fate, options: Delivery): Promise<void> {
  const { random, forgeries } = options;
  if (fate === 'never') return;
  await delay(fate === 'late' ? random.between(15_000, 40_000) : random.between(0, 1_500));
  if (fate === 'in one attempt only') return void (await send(event, options));
  const forged = forgeryOf(fate);
  if (forged !== undefined && (await send(event, options, forged)) === 200) forgeries.push(event.id);
  const insisting = [insist(event, options), ...(fate === 'twice at the same time' ? [insist(event, options)] : [])];
  await Promise.all(insisting);
  if (fate !== 'again after some time') return;
  await delay(random.between(3_000, 20_000));
  await insist(event, options);
}

type Signing = Parameters<FakeStripe['sign']>[1];

function forgeryOf(fate: Fate): Signing {
  if (fate === 'with a wrong signature first') return { secret: 'whsec_anotherSecret' };
  return fate === 'with an old signature first' ? { ageSeconds: 3_600 } : undefined;
}

async function insist(event: FakeEvent, options: Delivery): Promise<void> {
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    if ((await send(event, options)) === 200) return;
    await delay(options.random.between(500, 4_000));
  }
}

/** Returns the status, or undefined without a response. */
async function send(event: FakeEvent, { stripe, baseUrls, random }: Delivery, how?: Signing) {
  const { body, signature } = stripe.sign(event, how);
  const headers = { 'content-type': 'application/json', 'stripe-signature': signature };
  try {
    const signal = AbortSignal.timeout(30_000);
    const url = `${random.pick(baseUrls)}/hooks/stripe`;
    const response = await fetch(url, { method: 'POST', headers, body, signal });
    await response.text();
    return response.status;
  } catch {
    return undefined;
  }
}
