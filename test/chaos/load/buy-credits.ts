import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../../src/platform/database/database.ts';
import type { FakeSession, StripeRecords } from '../../fakes/stripe/stripe-records.ts';
import { newOwner, type Owner, postAs } from './owners.ts';
import type { Random } from '../seeded-random.ts';
import { packageNames, type Shop } from './stripe-shop.ts';

const orderEveryMs = 1_000;
/** Stripe ends a checkout after a day. Here a day takes a minute. */
export const dayMs = 60_000;
/** Customers and banks take so long at most for each step. */
const stepMs = 12_000;

export type Buying = {
  readonly shop: Shop;
  readonly buyers: readonly Owner[];
  readonly baseUrls: readonly [string, ...string[]];
  readonly random: Random;
  readonly durationMs: number;
};

/** One request for a checkout; `sessionId` is undefined if it was refused, or its response was lost. */
export type PlacedOrder = { readonly answer: string; readonly sessionId: string | undefined };

export function prepareBuyers(db: Database, accountIds: readonly string[]): Promise<readonly Owner[]> {
  const buyers = accountIds.map((accountId, client) =>
    newOwner(db, { client, accountId }, `buyer-${client}@example.com`),
  );
  return Promise.all(buyers);
}

/** Owners order packages. Customers pay, abandon or forget their checkouts, and refunds and disputes follow. */
export async function buyCredits(options: Buying): Promise<readonly PlacedOrder[]> {
  const { shop, random, durationMs } = options;
  const { records } = shop.stripe;
  const endsAt = Date.now() + durationMs;
  const orders: PlacedOrder[] = [];
  const running: Promise<void>[] = [];
  const serve = async () => {
    const placed = await order(options);
    orders.push(placed);
    const session = records.sessions.get(placed.sessionId ?? '');
    if (session !== undefined) await finish(session, { records, random, endsAt });
  };
  while (Date.now() < endsAt) {
    running.push(serve());
    endOldCheckouts(records);
    await delay(orderEveryMs);
  }
  await Promise.all(running);
  return orders;
}

async function order({ buyers, baseUrls, random }: Buying): Promise<PlacedOrder> {
  const [first, ...rest] = buyers;
  if (first === undefined) throw new Error('there is no buyer');
  const buyer = random.pick([first, ...rest]);
  const name = random.pick(packageNames);
  const url = `${random.pick(baseUrls)}/api/console/v1/credits/top-ups`;
  const response = await postAs(buyer, url, { package: name }).catch(() => undefined);
  if (response === undefined) return { answer: 'no answer', sessionId: undefined };
  const { error, data } = bodyOf(response.text);
  // The address of a checkout ends with the id of its session.
  return { answer: error ?? String(response.status), sessionId: data?.checkoutUrl?.split('/').at(-1) };
}

type Body = { readonly error?: string; readonly data?: { readonly checkoutUrl?: string } };

/** The shape is the documented one. */
const bodyOf = (text: string) => JSON.parse(text) as Body;

type Story = { readonly records: StripeRecords; readonly random: Random; readonly endsAt: number };

/** Steps that are due after the end of the run happen at its end. */
const pause = ({ random, endsAt }: Story) =>
  delay(Math.max(0, Math.min(random.between(0, stepMs), endsAt - Date.now())));

async function finish(session: FakeSession, story: Story): Promise<void> {
  const { records, random } = story;
  await pause(story);
  if (session.status !== 'open') return;
  const choice = random.between(1, 100);
  if (choice <= 12) return;
  if (choice <= 28) return void records.expire(session.id);
  const isDelayed = choice <= 44;
  const intentId = records.pay(session.id, { isDelayed });
  if (isDelayed) {
    await pause(story);
    const outcome = random.chance(0.7) ? 'succeeded' : 'failed';
    records.endDelayed(session.id, outcome);
    if (outcome === 'failed') return;
  }
  for (let left = random.pick([0, 0, 0, 1, 1, 2, 3] as const); left > 0; left -= 1) {
    await pause(story);
    await takeBack(intentId, story);
  }
}

/** A refund, which may fail later, or a dispute, which may be won. */
async function takeBack(intentId: string, story: Story): Promise<void> {
  const { records, random } = story;
  const left = (records.intents.get(intentId)?.amount ?? 0) - records.takenOf(intentId);
  if (left <= 0) return;
  const amount = random.chance(0.4) ? left : random.between(1, left);
  if (random.chance(0.7)) {
    const refund = records.refund(intentId, amount, random.pick(['succeeded', 'succeeded', 'pending'] as const));
    await pause(story);
    if (random.chance(0.2)) records.failRefund(refund.id);
    else if (refund.status === 'pending') records.completeRefund(refund.id);
  } else {
    const dispute = records.dispute(intentId, amount, { isInquiry: random.chance(0.2) });
    await pause(story);
    if (random.chance(0.9)) records.closeDispute(dispute.id, random.pick(['won', 'lost'] as const));
  }
}

function endOldCheckouts(records: StripeRecords): void {
  for (const { id, status, created } of records.sessions.values())
    if (status === 'open' && created * 1_000 < Date.now() - dayMs) records.expire(id);
}
