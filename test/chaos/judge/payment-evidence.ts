import type { PaymentState } from '../../../src/credits/payments/payment-provider.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { many } from '../../../src/platform/database/declare-statements.ts';
import type { FakeSession, StripeRecords } from '../../fakes/stripe/stripe-records.ts';
import { packages } from '../load/stripe-shop.ts';

/** A checkout by Stripe's records. */
export type FinalSession = {
  readonly sessionId: string;
  /** From its metadata. */
  readonly topUpId: string;
  readonly accountId: string;
  readonly state: PaymentState;
  /** The credits of its package. */
  readonly credits: number;
  /** The credits that are due after refunds and disputes; 0 if it was not paid. */
  readonly due: number;
  /** The refunds and disputes whose money has left us, by their ids. */
  readonly taken: readonly string[];
};

/** A purchase by our books. */
export type FinalTopUp = {
  readonly topUpId: string;
  readonly accountId: string;
  readonly checkoutId: string | undefined;
  readonly state: PaymentState;
  /** The amounts of its grants in the ledger. */
  readonly grants: readonly number[];
  /** The sum of its adjustments in the ledger. */
  readonly adjusted: number;
  /** The refunds and disputes that are booked as taken, by their ids. */
  readonly taken: readonly string[];
};

export type PaymentEvidence = {
  readonly sessions: readonly FinalSession[];
  readonly topUps: readonly FinalTopUp[];
  /** Paid checkouts that our books list as not granted, with the reasons. */
  readonly ungranted: readonly string[];
  /** Checkouts whose address was returned to a buyer. */
  readonly ordered: readonly string[];
  /** Events with an invalid signature that were accepted. */
  readonly forgeries: readonly string[];
};

const selectTopUps = many<FinalTopUp>({
  name: 'chaos-top-ups',
  text: `
select id as "topUpId", account_id as "accountId", checkout_id as "checkoutId", state,
  array(select amount::int from ledger_entries where top_up_id = top_ups.id and kind = 'grant') as grants,
  (select coalesce(sum(amount), 0) from ledger_entries where top_up_id = top_ups.id and kind = 'adjustment')::bigint as adjusted,
  array(select reference from top_up_reversals where top_up_id = top_ups.id and is_taken order by reference collate "C") as taken
from top_ups order by id`,
});

const selectUngranted = many<{ readonly payment: string }>({
  name: 'chaos-ungranted-payments',
  text: `select checkout_id || ' (' || reason || ')' as payment from ungranted_payments order by checkout_id`,
});

/** Reads our books and Stripe's records. */
export async function collectPayments(
  db: Database,
  records: StripeRecords,
): Promise<Pick<PaymentEvidence, 'sessions' | 'topUps' | 'ungranted'>> {
  return {
    sessions: sessionsOf(records),
    topUps: await selectTopUps(db),
    ungranted: (await selectUngranted(db)).map(({ payment }) => payment),
  };
}

const creditsOf = new Map(Object.entries(packages).map(([name, { credits }]) => [name, credits]));

function sessionsOf(records: StripeRecords): readonly FinalSession[] {
  const takenBy = new Map<string, string[]>();
  const note = (intentId: string, id: string) => void takenBy.set(intentId, [...(takenBy.get(intentId) ?? []), id]);
  for (const { id, payment_intent: intentId, status } of records.refunds.values())
    if (status !== 'failed') note(intentId, id);
  for (const { id, payment_intent: intentId, moved } of records.disputes.values())
    if (moved.reduce((sum, amount) => sum + amount, 0) < 0) note(intentId, id);
  return [...records.sessions.values()].map((session) => {
    const { id: sessionId, metadata, amount_total: price, payment_intent: intentId } = session;
    const { videogen_top_up: topUpId = '', videogen_account: accountId = '', videogen_package: name = '' } = metadata;
    const credits = creditsOf.get(name) ?? 0;
    const state = stateOf(session, records);
    const isPaid = state === 'paid' && intentId !== null;
    const due = isPaid ? credits - Math.floor((credits * records.takenOf(intentId)) / price) : 0;
    const taken = isPaid ? (takenBy.get(intentId) ?? []).toSorted() : [];
    return { sessionId, topUpId, accountId, state, credits, due, taken };
  });
}

function stateOf(
  { status, payment_status, payment_intent }: FakeSession,
  { intents }: Pick<StripeRecords, 'intents'>,
): PaymentState {
  if (payment_status === 'paid') return 'paid';
  if (status !== 'complete') return status;
  return intents.get(payment_intent ?? '')?.status === 'processing' ? 'processing' : 'failed';
}
